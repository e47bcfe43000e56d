// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

namespace totograph::test {

/// Stores a result whose first four axes are bounded by the first four numbers.
constexpr void keep_bounded(Recorder& r, const char* name, Tensor value) {
    r.store(r.state(name, value.shape(), value.dtype(), {}, StateUse::any, AxisBounds{1, 2, 3, 4}), value);
}

/// Kernels of most kinds, all rows of which are bounded: batch, samples, variates and positions of so many columns; and
/// a GEMM of the same input that is not. Not here: ids and draws, which forecasts of Kronos have, and caches with
/// suffixes, which those of Toto have.
template <Index batch, Index samples, Index variates, Index positions, Index width>
struct Bounded {
    static constexpr Shape rows{batch, samples, variates, positions, width};

    static constexpr void record(Recorder& r) {
        constexpr Index half = width / 2;
        (void)r.state("used", {4}, DType::i32, {}, StateUse::bounds);
        const Tensor x = r.state("x", rows);
        const Tensor hidden =
            linear(x / (mean(x * x) + 1.0), r.weight("up", {2 * width, width}), r.weight("bias", {2 * width}));
        keep_bounded(r, "out.gemm", silu(hidden));
        keep_bounded(
            r, "out.gated",
            silu(linear(x, r.weight("gate", {2 * width, width}))) * linear(x, r.weight("value", {2 * width, width})));
        const Tensor all = silu(linear(x, r.weight("all", {2 * width, width})));
        r.store(r.state("out.all", all.shape()), all);
        keep_bounded(r, "out.pointwise", exp(x) + 1.0);
        const Tensor halves = reshape(x, {batch, samples, variates, positions, 2, half});
        keep_bounded(r, "out.permuted", reshape(permute(halves, {0, 1, 2, 3, 5, 4}), rows) * 2.0);
        keep_bounded(r, "out.f64", cast(x, DType::f64) * 3.0);
        keep_bounded(r, "out.sum", sum(cast(x, DType::f64)));
        keep_bounded(r, "out.cumsum", cumsum(exp(x)));
        keep_bounded(r, "out.moments", running_moments(x, nullptr, half, width));
        const Tensor steps = reshape(x, {batch, samples, variates, positions * width});
        keep_bounded(r, "out.grouped", permute(running_moments(steps, nullptr, width, 3), {0, 1, 2, 4, 3}));
        keep_bounded(r, "out.softmax", softmax(x));
        keep_bounded(r, "out.sorted", sort(x));
        keep_bounded(r, "out.joined", concatenate(x, exp(x), 4));
        keep_bounded(r, "out.largest", cast(argmax(x), DType::f32));
        keep_bounded(r, "out.amax", amax(exp(x)));
        const Tensor length = r.state("at.length", {batch}, DType::i32);
        keep_bounded(r, "out.taken", take(exp(x), 3, length - 1.0));
        keep_bounded(r, "out.causal", nn::attention(x, {exp(x), x, length}, {.heads = 2}));
        keep_bounded(r, "out.last",
                     nn::attention(slice(x, 3, positions - 1, 1), {exp(x), x, length},
                                   {.heads = 2, .queries = QueryPlaces::last}));
        keep_bounded(r, "out.masked", nn::attention(x, {exp(x), x, length}, {.heads = 2, .is_causal = false}));
        const Tensor groups = r.state("groups", {batch, variates, positions}, DType::i32);
        keep_bounded(r, "out.variates", nn::variate_attention(x, exp(x), x, groups, {.heads = 2}));
    }
};

}  // namespace totograph::test
