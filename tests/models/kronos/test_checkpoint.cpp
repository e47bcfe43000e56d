// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/models/kronos/checkpoint_rules.hpp>
#include <totograph/models/kronos/load.hpp>

#include "io/support.hpp"
#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"
#include "support/refusal.hpp"

// Checkpoints of two parts: which of them a sentence names.

namespace {

namespace tg = totograph;
using tg::Index;
using tg::test::ScratchFolder;
using Model = kronos_cases::head_of_52;

/// The tensors of a file that programs may read, but for one.
class Without {
public:
    Without(const std::filesystem::path& path, std::string_view left_out) {
        const tg::io::SafetensorsFile file(path);
        for (const tg::io::TensorInfo& info : file.tensors()) {
            std::size_t size = 1;
            for (const Index extent : info.shape) {
                size *= static_cast<std::size_t>(extent);
            }
            if (info.name != left_out && info.dtype && tg::io::converts_to_float(*info.dtype)) {
                file.copy_to_float(info, values_.emplace_back(size));
                list_.push_back({.name = info.name, .shape = info.shape});
            }
        }
        for (std::size_t at = 0; at < list_.size(); ++at) {
            list_[at].values = values_[at];
        }
    }
    /// Puts this before all names.
    void prepend(const std::string& prefix) {
        for (tg::io::TensorToWrite& tensor : list_) {
            tensor.name.insert(0, prefix);
        }
    }
    /// Writes those from `first` on, `count` of them at most.
    void write(const std::filesystem::path& path, std::size_t first = 0, std::size_t count = 1000) const {
        const auto all = std::span(list_).subspan(first);
        tg::io::write_safetensors(path, all.first(std::min(count, all.size())));
    }

private:
    std::vector<std::vector<float>> values_;
    std::vector<tg::io::TensorToWrite> list_;
};

std::filesystem::path part(const char* name) {
    return kronos_fixture::folder("head_of_52") / name / "model.safetensors";
}

}  // namespace

TEST_CASE("a tensor that is missing is told of the files of the part that should hold it") {
    const ScratchFolder scratch;
    const std::filesystem::path changed = scratch.path() / "changed.safetensors";
    const auto sentence = [&](const char* name) {
        return "'" + changed.string() + "' lacks the tensor '" + name + "'; check that the file is a Kronos checkpoint";
    };
    Without(part("predictor"), "norm.weight").write(changed);
    CHECK(refusal([&] {
              (void)tg::kronos::load<Model>(part("tokenizer"), changed);
          }).starts_with(sentence("norm.weight")));
    Without(part("tokenizer"), "head.weight").write(changed);
    CHECK(refusal([&] {
              (void)tg::kronos::load<Model>(changed, part("predictor"));
          }).starts_with(sentence("head.weight")));
}

TEST_CASE("a tensor that is missing is told of all files of its part") {
    const ScratchFolder scratch;
    const Without predictor(part("predictor"), "head.proj_s1.bias");
    const std::filesystem::path first = scratch.path() / "model-00001-of-00002.safetensors";
    const std::filesystem::path second = scratch.path() / "model-00002-of-00002.safetensors";
    predictor.write(first, 0, 10);
    predictor.write(second, 10);
    std::string map;
    for (const std::filesystem::path& shard : {first, second}) {
        const tg::io::SafetensorsFile file(shard);
        for (const tg::io::TensorInfo& info : file.tensors()) {
            map += (map.empty() ? "\"" : ", \"") + info.name + "\": \"" + shard.filename().string() + "\"";
        }
    }
    const std::filesystem::path index = scratch.file("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
    const std::string found = refusal([&] { (void)tg::kronos::load<Model>(part("tokenizer"), index); });
    INFO(found);
    CHECK(found.starts_with("The 2 files from '" + first.string() + "' to '" + second.string() +
                            "' lack the tensor 'head.proj_s1.bias'; check that the files are a Kronos checkpoint"));
}

TEST_CASE("each part may have a prefix of its own before its names") {
    const ScratchFolder scratch;
    const std::filesystem::path tokenizer = scratch.path() / "tokenizer.safetensors";
    const std::filesystem::path predictor = scratch.path() / "predictor.safetensors";
    const auto write = [&](const std::string& of_tokenizer, const std::string& of_predictor) {
        Without one(part("tokenizer"), "");
        one.prepend(of_tokenizer);
        one.write(tokenizer);
        Without other(part("predictor"), "");
        other.prepend(of_predictor);
        other.write(predictor);
    };
    const auto found = [&] { return refusal([&] { (void)tg::kronos::load<Model>(tokenizer, predictor); }); };
    write("vq.", "lm.");
    CHECK(found().find("'" + tokenizer.string() + "' lacks the tensor 'embed.weight', and has all ") == 0);
    CHECK(found().find("that are missing with 'vq.' before the name") != std::string::npos);
    write("", "lm.");
    CHECK(found().find("that are missing with 'lm.' before the name") != std::string::npos);
    // What wraps a model in training is none.
    write("module.", "_orig_mod.");
    CHECK_NOTHROW((void)tg::kronos::load<Model>(tokenizer, predictor));
}

TEST_CASE("each tensor that the programs read is of the part that holds it") {
    for (const std::size_t number : {std::size_t{0}, std::size_t{1}}) {
        const tg::io::SafetensorsFile file(part(number == 0 ? "tokenizer" : "predictor"));
        for (const tg::io::TensorInfo& info : file.tensors()) {
            INFO(info.name);
            CHECK(tg::kronos::checkpoint_rules.part_of(info.name) == number);
        }
    }
}
