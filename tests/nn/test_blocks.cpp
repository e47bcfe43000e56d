// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/gated_layer.hpp>
#include <totograph/nn/half_split.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/layer_norm.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/student_t.hpp>
#include <totograph/nn/transformer_layer.hpp>

using namespace totograph;

namespace {

constexpr Index width = 12;
using Norm = nn::RmsNorm<nn::RmsNormSize{.width = width}>;
using Attention = nn::Attention<nn::AttentionSize{.width = width, .heads = 3}>;
using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = width, .hidden = 20}>;
using Layer = nn::TransformerLayer<Norm, Attention, FeedForward>;
using Mlp = nn::ResidualMlp<nn::ResidualMlpSize{.in = 8, .hidden = 20, .out = width}>;
using Head = nn::StudentTHead<nn::StudentTHeadSize{.width = width, .components = 4}>;

static_assert(nn::Block<Layer> && nn::Block<Mlp> && nn::Block<Head> &&
              nn::Block<nn::LayerNorm<nn::LayerNormSize{.width = width}>> &&
              nn::Block<nn::PatchEmbedding<nn::PatchEmbeddingSize{.patch_size = 8, .width = width}>> &&
              nn::Block<nn::Rotary<nn::RotarySize{.head_dim = 4}>>);

constexpr Layer layer_of(Recorder& r, int number) {
    constexpr auto prefix = "layers.{}"_name;
    return {.norm1 = {r, prefix + ".norm1.weight"_name, 1e-5, number},
            .attention = {.projections = {.query = {r, prefix + ".q"_name, number},
                                          .key = {r, prefix + ".k"_name, number},
                                          .value = {r, prefix + ".v"_name, number}},
                          .output = {r, prefix + ".o"_name, number}},
            .norm2 = {r, prefix + ".norm2.weight"_name, 1e-5, number},
            .feed_forward = {.gate = {.projection = {r, prefix + ".in"_name, number}},
                             .down = {r, prefix + ".out"_name, number}}};
}

struct GatedNames {
    static constexpr auto norm1 = "layers.{}.norm1"_name;
    static constexpr auto query = "layers.{}.q"_name;
    static constexpr auto key = "layers.{}.k"_name;
    static constexpr auto value = "layers.{}.v"_name;
    static constexpr auto output = "layers.{}.o"_name;
    static constexpr auto norm2 = "layers.{}.norm2"_name;
    static constexpr auto gate = "layers.{}.gate"_name;
    static constexpr auto up = "layers.{}.up"_name;
    static constexpr auto down = "layers.{}.down"_name;
};

/// Parts that are made in the braces of a constant, biases among them, plain and padded.
struct InBraces {
    static constexpr void record(Recorder& r) {
        const Attention plain{.projections = {{r, "q"_name}, {r, "k"_name}, {r, "v"_name}}, .output = {r, "o"_name}};
        constexpr nn::AttentionSize size{.width = width, .heads = 3};
        const nn::HalfSplitAttention<size> split{
            nn::HalfSplitProjections<size>{{{r, "q"_name}, {r, "k"_name}, {r, "v"_name}}}, {r, "o"_name}};
        const Tensor x = r.state("x", {1, 1, 1, 2, width});
        const Tensor valid = r.state("valid", {1}, DType::i32);
        const auto attend = [&](const auto& attention) {
            const nn::QueryKeyValue given = attention.project(x);
            return attention.output.record(attention.causal(given.query, given.key, given.value, valid));
        };
        r.store(r.state("y", x.shape()), attend(plain) + attend(split));
    }
};
static_assert(record<InBraces>().error.kind == ModelErrorKind::none);

/// Elements of all weights of a graph, and twice the elements of those that are multiplied.
struct Counted {
    Index parameters = 0;
    Index flops_per_row = 0;
};

constexpr Counted count(const Graph& graph) {
    Counted counted;
    for (const Node& node : graph.nodes) {
        counted.parameters += node.op == Op::weight ? node.shape.size() : 0;
        counted.flops_per_row += node.op == Op::linear ? 2 * graph.input(node, 1).shape.size() : 0;
    }
    return counted;
}

}  // namespace

TEST_CASE("a layer of blocks records what the functions record that it is made of") {
    const Shape shape{2, 1, 3, 5, width};
    Recorder blocks;
    {
        const Tensor x = blocks.state("x", shape);
        const Tensor valid = blocks.state("valid", {2}, DType::i32);
        const Layer layer = layer_of(blocks, 7);
        const Tensor y = layer.record(x, [&](const nn::QueryKeyValue& projected) {
            return layer.attention.causal(projected.query, projected.key, projected.value, valid);
        });
        blocks.store(blocks.state("y", shape), y);
    }

    Recorder plain;
    {
        const auto weight = [&](const char* name, const Shape& of) { return plain.weight(name, of, 7); };
        const Tensor x = plain.state("x", shape);
        const Tensor valid = plain.state("valid", {2}, DType::i32);
        const Tensor norm1 = weight("layers.{}.norm1.weight", {width});
        const Tensor q = weight("layers.{}.q.weight", {width, width});
        const Tensor q_bias = weight("layers.{}.q.bias", {width});
        const Tensor k = weight("layers.{}.k.weight", {width, width});
        const Tensor k_bias = weight("layers.{}.k.bias", {width});
        const Tensor v = weight("layers.{}.v.weight", {width, width});
        const Tensor v_bias = weight("layers.{}.v.bias", {width});
        const Tensor o = weight("layers.{}.o.weight", {width, width});
        const Tensor o_bias = weight("layers.{}.o.bias", {width});
        const Tensor norm2 = weight("layers.{}.norm2.weight", {width});
        const Tensor in = weight("layers.{}.in.weight", {40, width});
        const Tensor in_bias = weight("layers.{}.in.bias", {40});
        const Tensor down = weight("layers.{}.out.weight", {width, 20});
        const Tensor down_bias = weight("layers.{}.out.bias", {width});

        const Tensor normed = nn::rms_norm(x, norm1, 1e-5);
        const Tensor query = linear(normed, q, q_bias);
        const Tensor key = linear(normed, k, k_bias);
        const Tensor value = linear(normed, v, v_bias);
        const Tensor attended = nn::causal_attention(query, key, value, valid, {.heads = 3});
        const Tensor hidden = x + linear(attended, o, o_bias);
        const Tensor again = nn::rms_norm(hidden, norm2, 1e-5);
        const Tensor gate_weight = slice(in, 0, 0, 20);
        const Tensor gate = linear(again, gate_weight, slice(in_bias, 0, 0, 20));
        const Tensor up_weight = slice(in, 0, 20, 20);
        const Tensor up = linear(again, up_weight, slice(in_bias, 0, 20, 20));
        const Tensor y = hidden + linear(silu(gate) * up, down, down_bias);
        plain.store(plain.state("y", shape), y);
    }
    CHECK(blocks.graph().error.kind == ModelErrorKind::none);
    CHECK(blocks.graph().nodes == plain.graph().nodes);
}

TEST_CASE("what a block says of its weights and GEMMs is what it records") {
    SUBCASE("a layer") {
        Recorder r;
        (void)layer_of(r, 0).record(r.state("x", {1, 1, 1, 5, width}),
                                    [](const nn::QueryKeyValue& projected) { return projected.value; });
        CHECK(Layer::parameters == count(r.graph()).parameters);
        CHECK(Layer::parameter_bytes == 4 * Layer::parameters);
        CHECK(Layer::flops_per_row == count(r.graph()).flops_per_row);
        CHECK(Attention::flops_per_key == 4 * width);
    }
    SUBCASE("an attention of grouped queries, whose heads are narrower than its rows") {
        using Grouped = nn::Attention<nn::AttentionSize{
            .width = width, .heads = 4, .kv_heads = 2, .head_dim = 2, .value_dim = 3, .bias = false}>;
        Recorder r;
        const Grouped grouped{.projections = {.query = {r, "q"_name}, .key = {r, "k"_name}, .value = {r, "v"_name}},
                              .output = {r, "o"_name}};
        const nn::QueryKeyValue projected = grouped.project(r.state("x", {1, 1, 1, 5, width}));
        const Tensor valid = r.state("valid", {1}, DType::i32);
        (void)grouped.output.record(grouped.causal(projected.query, projected.key, projected.value, valid));
        CHECK(r.graph().error.kind == ModelErrorKind::none);
        CHECK(projected.query.extent(-1) == 8);
        CHECK(projected.key.extent(-1) == Grouped::key_width);
        CHECK(projected.value.extent(-1) == Grouped::value_width);
        CHECK(Grouped::key_width == 4);
        CHECK(Grouped::value_width == 6);
        CHECK(Grouped::parameters == count(r.graph()).parameters);
        CHECK(Grouped::flops_per_row == count(r.graph()).flops_per_row);
        CHECK(Grouped::flops_per_key == 2 * 8 + 2 * 12);
    }
    SUBCASE("a gated layer of grouped queries") {
        using Gated = nn::GatedLayer<nn::GatedLayerSize{.width = width, .heads = 3, .kv_heads = 1, .hidden = 20}>;
        Recorder r;
        const Gated::Layer layer = Gated::read<GatedNames>(r, 1e-5, 2);
        const Tensor x = r.state("x", {1, 1, 1, 5, width});
        const Tensor valid = r.state("valid", {1}, DType::i32);
        (void)layer.record(x, [&](const nn::QueryKeyValue& projected) {
            CHECK(projected.query.extent(-1) == width);
            CHECK(projected.key.extent(-1) == 4);
            return layer.attention.causal(projected.query, projected.key, projected.value, valid);
        });
        CHECK(r.graph().error.kind == ModelErrorKind::none);
        CHECK(Gated::Layer::parameters == count(r.graph()).parameters);
        CHECK(Gated::Layer::flops_per_row == count(r.graph()).flops_per_row);
    }
    SUBCASE("a perceptron of two layers") {
        using Gelu = nn::GeluMlp<nn::GeluMlpSize{.width = width, .hidden = 20}>;
        Recorder r;
        const Gelu gelu{.first = {r, "first"_name}, .second = {r, "second"_name}};
        (void)gelu.record(r.state("x", {5, width}));
        CHECK(Gelu::parameters == count(r.graph()).parameters);
        CHECK(Gelu::flops_per_row == count(r.graph()).flops_per_row);
    }
    SUBCASE("a perceptron with a skip connection") {
        Recorder r;
        const Mlp mlp{.first = {r, "first"_name}, .second = {r, "second"_name}, .skip = {r, "skip"_name}};
        (void)mlp.record(r.state("x", {5, 8}));
        CHECK(Mlp::parameters == count(r.graph()).parameters);
        CHECK(Mlp::flops_per_row == count(r.graph()).flops_per_row);
    }
    SUBCASE("a head") {
        Recorder r;
        const Head head{.degrees_of_freedom = {r, "df"_name},
                        .location = {r, "location"_name},
                        .scale = {r, "scale"_name},
                        .logits = {r, "logits"_name}};
        (void)head.record(r.state("x", {1, 1, 1, 1, 5, width}));
        CHECK(Head::parameters == count(r.graph()).parameters);
        CHECK(Head::flops_per_row == count(r.graph()).flops_per_row);
    }
    SUBCASE("a gated feed-forward without biases, with a weight for each branch") {
        constexpr nn::SwiGluSize size{.width = width, .hidden = 20, .bias = false};
        using Separate = nn::SwiGlu<size, nn::SeparateGate<size>>;
        Recorder r;
        const Separate block{.gate = {.gate = {r, "w1"_name}, .up = {r, "w3"_name}}, .down = {r, "w2"_name}};
        (void)block.record(r.state("x", {5, width}));
        CHECK(Separate::parameters == count(r.graph()).parameters);
        CHECK(Separate::flops_per_row == count(r.graph()).flops_per_row);
    }
}

TEST_CASE("a block that is given rows of another width names itself, its numbers and what it found") {
    Recorder r;
    const FeedForward feed_forward{.gate = {.projection = {r, "in"_name}}, .down = {r, "out"_name}};
    (void)feed_forward.record(r.state("x", {4, 7}));
    CHECK(r.graph().error.kind == ModelErrorKind::block_width_differs);
    const std::string message(r.graph().error.message());
    CAPTURE(message);
    CHECK(message.starts_with("SwiGlu<"));
    CHECK(message.find("{12, 20, ") != std::string::npos);
    CHECK(message.ends_with(": it takes rows of 12, found x of shape [4, 7]"));
}

TEST_CASE("a block that was made without its weights is a mistake, and no crash") {
    using Linear = nn::Linear<nn::LinearSize{.in = width, .out = 4}>;
    Recorder r;
    const Tensor x = r.state("x", {2, width});
    CHECK(Linear().record(x).shape() == x.shape());
    const Graph graph = r.take_graph();
    CHECK(graph.error.kind == ModelErrorKind::tensor_is_missing);
    CHECK(graph.error.message() == "linear: x of shape [2, 12] has no weight");

    Recorder half;
    Linear without_bias;
    without_bias.weight = half.weight("w", {4, width});
    (void)without_bias.record(half.state("x", {2, width}));
    CHECK(half.graph().error.message() == "linear: x of shape [2, 12] has no bias");
}

TEST_CASE("names are joined while compiling") {
    constexpr auto name = "layers.{}"_name + ".norm"_name + ".weight"_name;
    static_assert(name.value == "layers.{}.norm.weight");
    Recorder r;
    CHECK(r.weight(name, {3}, 2).node().name == "layers.{}.norm.weight");
}
