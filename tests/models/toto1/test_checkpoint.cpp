// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <totograph/forecast/weights/checkpoint_source.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"
#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// Loading checkpoints: what is accepted, and the sentence for what is not.

using namespace made_up;
using tg::DType;
using tg::ErrorCode;
using tg::test::check_error;
using tg::test::ScratchFolder;
using Model = fixture::models::Small;

namespace {

/// Half precision by truncation; what is too small becomes zero. The weights of the fixtures are far below its largest.
totograph::Float16 to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = (bits >> 23U) & 0xffU;
    totograph::Float16 half;
    half.bits = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    if (exponent > 112U) {
        half.bits = static_cast<std::uint16_t>(half.bits | ((exponent - 112U) << 10U) | ((bits >> 13U) & 0x3ffU));
    }
    return half;
}

constexpr tg::Bucket bucket{.variates = 2, .context = 24, .horizon = 16};

const std::string w12 = "model.transformer.layers.3.mlp.0.weight";

struct StoredTensor {
    DType dtype = DType::f32;
    std::vector<Index> shape;
    std::vector<float> values;
};

/// A checkpoint on its way into a file.
class Checkpoint {
public:
    Checkpoint() {
        const tg::io::SafetensorsFile file(fixture::folder("mixture") / "model.safetensors");
        for (const auto& info : file.tensors()) {
            StoredTensor& tensor = tensors[info.name];
            tensor.shape = info.shape;
            Index size = 1;
            for (const Index extent : info.shape) {
                size *= extent;
            }
            tensor.values.resize(static_cast<std::size_t>(size));
            file.copy_to_float(info, tensor.values);
        }
        config = tg::test::content_of(fixture::folder("mixture") / "config.json");
    }

    /// Gives each tensor the name that `name_of` makes of its own.
    void rename(const std::function<std::string(std::string)>& name_of) {
        std::map<std::string, StoredTensor> renamed;
        for (auto& [name, tensor] : tensors) {
            renamed[name_of(name)] = std::move(tensor);
        }
        tensors = std::move(renamed);
    }

    void replace_in_config(std::string_view from, std::string_view to) {
        const auto at = config.find(from);
        REQUIRE(at != std::string::npos);
        config.replace(at, from.size(), to);
    }

    void write(const ScratchFolder& folder) const {
        write_tensors(folder.path() / "model.safetensors", [](const std::string&) { return true; });
        if (!config.empty()) {
            (void)folder.file("config.json", config);
        }
    }

    /// In two files, of which the second holds what comes behind the first layer, and an index.
    void write_shards(const ScratchFolder& folder) const {
        const std::string first = "model-00001-of-00002.safetensors";
        const std::string second = "model-00002-of-00002.safetensors";
        const auto is_early = [](const std::string& name) { return name < "model.transformer.layers.1."; };
        write_tensors(folder.path() / first, is_early);
        write_tensors(folder.path() / second, [&](const std::string& name) { return !is_early(name); });
        std::string map;
        for (const auto& [name, tensor] : tensors) {
            map += (map.empty() ? "\"" : ", \"") + name + "\": \"" + (is_early(name) ? first : second) + "\"";
        }
        (void)folder.file("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
        (void)folder.file("config.json", config);
    }

    template <class IsWanted>
    void write_tensors(const std::filesystem::path& path, IsWanted&& is_wanted) const {
        std::vector<tg::io::TensorToWrite> list;
        std::vector<std::vector<std::byte>> bytes;
        bytes.reserve(tensors.size());
        for (const auto& [name, tensor] : tensors) {
            if (!is_wanted(name)) {
                continue;
            }
            list.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape});
            if (tensor.dtype == DType::f16 || tensor.dtype == DType::i32) {
                bytes.emplace_back(tensor.values.size() * tg::size_in_bytes(tensor.dtype));
                for (std::size_t i = 0; i < tensor.values.size() && tensor.dtype == DType::f16; ++i) {
                    const tg::Float16 half = to_half(tensor.values[i]);
                    std::memcpy(bytes.back().data() + 2 * i, &half, 2);
                }
                list.back().bytes = bytes.back();
            } else {
                list.back().values = tensor.values;
            }
        }
        tg::io::write_safetensors(path, list);
    }

    std::map<std::string, StoredTensor> tensors;
    std::string config;
};

tg::ModelWeights<Model> load(const Checkpoint& checkpoint) {
    const ScratchFolder folder;
    checkpoint.write(folder);
    return tg::load<Model>(folder.path());  // what is open outlives its name
}

std::vector<float> forecast(const tg::ModelWeights<Model>& weights) {
    tg::Forecaster<Model, bucket> forecaster(weights, {.threads = 1});
    return forecaster.forecast(waves(1, 2, 20).series()).mean();
}

std::vector<float> expected() {
    return forecast(tg::load<Model>(fixture::folder("mixture")));
}

void refuse(ErrorCode code, std::initializer_list<std::string_view> parts, const Checkpoint& checkpoint) {
    check_error(code, parts, [&] { (void)load(checkpoint); });
}

}  // namespace

TEST_CASE("both layouts of the feed-forward's tensors") {
    Checkpoint checkpoint;
    CHECK(forecast(load(checkpoint)) == expected());
    checkpoint.rename(tg::toto1::name_in_fused_layout);
    CHECK(checkpoint.tensors.contains("model.transformer.layers.3.mlp.0.w12.weight"));
    CHECK(checkpoint.tensors.contains("model.transformer.layers.3.mlp.0.w3.bias"));
    CHECK(!checkpoint.tensors.contains(w12));
    CHECK(forecast(load(checkpoint)) == expected());
}

TEST_CASE("rotary frequencies that older checkpoints store are no surprise") {
    Checkpoint checkpoint;
    checkpoint.tensors["model.transformer.rotary_emb.freqs"] = {DType::f32, {4}, {1, 2, 3, 4}};
    CHECK(forecast(load(checkpoint)) == expected());
}

TEST_CASE("checkpoints in f16, bf16 and f64") {
    // The stored numbers, widened, in an f32 checkpoint give the same forecast to the last bit.
    for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
        CAPTURE(tg::name(dtype));
        Checkpoint stored;
        Checkpoint widened;
        for (auto& [name, tensor] : stored.tensors) {
            tensor.dtype = dtype;
            for (float& value : widened.tensors[name].values) {
                value = dtype == DType::f16    ? static_cast<float>(to_half(value))
                        : dtype == DType::bf16 ? static_cast<float>(static_cast<tg::BFloat16>(value))
                                               : value;
            }
        }
        CHECK(forecast(load(stored)) == forecast(load(widened)));
        CHECK((forecast(load(stored)) == expected()) == (dtype == DType::f64));
    }
}

TEST_CASE("a tensor that is missing") {
    Checkpoint checkpoint;
    checkpoint.tensors.erase(w12);
    refuse(ErrorCode::missing_tensor, {"model.safetensors", w12, "lacks"}, checkpoint);
    checkpoint.tensors.clear();
    refuse(ErrorCode::missing_tensor, {"model.safetensors", "lacks"}, checkpoint);
}

TEST_CASE("a tensor too many") {
    Checkpoint checkpoint;
    checkpoint.tensors["model.transformer.layers.4.norm1.scale"] = checkpoint.tensors.begin()->second;
    refuse(ErrorCode::unexpected_tensor, {"model.safetensors", "model.transformer.layers.4.norm1.scale"}, checkpoint);
    Checkpoint both;
    both.tensors["model.transformer.layers.3.mlp.0.w12.weight"] = both.tensors[w12];
    refuse(ErrorCode::unexpected_tensor, {"layers.3.mlp.0.w12.weight"}, both);
}

TEST_CASE("all that is missing and all that is not read is told at once") {
    Checkpoint renamed;
    renamed.rename([](std::string name) {
        const bool is_meant =
            name == "model.transformer.layers.0.norm1.scale" || name == "model.transformer.layers.1.norm1.scale";
        return is_meant ? name.substr(0, name.size() - 5) + "weight" : name;
    });
    refuse(ErrorCode::missing_tensor,
           {"lacks the tensor 'model.transformer.layers.0.norm1.scale'",
            "One more is missing: 'model.transformer.layers.1.norm1.scale'.",
            "2 are there that the model does not read: 'model.transformer.layers.0.norm1.weight', "
            "'model.transformer.layers.1.norm1.weight'."},
           renamed);

    Checkpoint more;
    for (int i = 10; i < 20; ++i) {
        more.tensors["more." + std::to_string(i)] = more.tensors.begin()->second;
    }
    refuse(ErrorCode::unexpected_tensor, {"'more.10'", "9 more are like it: 'more.11', ", "'more.18', ..."}, more);
}

TEST_CASE("tensors of other shapes") {
    for (const std::vector<Index>& shape : {std::vector<Index>{32, 128}, {4096}, {128, 32, 1}}) {
        Checkpoint checkpoint;
        REQUIRE(checkpoint.tensors[w12].shape == std::vector<Index>{128, 32});
        checkpoint.tensors[w12].shape = shape;
        refuse(ErrorCode::tensor_mismatch, {w12, "[128, 32]", "found " + tg::io::to_string(shape)}, checkpoint);
    }
}

TEST_CASE("a tensor of integers") {
    Checkpoint checkpoint;
    checkpoint.tensors[w12].dtype = DType::i32;
    refuse(ErrorCode::tensor_mismatch, {w12, "I32", "F32, F64, BF16 or F16"}, checkpoint);
}

TEST_CASE("a tensor of a type that the library does not know") {
    // As the format spells it, by hand: one tensor of 2048 bytes.
    for (const auto& [dtype, extents, advice] : {std::tuple{"I64", "32,8", "convert the checkpoint"},
                                                 {"I8", "256,8", "as it was before it was quantized"},
                                                 {"F8_E4M3", "256,8", "as it was before it was quantized"}}) {
        const ScratchFolder folder;
        const std::string header = std::string(R"({"model.patch_embed.projection.weight":{"dtype":")") + dtype +
                                   R"(","shape":[)" + extents + R"(],"data_offsets":[0,2048]}})";
        std::string content(8, '\0');
        content[0] = static_cast<char>(header.size());
        content += header + std::string(2048, '\0');
        (void)folder.file("model.safetensors", content);
        const tg::Shape shape = extents[0] == '3' ? tg::Shape{32, 8} : tg::Shape{256, 8};
        check_error(ErrorCode::tensor_mismatch, {"model.patch_embed.projection.weight", dtype, advice}, [&] {
            const tg::CheckpointSource source(tg::io::find_checkpoint(folder.path()),
                                              {{"model.patch_embed.projection.weight", shape}},
                                              tg::toto1::checkpoint_rules);
        });
    }
}

TEST_CASE("every field of the configuration that differs is listed") {
    Checkpoint checkpoint;
    checkpoint.replace_in_config("\"patch_size\": 8", "\"patch_size\": 16");
    checkpoint.replace_in_config("\"num_heads\": 4", "\"num_heads\": \"four\"");
    checkpoint.replace_in_config("\"spacewise_first\": false", "\"spacewise_first\": true");
    checkpoint.replace_in_config("CausalPatchStdMeanScaler", "StdMeanScaler");
    checkpoint.replace_in_config("\"k_components\": 3", "\"k_components\": 24");
    checkpoint.replace_in_config("\"scale_factor_exponent\": 10.0", "\"scale_factor_exponent\": 9.5");
    refuse(ErrorCode::config_mismatch,
           {"config.json", "6 fields", "'patch_size': expected 8, found 16", "'num_heads': expected 4, found \"four\"",
            "'spacewise_first': expected false, found true", "'scaler_cls'",
            "'output_distribution_kwargs.k_components'", "'scale_factor_exponent'"},
           checkpoint);
}

TEST_CASE("each field of the configuration is looked at") {
    const std::pair<std::string_view, std::string_view> changes[] = {
        {"\"patch_size\": 8", "\"patch_size\": 4"},
        {"\"stride\": 8", "\"stride\": 4"},
        {"\"embed_dim\": 32", "\"embed_dim\": 31"},
        {"\"num_layers\": 4", "\"num_layers\": 5"},
        {"\"num_heads\": 4", "\"num_heads\": 2"},
        {"\"mlp_hidden_dim\": 64", "\"mlp_hidden_dim\": 65"},
        {"\"spacewise_every_n_layers\": 2", "\"spacewise_every_n_layers\": 4"},
        {"\"spacewise_first\": false", "\"spacewise_first\": true"},
        {"CausalPatchStdMeanScaler", "CausalStdMeanScaler"},
        {"\"stabilize_with_global\": true", "\"stabilize_with_global\": false"},
        {"\"scale_factor_exponent\": 10.0", "\"scale_factor_exponent\": 10.5"},
        {"MixtureOfStudentTsOutput", "StudentTOutput"},
        {"\"k_components\": 3", "\"k_components\": 4"},
    };
    for (const auto& [from, to] : changes) {
        const std::string changed(from);
        CAPTURE(changed);
        Checkpoint checkpoint;
        checkpoint.replace_in_config(from, to);
        refuse(ErrorCode::config_mismatch, {"1 field:"}, checkpoint);
    }
}

TEST_CASE("a configuration that is none") {
    Checkpoint checkpoint;
    checkpoint.config = "{\"patch_size\": 8";
    refuse(ErrorCode::invalid_file, {"config.json"}, checkpoint);
    checkpoint.config = "[]";
    refuse(ErrorCode::invalid_file, {"config.json"}, checkpoint);
}

TEST_CASE("a folder may come without a configuration, but not without weights") {
    Checkpoint checkpoint;
    checkpoint.config.clear();
    CHECK(forecast(load(checkpoint)) == expected());
    const ScratchFolder empty;
    check_error(ErrorCode::file_not_found, {"model.safetensors"}, [&] { (void)tg::load<Model>(empty.path()); });
    check_error(ErrorCode::file_not_found, {"nowhere"}, [&] { (void)tg::load<Model>(empty.path() / "nowhere"); });
}

TEST_CASE("a checkpoint by its folder, its file, its shards, and in a Hugging Face cache") {
    const Checkpoint checkpoint;
    const ScratchFolder whole;
    checkpoint.write(whole);
    CHECK(forecast(tg::load<Model>(whole.path() / "model.safetensors")) == expected());
    const ScratchFolder shards;
    checkpoint.write_shards(shards);
    CHECK(forecast(tg::load<Model>(shards.path())) == expected());
    const ScratchFolder cache;
    std::filesystem::create_directories(cache.path() / "snapshots" / "abc");
    std::filesystem::create_directories(cache.path() / "refs");
    (void)cache.file("refs/main", "abc");
    for (const char* name : {"model.safetensors", "config.json"}) {
        std::filesystem::create_symlink(whole.path() / name, cache.path() / "snapshots" / "abc" / name);
    }
    CHECK(forecast(tg::load<Model>(cache.path())) == expected());
    // Its configuration is the one beside it, wherever that is.
    (void)whole.file("config.json", "{}");
    check_error(ErrorCode::config_mismatch, {"config.json"},
                [&] { (void)tg::load<Model>(whole.path() / "model.safetensors"); });
    check_error(ErrorCode::config_mismatch, {"config.json"}, [&] { (void)tg::load<Model>(cache.path()); });
}

TEST_CASE("shards that are not of one checkpoint") {
    const Checkpoint checkpoint;
    const auto refuse_changed = [&](std::string_view from, std::string_view to, ErrorCode code,
                                    std::initializer_list<std::string_view> parts) {
        const ScratchFolder folder;
        checkpoint.write_shards(folder);
        const auto index = folder.path() / "model.safetensors.index.json";
        std::string text = tg::test::content_of(index);
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        (void)folder.file("model.safetensors.index.json", text);
        check_error(code, parts, [&] { (void)tg::load<Model>(folder.path()); });
    };
    const std::string entry = "\"model.unembed.bias\": \"model-0000";
    refuse_changed(
        entry + "2", entry + "1", ErrorCode::invalid_file,
        {"model-00002-of-00002.safetensors", "holds the tensor 'model.unembed.bias'", "different checkpoints"});
    refuse_changed(entry, "\"model.unembed.other\": \"model-0000", ErrorCode::invalid_file,
                   {"holds the tensor 'model.unembed.bias'"});
    refuse_changed("{\"weight_map\": {", "{\"weight_map\": {\"ghost\": \"model-00001-of-00002.safetensors\", ",
                   ErrorCode::missing_tensor, {"model-00001-of-00002.safetensors", "lacks the tensor 'ghost'"});
}

TEST_CASE("a checkpoint that is cut or written to after it was opened is an error, and no signal") {
    const Checkpoint checkpoint;
    const ScratchFolder folder;
    checkpoint.write(folder);
    const auto path = folder.path() / "model.safetensors";
    const auto weights = tg::load<Model>(folder.path());
    tg::Forecaster<Model, bucket> before(weights, {.threads = 1});
    const auto untouched = tg::load<Model>(folder.path());
    std::filesystem::resize_file(path, 9000);
    for (const int threads : {1, 2}) {
        check_error(ErrorCode::io_failure, {"model.safetensors", "was written to", "has 9000 now"},
                    [&] { tg::Forecaster<Model, bucket>(untouched, {.threads = threads}); });
    }
    check_error(ErrorCode::invalid_file, {"truncated"}, [&] { (void)tg::load<Model>(folder.path()); });
    // A forecaster has all that it needs, and others of its weights share that.
    CHECK(before.forecast(waves(1, 2, 20).series()).mean() == expected());
    CHECK(forecast(weights) == expected());
    // Another content of the same size.
    checkpoint.write(folder);
    const auto rewritten = tg::load<Model>(folder.path());
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate).seekp(-1, std::ios::end) << '?';
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    check_error(ErrorCode::io_failure, {"was written to"}, [&] { (void)forecast(rewritten); });
    // Another file in its place.
    checkpoint.write(folder);
    const auto replaced = tg::load<Model>(folder.path());
    std::filesystem::rename(folder.file("other", "something else"), path);
    CHECK(forecast(replaced) == expected());
}

TEST_CASE("what is no checkpoint is told by what it is") {
    const ScratchFolder folder;
    const auto path = folder.file("last.ckpt", "PK\x03\x04 and so on");
    check_error(ErrorCode::invalid_file, {"last.ckpt", "tools/convert_checkpoint.py"},
                [&] { (void)tg::load<Model>(path); });
    (void)folder.file("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n");
    check_error(ErrorCode::invalid_file, {"model.safetensors", "git lfs pull"},
                [&] { (void)tg::load<Model>(folder.path()); });
    Checkpoint exogenous;
    exogenous.tensors["model.target_variate_label"] = exogenous.tensors.begin()->second;
    refuse(ErrorCode::unexpected_tensor, {"model.target_variate_label", "variate_labels = true"}, exogenous);
}

TEST_CASE("forecasters of different buckets share what is prepared") {
    const auto weights = tg::load<Model>(fixture::folder("mixture"));
    const auto prepared = weights.weights.prepared<tg::cpu::PreparedWeights<float>>();
    CHECK(prepared->bytes() == 0);
    const tg::Forecaster<Model, bucket> first(weights, {.threads = 1});
    const std::size_t bytes = prepared->bytes();
    // At least the layers' matrices, at most twice the checkpoint.
    CHECK(bytes > std::size_t{4} * (3 * 32 * 32 + 32 * 32 + 3 * 32 * 64) * sizeof(float));
    std::size_t checkpoint_bytes = 0;
    for (const auto& tensor : tg::checkpoint_tensors<Model>()) {
        checkpoint_bytes += static_cast<std::size_t>(tensor.shape.size()) * sizeof(float);
    }
    CHECK(bytes < 2 * checkpoint_bytes);
    const tg::Forecaster<Model, bucket> again(weights, {.threads = 2});
    CHECK(prepared->bytes() == bytes);
    // Another bucket has other tables of positions, which are smaller than a layer's smallest matrix.
    constexpr tg::Bucket other{.batch = 2, .variates = 3, .context = 40, .horizon = 9};
    const tg::Forecaster<Model, other> second(weights, {.threads = 1});
    CHECK(prepared->bytes() < bytes + 32 * 32 * sizeof(float));
}

TEST_CASE("untrained weights depend on the seed alone, and no two tensors are equal") {
    CHECK(forecast(tg::untrained<Model>(5)) == forecast(tg::untrained<Model>(5)));
    CHECK(forecast(tg::untrained<Model>(5)) != forecast(tg::untrained<Model>(6)));
    const tg::UntrainedSource source(5);
    std::vector<float> first(64);
    std::vector<float> second(64);
    source.read("model.transformer.layers.0.attention.wO.weight", tg::Shape{8, 8}, first);
    source.read("model.transformer.layers.1.attention.wO.weight", tg::Shape{8, 8}, second);
    CHECK(first != second);
    CHECK(std::all_of(first.begin(), first.end(), [](float x) { return std::abs(x) < 1 / std::sqrt(8.0F); }));
}

TEST_CASE("untrained weights are uniform numbers of the draws that a tensor's name and their places key") {
    const tg::UntrainedSource source(77);
    const std::string name = "some.weight";
    std::uint64_t key = 77;
    for (const char character : name) {
        key = key * 1099511628211ULL + static_cast<unsigned char>(character);
    }
    std::vector<float> expected(7 * 123);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        tg::SampleKey draw;
        draw.seed = key;
        draw.time = static_cast<std::uint32_t>(i / 4);
        const double uniform = tg::uniform_double(tg::random_words(draw).word[i % 4]);
        expected[i] = static_cast<float>((2.0 * uniform - 1.0) * (1.0 / std::sqrt(123.0)));
    }
    std::vector<float> values(expected.size());
    source.read(name, tg::Shape{7, 123}, values);
    CHECK(values == expected);
    for (const std::size_t first : std::initializer_list<std::size_t>{1, 2, 3, 4, 255, 600}) {
        CAPTURE(first);
        std::vector<float> part(expected.size() - first - 1);
        source.reader(name, tg::Shape{7, 123})->read(first, part);
        CHECK(std::equal(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    std::vector<float> ones(5);
    source.read("norm1.scale", tg::Shape{5}, ones);
    CHECK(ones == std::vector<float>(5, 1.0F));
    CHECK(source.identity().empty());
}

TEST_CASE("a checkpoint's identity is its file's, and gone when the file changes") {
    const ScratchFolder folder;
    const auto path = folder.path() / "model.safetensors";
    Checkpoint checkpoint;
    checkpoint.write(folder);
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(1));
    const auto load = [&] { return tg::load<Model>(folder.path()).weights; };
    CHECK(load().source().identity().empty());  // a change within the same tick of the clock would not show
    while (!tg::io::file_identity(path).is_stable()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const tg::Weights weights = load();
    const std::string first = weights.source().identity();
    CHECK(first.find(path.filename().string()) != std::string::npos);
    CHECK(first.find("header ") != std::string::npos);
    CHECK(load().source().identity() == first);
    // Another content in the same place, its time set back.
    const auto time = std::filesystem::last_write_time(path);
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate).seekp(-1, std::ios::end) << '?';
    std::filesystem::last_write_time(path, time);
    CHECK(weights.source().identity().empty());
    std::filesystem::remove(path);
    CHECK(weights.source().identity().empty());
}
