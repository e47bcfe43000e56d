// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>

#include "io/support.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// Loading checkpoints of Toto 2.0: what is accepted, and the sentence for what is not.

namespace {

using namespace toto2_fixture;
using tg::DType;
using tg::ErrorCode;
using tg::test::check_error;
using tg::test::ScratchFolder;
using Model = toto2_cases::one_patch;

constexpr std::string_view tau = "transformer.layers.1.attn_tau";

struct StoredTensor {
    DType dtype = DType::f32;
    std::vector<Index> shape;
    std::vector<float> values;
};

/// A checkpoint on its way into files.
struct Checkpoint {
    std::map<std::string, StoredTensor> tensors;

    Checkpoint() {
        const tg::io::SafetensorsFile file(folder("one_patch") / "model.safetensors");
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
    }

    /// The tensors whose names begin with this, or those that do not.
    void write(const std::filesystem::path& path, std::string_view prefix = "", bool with_prefix = true) const {
        std::vector<tg::io::TensorToWrite> list;
        for (const auto& [name, tensor] : tensors) {
            if (name.starts_with(prefix) == with_prefix) {
                list.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape});
                list.back().values = tensor.values;
            }
        }
        tg::io::write_safetensors(path, list);
    }
};

tg::ModelWeights<Model> load(const Checkpoint& checkpoint) {
    const ScratchFolder scratch;
    checkpoint.write(scratch.path() / "model.safetensors");
    (void)scratch.file("config.json", tg::test::content_of(folder("one_patch") / "config.json"));
    return tg::load<Model>(scratch.path());
}

std::vector<float> forecast(const tg::ModelWeights<Model>& weights) {
    const std::vector<float> values{1, 3, 2, 5, 4, 6, 5, 8};
    tg::EagerForecaster forecaster(weights.weights,
                                   tg::record_forecast<Model, tg::Bucket{.context = 8, .horizon = 8}>());
    const tg::Forecast result = forecaster.forecast({.steps = 8, .values = values});
    return {result.values().begin(), result.values().end()};
}

}  // namespace

TEST_CASE("f32, and bf16 as what it stands for") {
    Checkpoint stored;
    const auto expected = forecast(load(stored));
    CHECK(forecast(tg::load<Model>(folder("one_patch"))) == expected);
    Checkpoint widened;
    for (auto& [name, tensor] : stored.tensors) {
        tensor.dtype = DType::bf16;
        for (float& value : widened.tensors[name].values) {
            value = static_cast<float>(static_cast<tg::BFloat16>(value));
        }
    }
    CHECK(forecast(load(stored)) == forecast(load(widened)));
    CHECK(forecast(load(stored)) != expected);
}

TEST_CASE("shards with an index") {
    const Checkpoint checkpoint;
    const ScratchFolder scratch;
    const std::string first = "model-00001-of-00002.safetensors";
    const std::string second = "model-00002-of-00002.safetensors";
    checkpoint.write(scratch.path() / first, "transformer.", true);
    checkpoint.write(scratch.path() / second, "transformer.", false);
    std::string map;
    for (const auto& [name, tensor] : checkpoint.tensors) {
        map += (map.empty() ? "\"" : ", \"") + name + "\": \"" + (name.starts_with("transformer.") ? first : second) +
               "\"";
    }
    (void)scratch.file("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
    (void)scratch.file("config.json", tg::test::content_of(folder("one_patch") / "config.json"));
    CHECK(forecast(tg::load<Model>(scratch.path())) == forecast(tg::load<Model>(folder("one_patch"))));
}

TEST_CASE("a tensor that is missing, one too many, and one of another shape are named") {
    Checkpoint missing;
    REQUIRE(missing.tensors.erase(std::string(tau)) == 1);
    check_error(ErrorCode::missing_tensor, {tau, "Toto 2.0"}, [&] { (void)load(missing); });
    Checkpoint more;
    more.tensors["transformer.layers.4.attn_tau"] = more.tensors[std::string(tau)];
    check_error(ErrorCode::unexpected_tensor, {"transformer.layers.4.attn_tau"}, [&] { (void)load(more); });
    Checkpoint other;
    other.tensors[std::string(tau)].shape = {1};
    check_error(ErrorCode::tensor_mismatch, {tau, "[]", "[1]"}, [&] { (void)load(other); });
}

TEST_CASE("a checkpoint of another size is refused by its configuration") {
    check_error(ErrorCode::config_mismatch, {"'d_model'", "'num_layers'"},
                [] { (void)tg::load<tg::toto2::toto2_4m>(folder("published_shape")); });
}
