// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/models/nanovlm/family.hpp>

#include "io/support.hpp"
#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "support/refusal.hpp"

// Configurations and checkpoints: what is accepted, and the sentence for what is not.

namespace {

namespace tg = totograph;
using tg::Index;
using tg::test::content_of;
using tg::test::ScratchFolder;
using Model = nanovlm_cases::vision_and_language;
using nanovlm_fixture::folder;

/// A checkpoint on its way into a file: names and values.
struct Checkpoint {
    std::map<std::string, std::vector<Index>> shapes;
    std::map<std::string, std::vector<float>> values;

    Checkpoint() {
        const tg::io::SafetensorsFile file(folder("vision_and_language") / "model.safetensors");
        for (const auto& info : file.tensors()) {
            shapes[info.name] = info.shape;
            std::size_t size = 1;
            for (const Index extent : info.shape) {
                size *= static_cast<std::size_t>(extent);
            }
            values[info.name].resize(size);
            file.copy_to_float(info, values[info.name]);
        }
    }
    void rename(const std::string& from, const std::string& to, bool keep = false) {
        shapes[to] = shapes.at(from);
        values[to] = values.at(from);
        if (!keep) {
            shapes.erase(from);
            values.erase(from);
        }
    }
};

/// Loads a checkpoint with this text as its configuration.
template <class Loaded = Model>
tg::ModelWeights<Loaded> load(const Checkpoint& checkpoint, const std::string& config) {
    const ScratchFolder scratch;
    std::vector<tg::io::TensorToWrite> list;
    for (const auto& [name, shape] : checkpoint.shapes) {
        list.push_back({.name = name, .shape = shape});
        list.back().values = checkpoint.values.at(name);
    }
    tg::io::write_safetensors(scratch.path() / "model.safetensors", list);
    (void)scratch.file("config.json", config);
    return tg::load<Loaded>(scratch.path());
}

std::string own_config() {
    return content_of(folder("vision_and_language") / "config.json");
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

constexpr const char* head = "decoder.head.weight";
constexpr const char* embedding = "decoder.token_embedding.weight";

}  // namespace

TEST_CASE("the published sizes have the reference's parameters") {
    using namespace tg::nanovlm;
    static_assert(vlm_460m::config.lm.parameters() == 361'884'480);
    static_assert(vlm_460m::config.vit.parameters() == 86'433'024);
    static_assert(vlm_460m::config.parameters() == 460'113'984);
    static_assert(vlm_230m::config.parameters() == 228'063'936);
    static_assert(vlm_222m::config.parameters() == 222'081'600);
    static_assert(check_config<vlm_460m>() && check_config<vlm_230m>() && check_config<vlm_222m>());
    static_assert(check_config<TextOnly<vlm_460m>>() && check_config<WithImages<vlm_460m, 17>>());

    // So many numbers its programs read.
    Index read = 0;
    for (const tg::NamedShape& tensor : tg::checkpoint_tensors<vlm_222m>()) {
        read += tensor.shape.size();
    }
    CHECK(read == 222'081'600);
}

TEST_CASE("a tied matrix may have either name, or both") {
    const auto read = [](const tg::ModelWeights<Model>& weights) {
        std::vector<float> values(53 * 48);
        weights.weights.source().read(head, {53, 48}, values);
        return values;
    };
    const Checkpoint stored;
    const std::vector<float> expected = stored.values.at(head);
    CHECK(read(load(stored, own_config())) == expected);
    Checkpoint renamed;
    renamed.rename(head, embedding);
    CHECK(read(load(renamed, own_config())) == expected);
    renamed.rename(embedding, head, true);
    CHECK(read(load(renamed, own_config())) == expected);

    Checkpoint wrapped = renamed;
    wrapped.rename(head, "_orig_mod.decoder.head.weight");
    wrapped.rename(embedding, "_orig_mod.decoder.token_embedding.weight");
    CHECK(read(load(wrapped, own_config())) == expected);
    wrapped.values.at("_orig_mod.decoder.token_embedding.weight").back() += 1;
    CHECK(refusal([&] {
              (void)load(wrapped, own_config());
          }).find("and '_orig_mod.decoder.token_embedding.weight' are one tensor under two") != std::string::npos);

    Checkpoint differing = renamed;
    differing.values.at(embedding).back() += 1;
    const std::string both = refusal([&] { (void)load(differing, own_config()); });
    CHECK(
        both.find("the tensors 'decoder.head.weight' and 'decoder.token_embedding.weight' are one tensor under two") !=
        std::string::npos);

    Checkpoint neither;
    neither.rename(head, "decoder.headless.weight");
    CHECK(refusal([&] { (void)load(neither, own_config()); }).find("lacks the tensor 'decoder.head.weight'") !=
          std::string::npos);
}

TEST_CASE("a head that is no embedding has both names, each with its numbers") {
    const auto weights = nanovlm_fixture::load<nanovlm_cases::left_padded>("left_padded");
    std::vector<float> of_head(83 * 60);
    std::vector<float> of_embedding(83 * 60);
    weights.weights.source().read(head, {83, 60}, of_head);
    weights.weights.source().read(embedding, {83, 60}, of_embedding);
    CHECK(of_head != of_embedding);
}

TEST_CASE("what a model does not have is refused") {
    Checkpoint more;
    more.rename("decoder.norm.weight", "decoder.blocks.0.attn.q_proj.bias", true);
    CHECK(refusal([&] { (void)load(more, own_config()); }).find("'decoder.blocks.0.attn.q_proj.bias'") !=
          std::string::npos);
    Checkpoint other;
    other.shapes["MP.proj.weight"] = {128, 48};
    CHECK(refusal([&] { (void)load(other, own_config()); }).find("'MP.proj.weight'") != std::string::npos);
}

TEST_CASE("all fields of a configuration that differ are told") {
    const Checkpoint stored;
    std::string config = with(own_config(), "\"lm_n_kv_heads\": 2", "\"lm_n_kv_heads\": 4");
    config = with(config, "\"lm_re_base\": 100000", "\"lm_re_base\": 10000");
    config = with(config, "\"lm_attn_scaling\": 1.0", "\"lm_attn_scaling\": 0.5");
    config = with(config, "\"vit_cls_flag\": false", "\"vit_cls_flag\": true");
    config = with(config, "\"mp_pixel_shuffle_factor\": 2,", "");
    const std::string sentence = refusal([&] { (void)load(stored, config); });
    for (const char* part :
         {"'lm_n_kv_heads': expected 2, found 4", "'lm_re_base': expected 100000, found 10000",
          "'lm_attn_scaling': expected 1", "'vit_cls_flag': expected false, found true", "'mp_pixel_shuffle_factor'"}) {
        CHECK_MESSAGE(sentence.find(part) != std::string::npos, sentence);
    }
    CHECK(sentence.find("lm_hidden_dim") == std::string::npos);
}

TEST_CASE("of fields that touch no number any may be there") {
    const Checkpoint stored;
    (void)load(stored, with(own_config(), "{", R"({"lm_dropout": 0.0, "vlm_name": "x",)"));
}
