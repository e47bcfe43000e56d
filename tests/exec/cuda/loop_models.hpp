// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

// Models whose layers are loops.

namespace loop_models {

using namespace totograph;

/// A layer of two projections that add to the residual: with enough rows, clusters compute each together with the norm
/// of what follows. One of what they read is cached.
template <Index rows>
constexpr Tensor record_layer(Recorder& r, Tensor x, LayerIndex layer) {
    constexpr Index width = 512;
    const auto weight = [&](std::string_view name) { return r.weight(name, {width, width}, layer); };
    const auto norm = [&](Tensor of, std::string_view scale) {
        return of * rsqrt(mean(of * of) + 1e-5) * r.weight(scale, {width}, layer);
    };
    const Tensor value = linear(norm(x, "layers.{}.norm1"), weight("layers.{}.value"));
    r.store(r.state("cache", {rows, width}, DType::f32, layer), value);
    const Tensor hidden =
        x + linear(silu(value), weight("layers.{}.out"), r.weight("layers.{}.out.bias", {width}, layer));
    const Tensor wide = tanh(linear(norm(hidden, "layers.{}.norm2"), weight("layers.{}.up")));
    return hidden + linear(wide, weight("layers.{}.down"), r.weight("layers.{}.down.bias", {width}, layer));
}

template <int layers, Index rows>
struct Stack {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {rows, 512});
        const Tensor y =
            repeat(layers, x, [&](Tensor input, LayerIndex layer) { return record_layer<rows>(r, input, layer); });
        r.store(r.state("y", {rows, 512}), y);
    }
};

/// Layers of one residual each: what they add to changes its place, so that two layers are one iteration.
struct Alternating {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(13, r.state("x", {100, 64}), [&](Tensor x, LayerIndex layer) {
            return x + tanh(linear(x, r.weight("layers.{}.weight", {64, 64}, layer)));
        });
        r.store(r.state("y", {100, 64}), y);
    }
};

/// Layers of small steps, of which one launch takes several layers.
struct SmallSteps {
    static constexpr void record(Recorder& r) {
        const Tensor y = repeat(12, r.state("x", {4, 64}), [&](Tensor x, LayerIndex layer) {
            return cumsum(x * r.weight("layers.{}.scale", {64}, layer));
        });
        r.store(r.state("y", {4, 64}), y);
    }
};

/// Two stacks, with another product between them or one right behind the other.
template <bool has_product>
struct TwoStacks {
    static constexpr void record(Recorder& r) {
        const auto record = [&](Tensor input, LayerIndex layer) { return record_layer<1792>(r, input, layer); };
        Tensor x = repeat(9, r.state("x", {1792, 512}), record);
        x = has_product ? tanh(linear(x, r.weight("between", {512, 512}))) : x;
        x = repeat(9, x, [&](Tensor input, LayerIndex layer) { return record(input, layer + 20); });
        r.store(r.state("y", {1792, 512}), x);
    }
};

}  // namespace loop_models
