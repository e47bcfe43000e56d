// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_source.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/models/nanovlm/vision.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "support/check_rows.hpp"

// A vision encoder with a class token has no family: no language model reads it. So its program stands here.

namespace {

namespace tg = totograph;
using Case = nanovlm_cases::vision_class_token;

struct Encoder {
    static constexpr void record(tg::Recorder& r) {
        using Vision = tg::nanovlm::Vision<Case::config>;
        tg::Tensor x = Vision::embed(r.state("pixels", {Case::images, 3, 18, 18}));
        r.tap("patch_embedding", x);
        x = repeat(Case::config.vit_n_blocks, x, [](tg::Tensor input, tg::LayerIndex number) {
            const tg::Tensor result = Vision::layer(input, number);
            result.recorder().tap("layer", result, number);
            return result;
        });
        r.tap("vit_out", Vision::finish(x));
    }
};

tg::Weights weights() {
    std::vector<tg::NamedShape> tensors;
    const tg::Graph graph = tg::record<Encoder>();
    for (const tg::Node& node : graph.nodes) {
        if (node.op == tg::Op::weight) {
            tensors.push_back({tg::full_name(node), node.shape});
        }
    }
    static constexpr tg::CheckpointRules others_too{
        .family = "nanoVLM", .is_ignored = [](std::string_view name) { return !name.starts_with("vision_encoder."); }};
    return tg::Weights(std::make_shared<tg::CheckpointSource>(
        tg::io::find_checkpoint(nanovlm_fixture::folder("vision_class_token")), tensors, others_too));
}

std::shared_ptr<tg::cpu::ThreadPool> one_thread() {
    return std::make_shared<tg::cpu::ThreadPool>(1);
}

template <class Executor>
void check(Executor executor) {
    const nanovlm_fixture::Tensors tensors("vision_class_token");
    const std::vector<float> pixels = tensors["images"];
    std::copy(pixels.begin(), pixels.end(), static_cast<float*>(executor.state("pixels")));
    executor.template run<0>();
    const auto compare = [&](const std::string& name, const char* state, int layer) {
        const std::vector<float> expected = tensors[name];
        const auto* const found = static_cast<const float*>(executor.state(state, layer));
        tg::test::check_rows(name, {found, expected.size()}, expected, Case::config.vit_hidden_dim);
    };
    compare("patch_embedding", "patch_embedding", -1);
    compare("vit_layer_00", "layer", 0);
    compare("vit_layer_01", "layer", 1);
    compare("vit_out", "vit_out", -1);
}

}  // namespace

TEST_CASE("vision_class_token: the eager executor agrees with the reference") {
    check(tg::cpu::EagerExecutor<tg::Program<Encoder, tg::Passes::none(), false>>(weights(), one_thread()));
}
TEST_CASE("vision_class_token: the fused executor agrees with the reference") {
    check(tg::cpu::FusedExecutor<float, tg::Program<Encoder>>(weights(), one_thread()));
}
