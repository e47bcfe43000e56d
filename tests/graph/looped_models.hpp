// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/programs.hpp>
#include <totograph/models/toto1/rewrites.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/programs.hpp>

// Models with loops, each of which repeats its layers in another way.

namespace looped_models {

using namespace totograph;

inline constexpr Index width = 8;

/// A norm, gated products, two residuals and a cache: what crosses from one layer to the next is fused.
constexpr Tensor record_layer(Recorder& r, Tensor x, Tensor shared, LayerIndex layer) {
    const Tensor scale = r.weight("layers.{}.scale", {width}, layer);
    const Tensor normed = x * rsqrt(mean(x * x) + 1e-5) * scale;
    const Tensor gate = linear(normed, r.weight("layers.{}.gate", {width, width}, layer));
    const Tensor value = linear(normed, r.weight("layers.{}.value", {width, width}, layer));
    r.store(r.state("cache", {3, width}, DType::f32, layer), value * shared);
    const Tensor hidden = x + linear(silu(gate) * value, r.weight("layers.{}.down", {width, width}, layer));
    return hidden + tanh(linear(hidden, r.weight("layers.{}.last", {width, width}, layer)));
}

template <int layers>
struct Stack {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor shared = cos(x);
        const Tensor y = repeat(layers, x * 2.0,
                                [&](Tensor input, LayerIndex layer) { return record_layer(r, input, shared, layer); });
        r.store(r.state("y", {3, width}), linear(y, r.weight("out", {width, width})));
    }
};

/// A row from its end to its begin.
struct Reversed {
    static constexpr std::string_view name = "reversed";
    static constexpr Shape shape(Shape x) { return x; }
    template <class Output, class Input>
    static void run(Output y, Input x) noexcept {
        for (Index row = 0; row < Input::shape[0]; ++row) {
            for (Index i = 0; i < Input::shape[1]; ++i) {
                y(row, i) = x(row, Input::shape[1] - 1 - i);
            }
        }
    }
};

/// Layers with code of a user's own.
struct WithOpaque {
    using operations = OperationSet<Reversed>;

    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(12, r.state("x", {3, width}), [&](Tensor x, LayerIndex layer) {
            return tanh(opaque<Reversed>(x) * r.weight("layers.{}.scale", {width}, layer));
        });
        r.store(r.state("y", {3, width}), y);
    }
};

/// Layers of one residual each: what they add to changes its place.
template <int layers>
struct Alternating {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(layers, r.state("x", {3, width}), [&](Tensor x, LayerIndex layer) {
            return x + tanh(linear(x, r.weight("layers.{}.weight", {width, width}, layer)));
        });
        r.store(r.state("y", {3, width}), y);
    }
};

/// Two layers and another one, again and again.
struct Groups {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor y = repeat(13, x, [&](Tensor input, LayerIndex group) {
            input = repeat(
                2, input, [&](Tensor inner, LayerIndex place) { return record_layer(r, inner, x, group * 3 + place); });
            return input + tanh(linear(input, r.weight("layers.{}.other", {width, width}, group * 3 + 2)));
        });
        r.store(r.state("y", {3, width}), y);
    }
};

/// Reads one layer's cache by its number after the loop, so that the planner must know which iteration wrote it.
struct ReadsOneLayer {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor y = repeat(8, x, [&](Tensor input, LayerIndex layer) { return record_layer(r, input, x, layer); });
        r.store(r.state("y", {3, width}), y + r.state("cache", {3, width}, DType::f32, 5));
    }
};

/// The same, with another stack behind it.
struct OneDiffers {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const auto record = [&](Tensor input, LayerIndex layer) { return record_layer(r, input, x, layer); };
        const Tensor between =
            linear(repeat(8, x, record) + r.state("cache", {3, width}, DType::f32, 5), r.weight("b", {width, width}));
        const Tensor y = repeat(12, between, [&](Tensor input, LayerIndex layer) { return record(input, layer + 20); });
        r.store(r.state("y", {3, width}), y);
    }
};

/// Layers that make nothing but what they store, of a tensor from before the loop.
struct WithoutBuffers {
    static constexpr void record(Recorder& r) {
        const Tensor x = linear(r.state("x", {3, width}), r.weight("in", {width, width}));
        const Tensor y = repeat(12, x, [&](Tensor input, LayerIndex layer) {
            r.store(r.state("cache", {3, width}, DType::f32, layer),
                    linear(input, r.weight("layers.{}.value", {width, width}, layer)));
            return input;
        });
        r.store(r.state("y", {3, width}), y * 2.0);
    }
};

/// Stores late what is computed before the loop: the step before the loop writes a state that is declared behind it.
struct StoresLate {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor early = exp(x * 3.0);
        const Tensor y =
            repeat(12, x, [&](Tensor input, LayerIndex layer) { return record_layer(r, input, x, layer); });
        r.store(r.state("y", {3, width}), y);
        r.store(r.state("z", {3, width}), early);
    }
};

/// Layers with a concatenation, and one of what they give: parts are written in place.
struct Concatenates {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor y = repeat(12, x * 2.0, [&](Tensor input, LayerIndex layer) {
            const Tensor inner = silu(linear(input, r.weight("layers.{}.in", {width, width}, layer)));
            const Tensor both = concatenate(inner, x, 1);
            return input + tanh(linear(both, r.weight("layers.{}.out", {width, 2 * width}, layer)));
        });
        r.store(r.state("y", {3, 8}), linear(concatenate(y, x, 1), r.weight("out", {8, 2 * width})));
    }
};

/// Two stacks of layers with another product between them. Do layers of both write the same caches?
template <bool shares_caches>
struct TwoStacks {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const auto record = [&](Tensor input, LayerIndex layer) { return record_layer(r, input, x, layer); };
        const Tensor between = linear(repeat(9, x * 2.0, record), r.weight("between", {width, width}));
        const Tensor y = repeat(7, between, [&](Tensor input, LayerIndex layer) {
            return record(input, layer + (shares_caches ? 8 : 20));
        });
        r.store(r.state("y", {3, width}), y + between);
    }
};

/// Two stacks, some of whose layers have the same weights: as recorded, the last layer of the first has the number of a
/// layer of the second.
struct TiedStacks {
    static constexpr void record(Recorder& r) {
        const auto record = [&](Tensor x, LayerIndex layer) {
            const Tensor hidden = x + tanh(linear(x, r.weight("layers.{}.first", {width, width}, layer)));
            return hidden + tanh(linear(hidden, r.weight("layers.{}.second", {width, width}, layer)));
        };
        const Tensor between = repeat(9, r.state("x", {3, width}), record);
        const Tensor y = repeat(9, between * 0.5, [&](Tensor x, LayerIndex layer) { return record(x, layer + 3); });
        r.store(r.state("y", {3, width}), y);
    }
};

/// Hands on a factor of weights alone beside what is computed.
struct Growing {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const auto [y, factor] =
            repeat(12, std::array{x, r.constant(1)}, [&](const std::array<Tensor, 2>& given, LayerIndex layer) {
                const Tensor grown = given[1] * (r.weight("layers.{}.growth", {}, layer) + 1.0);
                return std::array{record_layer(r, given[0], x * grown, layer), grown};
            });
        r.store(r.state("y", {3, width}), y / factor);
    }
};

/// Layers from the last to the first, one of whose caches may be read before all of them are written.
template <bool reads_a_cache>
struct CountsDown {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, width});
        const Tensor before = reads_a_cache ? r.state("cache", {3, width}, DType::f32, 5) * 2.0 : x * 2.0;
        const Tensor y =
            repeat(12, x, [&](Tensor input, LayerIndex layer) { return record_layer(r, input, x, layer * -1 + 11); });
        r.store(r.state("y", {3, width}), y + before);
    }
};

struct SmallToto {
    static constexpr toto1::Toto1Config config{.patch_size = 4,
                                               .embed_dim = 24,
                                               .num_layers = 13,
                                               .num_heads = 2,
                                               .mlp_hidden_dim = 32,
                                               .spacewise_every_n_layers = 13,
                                               .k_components = 3};
};
inline constexpr Bucket bucket{.batch = 2, .variates = 3, .context = 30, .horizon = 9, .samples = 5};
using Prefill = toto1::Prefill<SmallToto, bucket, toto1::Rewrites{}>;
using Decode = toto1::Decode<SmallToto, bucket, toto1::Rewrites{}>;

/// As the published models of this family: a variate layer ends the only group.
template <int layers>
struct SmallToto2 {
    static constexpr toto2::Toto2Config config{.patch_size = 4,
                                               .d_model = 16,
                                               .d_ff = 24,
                                               .num_heads = 2,
                                               .num_layers = layers,
                                               .layer_group_size = layers,
                                               .qk_dim = 8,
                                               .v_dim = 8};
    static constexpr toto2::Inference inference{.decode_block_size = 8};
};
inline constexpr Bucket in_blocks{.variates = 3, .context = 30, .horizon = 20};
template <int layers>
using FirstPass = toto2::First<SmallToto2<layers>, in_blocks>;

/// As `SmallToto`, with the two groups that a deeper one has.
struct TwoGroups {
    static constexpr toto1::Toto1Config config = [] {
        toto1::Toto1Config result = SmallToto::config;
        result.num_layers = 12;
        result.spacewise_every_n_layers = 6;
        return result;
    }();
};
using DecodeOfGroups = toto1::Decode<TwoGroups, bucket, toto1::Rewrites{}>;

}  // namespace looped_models
