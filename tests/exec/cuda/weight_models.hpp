// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

// Models of GEMMs of few and of many rows.

namespace weight_models {

using namespace totograph;

inline constexpr Index few = 8;
inline constexpr Index many = 500;
inline constexpr Index n = 48;
inline constexpr Index k = 40;

/// A weight that few rows are multiplied by, one for many rows, and one for both; and a bias.
struct FewAndMany {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("few", {few, k});
        const Tensor y = r.state("many", {many, k});
        const auto weight = [&](std::string_view name) { return r.weight(name, {n, k}); };
        r.store(r.state("few by its own", {few, n}), linear(x, weight("of_few"), r.weight("bias", {n})));
        r.store(r.state("many by its own", {many, n}), linear(y, weight("of_many"), r.weight("bias", {n})));
        r.store(r.state("few by both", {few, n}), tanh(linear(x, weight("of_both"))));
        r.store(r.state("many by both", {many, n}), tanh(linear(y, weight("of_both"))));
    }
};

/// One GEMM.
template <Index rows, Index columns = n, Index elements = k>
struct OneGemm {
    static constexpr void record(Recorder& r) {
        r.store(r.state("y", {rows, columns}),
                linear(r.state("x", {rows, elements}), r.weight("w", {columns, elements})));
    }
};

}  // namespace weight_models
