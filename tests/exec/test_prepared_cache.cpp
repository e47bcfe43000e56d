// SPDX-License-Identifier: Apache-2.0
// Prepared weights on disk: what one store has prepared the next maps, and nothing that is wrong with a file shows in a
// result.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/core/cache_counts.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cpu/host_matmul.hpp>
#include <totograph/exec/cpu/prepared_weights.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/row_major_weights.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/io/cache/weight_file.hpp>
#include <totograph/version.hpp>

#include "io/support.hpp"
#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Made-up tensors that say which file they are from, and count how often they are read.
class TensorsOfFile : public MadeUpTensors {
public:
    explicit TensorsOfFile(std::string identity) : identity_(std::move(identity)) {}

    void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
        ++reads;
        MadeUpTensors::read(name, shape, values);
    }
    [[nodiscard]] std::string identity() const override { return identity_; }

    mutable std::atomic<int> reads{0};

private:
    std::string identity_;
};

struct Twice {
    static constexpr std::string_view name = "twice";
    template <class T>
    static T apply(T x) {
        return x + x;
    }
};

/// Two weights that are large enough to keep, a small one, a plain one, and one of an operation that only this process
/// knows.
struct Wanted {
    Wanted() {
        Recorder r;
        const Tensor w = r.weight("w", {400, 120});
        w* r.weight("s", {120});
        r.weight("small", {4, 4});
        apply<Twice>(r.weight("v", {400, 120}));
        graph = r.take_graph();
        add(0, -1, true);
        add(scaled_node(), 0, true);
        add(scaled_node() + 1, -1, true);
        add(1, -1, false);
        add(scaled_node() + 3, -1, true);
    }
    [[nodiscard]] GraphView view() const { return GraphView{graph.nodes}; }

    Graph graph;
    std::vector<PreparedWeight> list;

private:
    [[nodiscard]] int scaled_node() const {
        int node = 0;
        while (graph[node].op != Op::multiply) {
            ++node;
        }
        return node;
    }
    void add(int node, int second, bool packed) {
        PreparedWeight weight;
        weight.node = node;
        weight.second_node = second;
        weight.packed = packed;
        list.push_back(weight);
    }
};
constexpr std::size_t kept = 2;

/// `TOTOGRAPH_CACHE_DIR` for a while.
class CacheFolderVariable {
public:
    explicit CacheFolderVariable(const std::filesystem::path& path) {
        ::setenv("TOTOGRAPH_CACHE_DIR", path.c_str(), 1);
    }
    CacheFolderVariable(const CacheFolderVariable&) = delete;
    CacheFolderVariable& operator=(const CacheFolderVariable&) = delete;
    ~CacheFolderVariable() { ::unsetenv("TOTOGRAPH_CACHE_DIR"); }
};

/// Prepared weights, byte by byte.
std::string bytes_of(const auto& tensors) {
    std::string bytes;
    for (const auto& tensor : tensors) {
        const auto* data = tensor->packed ? reinterpret_cast<const char*>(tensor->packed->panel(0))
                                          : reinterpret_cast<const char*>(tensor->plain.data());
        bytes.append(data, tensor->bytes());
    }
    return bytes;
}

/// What a new store prepares.
struct Prepared {
    std::string bytes;
    PreparedCacheReport report;
    int reads = 0;
};
template <class Storage = float>
Prepared prepare(const std::string& identity = "file 1\n") {
    const Wanted wanted;
    const TensorsOfFile source(identity);
    cpu::PreparedWeights<Storage> store;
    const auto tensors = store.get(wanted.view(), wanted.list, source);
    Prepared result;
    result.bytes = bytes_of(tensors);
    result.report = store.cache_report();
    result.reads = source.reads;
    // What is there already is not looked for again.
    (void)store.get(wanted.view(), wanted.list, source);
    CHECK(store.cache_report().hits == result.report.hits);
    CHECK(source.reads == result.reads);
    return result;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (!entry.is_directory()) {
            files.push_back(entry.path());
        }
    }
    return files;
}

void check_counts(const Prepared& prepared, std::size_t hits, std::size_t misses, std::size_t ignored) {
    CHECK(prepared.report.hits == hits);
    CHECK(prepared.report.misses == misses);
    CHECK(prepared.report.ignored == ignored);
}

}  // namespace

TEST_CASE_TEMPLATE("prepared cache: a second store maps what the first has prepared", Storage, float, BFloat16) {
    ::unsetenv("TOTOGRAPH_CACHE_DIR");  // which the one who runs the tests may have set
    const Prepared without = prepare<Storage>();
    check_counts(without, 0, 0, 0);
    CHECK(to_string(without.report).starts_with("0 from files, 0 not found; no folder; TOTO"));
    CHECK(without.report.reason.find("TOTOGRAPH_CACHE_DIR is not set") != std::string::npos);
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    const CacheCounts before = cache_counts().of("weights").read();
    const Prepared first = prepare<Storage>();
    check_counts(first, 0, kept, 0);
    CHECK(first.report.not_written.empty());
    CHECK(first.bytes == without.bytes);
    REQUIRE(files_in(scratch.path()).size() == kept);
    CHECK(files_in(scratch.path())[0].string().starts_with(first.report.folder));
    const Prepared second = prepare<Storage>();
    check_counts(second, kept, 0, 0);
    CHECK(second.bytes == without.bytes);
    CHECK(second.reads < first.reads);
    CHECK(files_in(scratch.path()).size() == kept);
    const CacheCounts after = cache_counts().of("weights").read();
    CHECK(after.hits == before.hits + kept);
    CHECK(after.misses == before.misses + kept);
    CHECK(after.ignored == before.ignored);
}

TEST_CASE("prepared cache: what is prepared is told to who wants to know") {
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    std::vector<std::string> lines;
    set_logs("capture");
    set_log_sink([&](LogTopic, std::string_view line) { lines.emplace_back(line); });
    const Prepared prepared = prepare<float>();
    set_log_sink({});
    set_logs("");
    REQUIRE(lines.size() == 1);  // nothing about what was there already
    CHECK(lines[0].starts_with("prepared " + totograph::detail::bytes_text(prepared.bytes.size()) + " of weights in "));
    CHECK(lines[0].find(" ms: 0 from files, 2 not found; " + prepared.report.folder) != std::string::npos);
}

TEST_CASE("prepared cache: other checkpoints and other layouts have files of their own") {
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    check_counts(prepare<float>("file 1\n"), 0, kept, 0);
    check_counts(prepare<float>("file 2\n"), 0, kept, 0);
    check_counts(prepare<BFloat16>("file 1\n"), 0, kept, 0);
    CHECK(files_in(scratch.path()).size() == 3 * kept);
    check_counts(prepare<float>("file 2\n"), kept, 0, 0);
    // A file in the place of another, as if their hashes were equal.
    const auto files = files_in(scratch.path() / "weights");
    const Prepared expected = prepare<float>("file 1\n");
    const auto overwrite = [&](const std::filesystem::path& from) {
        for (const auto& file : files_in(expected.report.folder)) {
            if (file != from) {
                std::filesystem::remove(file);  // nobody may write to it
                std::filesystem::copy_file(from, file);
            }
        }
    };
    for (const auto& from : files) {
        overwrite(from);
        const Prepared prepared = prepare<float>("file 1\n");
        CHECK(prepared.bytes == expected.bytes);
        CHECK(prepared.report.ignored >= kept - 1);
        check_counts(prepare<float>("file 1\n"), kept, 0, 0);  // replaced
    }
}

TEST_CASE("prepared cache: another version or compiler has files of its own") {
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    check_counts(prepare<float>(), 0, kept, 0);
    for (const auto& file : files_in(scratch.path())) {
        // Another compiler may round a sum of products in another way: what it prepared is not this one's.
        const std::string head = totograph::test::content_of(file).substr(0, io::weight_file_alignment);
        CHECK(head.find("totograph " + std::string(version) + "\ncompiler " __VERSION__ "\nlayout ") !=
              std::string::npos);
        CHECK(head.find("\nfile 1\n") != std::string::npos);
    }
}

TEST_CASE("prepared cache: weights that could not be prepared are prepared by the next who asks, and kept") {
    /// Breaks down at the n-th tensor.
    struct Broken final : TensorsOfFile {
        explicit Broken(int tensors) : TensorsOfFile("file 1\n"), left(tensors) {}
        void read(const std::string& name, const Shape& shape, std::span<float> values) const override {
            if (--left < 0) {
                throw Error(ErrorCode::io_failure, "The disk is gone.");
            }
            TensorsOfFile::read(name, shape, values);
        }
        mutable std::atomic<int> left;
    };
    const Prepared expected = prepare<float>();
    const Wanted wanted;
    for (const int tensors : {0, 1, 2, 3}) {
        CAPTURE(tensors);
        const ScratchFolder scratch;
        const CacheFolderVariable variable(scratch.path());
        const Broken source(tensors);
        cpu::PreparedWeights<float> store;
        CHECK_THROWS_WITH_AS((void)store.get(wanted.view(), wanted.list, source), "The disk is gone.", Error);
        source.left = 100;
        const auto prepared = store.get(wanted.view(), wanted.list, source);
        CHECK(bytes_of(prepared) == expected.bytes);
        CHECK(files_in(scratch.path()).size() == kept);
    }
    // Nor does it matter that nothing else is missing.
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    const Broken source(0);
    cpu::PreparedWeights<float> store;
    const std::span<const PreparedWeight> one = std::span(wanted.list).first(1);
    CHECK_THROWS_AS((void)store.get(wanted.view(), one, source), Error);
    CHECK(store.bytes() == 0);
    source.left = 100;
    (void)store.get(wanted.view(), one, source);
    CHECK(store.cache_report().misses == 1);
    CHECK(files_in(scratch.path()).size() == 1);
}

TEST_CASE("prepared cache: weights of no file are not kept") {
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    const Prepared prepared = prepare<float>("");
    check_counts(prepared, 0, 0, 0);
    CHECK(prepared.report.reason.find("come from no file") != std::string::npos);
    CHECK(files_in(scratch.path()).empty());
}

TEST_CASE("prepared cache: damaged files are ignored with a reason, and replaced") {
    const Prepared expected = prepare<float>();
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    (void)prepare<float>();
    const auto path = files_in(scratch.path())[0];
    const std::string good = content_of(path);
    const auto write = [&](const std::string& content) {
        std::filesystem::remove(path);  // nobody may write to it
        std::ofstream(path, std::ios::binary) << content;
    };
    const auto check_ignored = [&](std::string_view reason) {
        const Prepared prepared = prepare<float>();
        CHECK(prepared.bytes == expected.bytes);
        check_counts(prepared, kept - 1, 1, 1);
        CAPTURE(prepared.report.reason);
        CHECK(prepared.report.reason.find(reason) != std::string::npos);
        CHECK(cache_counts().of("weights").read().last_reason == prepared.report.reason);
        CHECK(prepared.report.not_written.empty());
        CHECK(content_of(path) == good);
        CHECK(files_in(scratch.path()).size() == kept);
    };
    for (const std::size_t at : {std::size_t{3}, std::size_t{60}, good.size() / 2, good.size() - 9, good.size() - 1}) {
        CAPTURE(at);
        std::string changed = good;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        write(changed);
        check_ignored("is ignored");
    }
    write(good.substr(0, good.size() - 1));
    check_ignored("expected");
    write("");
    check_ignored("is empty");
    std::filesystem::remove(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const Prepared pipe = prepare<float>();
    CHECK(pipe.bytes == expected.bytes);
    CHECK(pipe.report.ignored == 1);
    CHECK(pipe.report.not_written.find("not a regular file") != std::string::npos);
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    const Prepared directory = prepare<float>();
    CHECK(directory.bytes == expected.bytes);
    check_counts(directory, kept - 1, 1, 1);
    CHECK(directory.report.not_written.find("not a regular file") != std::string::npos);
    if (::geteuid() != 0) {
        std::filesystem::remove(path);
        write(good);
        REQUIRE(::chmod(path.c_str(), 0) == 0);
        check_ignored("Permission denied");
    }
}

TEST_CASE("prepared cache: nothing is read or kept below a folder that others may write to") {
    const Prepared expected = prepare<float>();
    const ScratchFolder scratch;
    const auto folder = scratch.path() / "cache";
    const CacheFolderVariable variable(folder);
    (void)prepare<float>();
    check_counts(prepare<float>(), kept, 0, 0);
    for (const std::filesystem::path& open : {folder, folder / "weights"}) {
        REQUIRE(::chmod(open.c_str(), 0777) == 0);
        const Prepared prepared = prepare<float>();
        CHECK(prepared.bytes == expected.bytes);
        check_counts(prepared, 0, 0, 0);
        CHECK(
            prepared.report.reason.starts_with("The folder '" + open.string() + "' is not used: everybody may write"));
        REQUIRE(::chmod(open.c_str(), 0755) == 0);
    }
    check_counts(prepare<float>(), kept, 0, 0);
}

TEST_CASE("prepared cache: a folder that cannot be written, and a full disk, fail nothing") {
    const Prepared expected = prepare<float>();
    const ScratchFolder scratch;
    for (const std::filesystem::path& folder :
         {std::filesystem::path("/proc/cache"), scratch.file("plain", ""), scratch.path() / "plain" / "cache"}) {
        const CacheFolderVariable variable(folder);
        const Prepared prepared = prepare<float>();
        CHECK(prepared.bytes == expected.bytes);
        CHECK(prepared.report.misses == kept);
        CHECK(prepared.report.not_written.find("cannot be made") != std::string::npos);
    }
    const auto folder = scratch.path() / "cache";
    const CacheFolderVariable variable(folder);
    {
        const FileSizeLimit limit(20000);
        const Prepared prepared = prepare<float>();
        CHECK(prepared.bytes == expected.bytes);
        CHECK(prepared.report.not_written.find("was not written") != std::string::npos);
    }
    CHECK(files_in(folder).empty());
    if (::geteuid() != 0) {
        REQUIRE(::chmod(prepare<float>().report.folder.c_str(), 0500) == 0);
        check_counts(prepare<float>(), kept, 0, 0);  // reading is enough
    }
}

TEST_CASE("prepared cache: threads and processes that prepare at the same time") {
    const Prepared expected = prepare<float>();
    const ScratchFolder scratch;
    const CacheFolderVariable variable(scratch.path());
    std::vector<::pid_t> children;
    for (int i = 0; i < 3; ++i) {
        const ::pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::_exit(prepare<float>().bytes == expected.bytes ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const ::pid_t child : children) {
        int status = 1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    std::filesystem::remove_all(scratch.path() / "weights");
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            const Prepared prepared = prepare<float>();
            CHECK(prepared.bytes == expected.bytes);
            CHECK(prepared.report.ignored == 0);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(files_in(scratch.path()).size() == kept);
    check_counts(prepare<float>(), kept, 0, 0);
}

TEST_CASE("prepared cache: rows for a device are kept too") {
    const Wanted wanted;
    const TensorsOfFile source("file 1\n");
    const ScratchFolder scratch;
    struct Sink {
        std::vector<std::byte>* bytes;
        std::span<std::byte> room(std::size_t count) const {
            const std::size_t most = count < 10000 ? count : 10000;
            bytes->resize(bytes->size() + most);
            return std::span(*bytes).last(most);
        }
        static void add(std::size_t) {}
    };
    const auto write = [&](const io::CacheFolder& folder, std::size_t hits) {
        Team team(2);
        cpu::WeightEvaluator evaluator(wanted.view(), source, &team);
        PreparedCache cache(folder, source, "rows");
        std::vector<std::byte> bytes;
        for (const PreparedWeight& weight : wanted.list) {
            write_row_major<BFloat16>(wanted.view(), weight, evaluator, WeightExpression(wanted.view(), weight), cache,
                                      Sink{&bytes});
        }
        CHECK(cache.report().hits == hits);
        CHECK(cache.report().not_written.empty());
        return bytes;
    };
    const auto expected = write({{}, "none"}, 0);
    CHECK(write({scratch.path(), {}}, 0) == expected);
    CHECK(files_in(scratch.path()).size() == kept);
    CHECK(write({scratch.path(), {}}, kept) == expected);
}
