// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/foreign_file.hpp>
#include <totograph/io/checkpoint/shard_index.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::ScratchFolder;
using Path = std::filesystem::path;

const std::string index_of_two =
    R"({"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-00002.safetensors",)"
    R"( "b": "model-00002-of-00002.safetensors", "c": "model-00001-of-00002.safetensors"}})";
constexpr std::string_view lfs_pointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 605239096\n";

/// What is found there: the names of the weights' files; they and config.json are in `folder`.
std::vector<std::string> found(const Path& named, const Path& folder, bool has_config = true) {
    const io::CheckpointFiles files = io::find_checkpoint(named);
    CHECK(files.config == (has_config ? folder / "config.json" : Path()));
    std::vector<std::string> names;
    for (const std::string& file : files.weights) {
        const Path path(file);
        CHECK(path.parent_path() == folder);
        names.push_back(path.filename().string());
    }
    return names;
}

using Names = std::vector<std::string>;

void refuse(const Path& named, std::initializer_list<std::string_view> parts,
            ErrorCode code = ErrorCode::file_not_found) {
    check_error(code, parts, [&] { (void)io::find_checkpoint(named); });
}

/// A folder as huggingface_hub keeps it: names that lead to blobs, in a snapshot that refs/main tells.
Path hub_cache(const ScratchFolder& scratch, const std::string& commit) {
    Path cache = scratch.path() / "models--Datadog--Toto-Open-Base-1.0";
    std::filesystem::create_directories(cache / "snapshots" / commit);
    std::filesystem::create_directories(cache / "refs");
    std::filesystem::create_directories(cache / "blobs");
    (void)scratch.file("models--Datadog--Toto-Open-Base-1.0/refs/main", commit);
    for (const std::string name : {"model.safetensors", "config.json"}) {
        (void)scratch.file("models--Datadog--Toto-Open-Base-1.0/blobs/" + name + "-sum", "{}");
        std::filesystem::create_symlink(Path("../../blobs") / (name + "-sum"), cache / "snapshots" / commit / name);
    }
    return cache;
}

}  // namespace

TEST_CASE("checkpoint files: a folder, its file, its configuration") {
    const ScratchFolder folder;
    const Path weights = folder.file("model.safetensors", "w");
    CHECK(found(folder.path(), folder.path(), false) == Names{"model.safetensors"});
    const Path config = folder.file("config.json", "{}");
    CHECK(found(folder.path(), folder.path()) == Names{"model.safetensors"});
    CHECK(found(folder.path() / "", folder.path()) == Names{"model.safetensors"});
    CHECK(found(weights, folder.path()) == Names{"model.safetensors"});
    CHECK(found(config, folder.path()) == Names{"model.safetensors"});
    // Of any name, where there is one alone; another is named.
    std::filesystem::rename(weights, folder.path() / "tuned.safetensors");
    CHECK(found(folder.path(), folder.path()) == Names{"tuned.safetensors"});
    (void)folder.file("best.safetensors", "w");
    CHECK(found(folder.path() / "best.safetensors", folder.path()) == Names{"best.safetensors"});
    refuse(folder.path(), {"holds 2 safetensors files", "'best.safetensors'", "Name the one"});
}

TEST_CASE("checkpoint files: shards, by their folder, their index or one of them") {
    const ScratchFolder folder;
    const Names both{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};
    const Path index = folder.file("model.safetensors.index.json", index_of_two);
    const Path first = folder.file(both[0], "w");
    refuse(folder.path(), {both[1], "is not there", "'model.safetensors.index.json' names it"});
    (void)folder.file(both[1], "w");
    CHECK(found(folder.path(), folder.path(), false) == both);
    CHECK(found(index, folder.path(), false) == both);
    CHECK(found(first, folder.path(), false) == both);
    CHECK(io::find_checkpoint(index).shards.at("b") == both[1]);
    CHECK(io::find_checkpoint(index).index == index);
    // Other files beside them are files of their own, and a whole file goes before its shards.
    CHECK(found(folder.file("other.safetensors", "w"), folder.path(), false) == Names{"other.safetensors"});
    (void)folder.file("model.safetensors", "w");
    CHECK(found(folder.path(), folder.path(), false) == Names{"model.safetensors"});
    // So it does where the shards are not there, and where a folder of that name makes no cache of it.
    std::filesystem::remove(first);
    CHECK(found(folder.path() / "model.safetensors", folder.path(), false) == Names{"model.safetensors"});
    std::filesystem::create_directory(folder.path() / "snapshots");
    CHECK(found(folder.path(), folder.path(), false) == Names{"model.safetensors"});
}

TEST_CASE("checkpoint files: shards without their index are no checkpoint") {
    for (const std::string name : {"model-00002-of-00002.safetensors", "a-of-b-00001-of-00010.safetensors"}) {
        const ScratchFolder folder;
        const Path shard = folder.file(name, "w");
        refuse(shard, {name, "is one of the " + std::string(name[0] == 'a' ? "10" : "2") + " shards", "index"});
        refuse(folder.path(), {"is one of the", "no model.safetensors.index.json beside it names it",
                               "name the index, if it has another name"});
        (void)folder.file("zz.safetensors", "w");
        refuse(folder.path(), {name, "is one of the"});
    }
    for (const std::string name :
         {"model-00001-of-00001.safetensors", "one-of-2.safetensors", "-of-2.safetensors", "2.safetensors",
          "best-of-.safetensors", "3-of-0.safetensors", "a-of-b-1-of-10.safetensors", "fold-1-of-5.safetensors",
          "model-00001-of-00000.safetensors", "model-000x1-of-00002.safetensors", "model-00001-of-000002.safetensors",
          "model00001-of-00002.safetensors"}) {
        CAPTURE(name);
        const ScratchFolder folder;
        const Path whole = folder.file(name, "w");
        CHECK(found(whole, folder.path(), false) == Names{name});
        CHECK(found(folder.path(), folder.path(), false) == Names{name});
    }
}

TEST_CASE("checkpoint files: a Hugging Face cache") {
    const ScratchFolder scratch;
    const std::string commit = "0123456789abcdef0123456789abcdef01234567";
    const Path cache = hub_cache(scratch, commit);
    const Path snapshot = cache / "snapshots" / commit;
    CHECK(found(cache, snapshot) == Names{"model.safetensors"});
    CHECK(found(snapshot, snapshot) == Names{"model.safetensors"});
    CHECK(found(snapshot / "model.safetensors", snapshot) == Names{"model.safetensors"});
    refuse(scratch.path(), {"is a cache of a hub", "models--Datadog--Toto-Open-Base-1.0"});
    const std::string reference = "models--Datadog--Toto-Open-Base-1.0/refs/main";
    (void)scratch.file(reference, commit + "\n");
    CHECK(found(cache, snapshot) == Names{"model.safetensors"});
    // A reference that leads elsewhere, and one to nothing.
    for (const std::string_view wrong : {"../..", "", "abcdef", "/etc"}) {
        (void)scratch.file(reference, wrong);
        refuse(cache, {"refs/main", "holds no such one"});
    }
    std::filesystem::remove(cache / "refs" / "main");
    CHECK(found(cache, snapshot) == Names{"model.safetensors"});
    std::filesystem::create_directory_symlink("..", cache / "snapshots" / "loop");
    refuse(cache, {"holds 2 snapshots", "Name one of the folders"});
    (void)scratch.file(reference, commit);
    // As after a copy that left the blobs behind.
    std::filesystem::remove_all(cache / "blobs");
    refuse(cache, {"model.safetensors", "leads to '../../blobs/", "cp -rL"});
}

TEST_CASE("checkpoint files: what is not there, and what is there instead") {
    const ScratchFolder folder;
    refuse(folder.path() / "nowhere", {"no checkpoint at", "nowhere", "Name a folder"});
    refuse(folder.path(), {"holds neither model.safetensors nor", "tools/get_checkpoint"});
    (void)folder.file("epoch=3.ckpt", "PK");
    refuse(folder.path(), {"'epoch=3.ckpt'", "tools/convert_checkpoint.py"});
    const auto loop = folder.path() / "loop";
    std::filesystem::create_symlink(loop, loop);
    refuse(loop, {"cannot be examined"});
    refuse(folder.path() / std::string(300, 'n'), {"cannot be examined"});
    std::filesystem::create_symlink("gone", folder.path() / "link");
    refuse(folder.path() / "link", {"The link", "leads to 'gone'"});
    const ScratchFolder closed;
    (void)closed.file("model.safetensors", "w");
    if (::geteuid() != 0) {
        REQUIRE(::chmod(closed.path().c_str(), 0) == 0);
        refuse(closed.path(), {"cannot be examined", "Permission denied"});
        REQUIRE(::chmod(closed.path().c_str(), 0700) == 0);
    }
    const auto pipe = closed.path() / "config.json";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    refuse(closed.path(), {"config.json", "not a regular file"});
    for (const auto& [content, what] :
         {std::pair{lfs_pointer, "git lfs pull"}, {"<!DOCTYPE html>", "HTML"}, {"", "empty"}}) {
        std::filesystem::remove(pipe);
        (void)closed.file("config.json", content);
        refuse(closed.path(), {"config.json", what}, ErrorCode::invalid_file);
    }
}

TEST_CASE("checkpoint files: what is there instead is told by name") {
    const ScratchFolder folder;
    refuse(folder.path(), {"holds neither", "It is empty. Name the folder"});
    (void)folder.file("config.json", "{}");
    (void)folder.file("model.onnx", "x");
    refuse(folder.path(), {"It holds 'config.json', 'model.onnx'. Name the folder"});
    for (const std::string name : {"a", "b", "c"}) {
        (void)folder.file(name, "x");
    }
    refuse(folder.path(), {"It holds 'a', 'b', 'c', 'config.json' and 1 more."});
    refuse("Datadog/Toto-Open-Base-1.0", {"nothing has that name", "tools/get_checkpoint downloads one from the hub"});
    refuse("~/toto", {"'~/toto'", "write the path of the home folder in full: a shell replaces '~'"});
}

TEST_CASE("checkpoint files: what other programs leave beside weights, and adapters") {
    const ScratchFolder folder;
    const Path weights = folder.file("toto.safetensors", "w");
    (void)folder.file("._toto.safetensors", "Mac OS X");
    CHECK(found(folder.path(), folder.path(), false) == Names{"toto.safetensors"});
    const Path hidden = folder.file(".hidden.safetensors", "w");
    refuse(folder.path(), {"holds 2 safetensors files, such as '.hidden.safetensors'"});
    std::filesystem::remove(hidden);
    const Path control = folder.file("toto.safetensors.aria2", "x");
    refuse(
        folder.path(),
        {"toto.safetensors' is not whole", "'toto.safetensors.aria2'", "Wait for it, or continue it with aria2c -c."},
        ErrorCode::invalid_file);
    std::filesystem::remove(control);
    std::filesystem::remove(weights);
    const Path adapter = folder.file("adapter_model.safetensors", "w");
    for (const Path& named : {folder.path(), adapter}) {
        refuse(named, {"adapter_model.safetensors' is an adapter", "merge it into its model"}, ErrorCode::invalid_file);
    }
    (void)folder.file("model.safetensors", "w");
    CHECK(found(folder.path(), folder.path(), false) == Names{"model.safetensors"});

    const ScratchFolder shards;
    const Names both{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};
    for (const std::string& name : both) {
        (void)shards.file(name, "w");
    }
    CHECK(found(shards.file("model.safetensors.index.fp16.json", index_of_two), shards.path(), false) == both);
    (void)shards.file(both[1] + ".aria2", "x");
    refuse(shards.file("model.safetensors.index.json", index_of_two), {both[1], "is not whole"},
           ErrorCode::invalid_file);
}

TEST_CASE("checkpoint files: weights without a configuration are looked at") {
    const ScratchFolder folder;
    for (const auto& [content, what] : {std::pair{std::string_view("PK\x03\x04\x14"), "convert_checkpoint.py"},
                                        {lfs_pointer, "git lfs pull"},
                                        {"time,value\n1,2\n", "is text that begins with 'time,value"},
                                        {"", "is empty"}}) {
        const Path file = folder.file("last.ckpt", content);
        refuse(file, {"last.ckpt", what}, ErrorCode::invalid_file);
    }
    refuse("/dev/null", {"/dev/null", "not a regular file"});
    // Where there is one, whoever opens the weights tells what they are.
    (void)folder.file("config.json", "{}");
    CHECK(found(folder.file("last.ckpt", lfs_pointer), folder.path()) == Names{"last.ckpt"});
}

TEST_CASE("shard index: what it must hold, and where its names may lead") {
    CHECK(io::shard_names(io::parse_shard_index(index_of_two, "index.json")).size() == 2);
    const auto refused = [](std::string_view text, std::initializer_list<std::string_view> parts) {
        check_error(ErrorCode::invalid_file, parts, [&] { (void)io::parse_shard_index(text, "index.json"); });
    };
    refused("{}", {"'index.json'", "no object 'weight_map'"});
    refused(R"({"weight_map": ["a"]})", {"no object 'weight_map'"});
    refused(R"({"weight_map": {}})", {"names no tensors"});
    refused(R"({"weight_map": {"a": 1}})", {"'a'", "a string was expected"});
    refused(R"({"weight_map": {"a": "x", "a": "y"}})", {"twice"});
    for (const std::string name : {"", ".", "..", "../up", "/etc/passwd", "a/b"}) {
        refused(R"({"weight_map": {"a": ")" + name + "\"}}", {"'" + name + "'", "beside the index"});
    }
    refused(R"({"weight_map": {"a": "b\u0000"}})", {"beside the index"});
    refused(R"({"weight_map": {"a": ")" + std::string(256, 'n') + "\"}}", {"beside the index"});
    const std::string longest = R"({"weight_map": {"a": ")" + std::string(255, 'n') + "\"}}";
    CHECK(io::parse_shard_index(longest, "index.json").at("a").size() == 255);
    std::string many = R"({"weight_map": {)";
    for (int i = 0; i <= 1000; ++i) {
        if (i == 1000) {
            CHECK(io::shard_names(io::parse_shard_index(many + "}}", "index.json")).size() == 1000);
        }
        const std::string number = std::to_string(i);
        many.append(i == 0 ? "\"" : ", \"").append(number).append("\": \"").append(number).append("\"");
    }
    refused(many + "}}", {"names 1001 files", "at most 1000"});
    refused("{", {"'index.json'"});
}

TEST_CASE("foreign files: each kind has its sentence, and a safetensors file none") {
    using namespace std::string_view_literals;
    const auto is = [](std::string_view start, std::string_view what) {
        CAPTURE(std::string(start));
        return io::foreign_content(start).find(what) != std::string::npos;
    };
    CHECK(is(lfs_pointer, "git lfs pull"));
    CHECK(is("\xEF\xBB\xBF\r\n <!doctype HTML><html>", "page of HTML"));
    CHECK(is("<html lang=\"en\">", "page of HTML"));
    CHECK(is("PK\x03\x04\x14", "torch.save"));
    CHECK(is("\x80\x02}q", "pickle"));
    CHECK(is("\x80\x05\x95", "convert_checkpoint.py"));
    CHECK(is("\x1f\x8b\x08", "gzip"));
    CHECK(is("GGUF", "GGUF"));
    CHECK(is("\x28\xb5\x2f\xfd\x04", "zstd"));
    CHECK(
        is("\xfd"
           "7zXZ",
           "xz"));
    CHECK(is("\x89HDF\r\n", "HDF5"));
    for (const std::string_view magic : {"ustar\00000"sv, "ustar  \0"sv}) {
        CHECK(is("model.safetensors" + std::string(240, '\0') + std::string(magic), "tar archive"));
    }
    CHECK(io::foreign_content("{" + std::string(254, ' ') + "\"mustard\": 1}").empty());
    CHECK(io::foreign_content(std::string(257, ' ') + "ustar").empty());
    CHECK(is(std::string(512, '\0'), "zeros"));
    CHECK(is(std::string(64, '\0'), "zeros"));
    CHECK(io::foreign_content(std::string(63, '\0')).empty());
    CHECK(io::foreign_content("").empty());
    CHECK(io::foreign_content("{\"patch_size\": 64}").empty());
    for (const std::string_view start :
         {"\x80\x02\0\0\0\0\0\0{\"a\""sv, "PK\x03\x04\0\0\0\0{"sv, "\xc8\x01\0\0\0\0\0\0{\"__m"sv}) {
        CHECK(io::foreign_content_of_safetensors(start).empty());
    }
    CHECK(io::foreign_content("Entry not found").empty());
    CHECK(io::foreign_content_of_safetensors("Entry not found").find("'Entry not found'") != std::string::npos);
    CHECK(io::foreign_content_of_safetensors("short").empty());
    // Text is UTF-8, whose last character may be cut.
    CHECK(io::foreign_content_of_safetensors("na\xc3\xafve text").find("is text") != std::string::npos);
    CHECK(io::foreign_content_of_safetensors("cut text \xc3").find("is text") != std::string::npos);
    for (const std::string_view bytes :
         {"\xff\xff\xff\xff\xff\xff\xff\xff", "text and \xff bytes", "text \x01 text", "text \x7f text"}) {
        CHECK(io::foreign_content_of_safetensors(bytes).empty());
    }
}
