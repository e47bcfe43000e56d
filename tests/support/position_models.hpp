// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

// Models that use positions which are data, each in another way.

namespace totograph::test {

/// What a model's error tells when a position is out of bounds.
struct PositionCase {
    const char* positions;  ///< The state that holds them.
    const char* name;       ///< What they index.
    std::int32_t last;      ///< The largest one that is possible.
    std::int32_t capacity;
};

/// A view at a position that is a state, read by a chain.
struct TakenView {
    static constexpr PositionCase expected{"at", "source", 4, 5};
    static constexpr void record(Recorder& r) {
        r.store(r.state("out", {2, 1, 4}), take(r.state("source", {2, 5, 4}), 1, r.state("at", {1}, DType::i32)) * 2.0);
    }
};

/// A copy for each series, at positions that are computed.
struct TakenBySeries {
    static constexpr PositionCase expected{"at", "source", 4, 5};
    static constexpr void record(Recorder& r) {
        const Tensor positions = r.state("at", {2}, DType::i32) + 0.0;
        r.store(r.state("out", {2, 1, 4}), take(r.state("source", {2, 5, 4}), 1, positions));
    }
};

/// A store for each series.
struct StoredBySeries {
    static constexpr PositionCase expected{"at", "target", 3, 5};
    static constexpr void record(Recorder& r) {
        r.store_at(r.state("target", {2, 5, 4}), r.state("x", {2, 2, 4}), 1, r.state("at", {2}, DType::i32));
    }
};

/// A GEMM that writes at a position.
struct StoredGemm {
    static constexpr PositionCase expected{"at", "target", 4, 5};
    static constexpr void record(Recorder& r) {
        const Tensor gemm = linear(r.state("x", {1, 1, 8}), r.weight("w", {4, 8}), r.weight("b", {4}));
        r.store_at(r.state("target", {1, 5, 4}), gemm, 1, r.state("at", {1}, DType::i32));
    }
};

/// A query over a prefix and a suffix whose lengths are data.
struct Cached {
    static constexpr void record(Recorder& r) {
        const Tensor query = r.state("query", {2, 1, 1, 1, 8});
        r.store(r.state("out", {2, 1, 1, 1, 8}),
                nn::cached_attention(query,
                                     {r.state("prefix.keys", {2, 1, 1, 6, 8}),
                                      r.state("prefix.values", {2, 1, 1, 6, 8}), r.state("prefix", {2}, DType::i32)},
                                     {r.state("suffix.keys", {2, 1, 1, 3, 8}),
                                      r.state("suffix.values", {2, 1, 1, 3, 8}), r.state("suffix", {1}, DType::i32)},
                                     {.heads = 2}));
    }
};

struct CachedPrefix : Cached {
    static constexpr PositionCase expected{"prefix", "prefix.keys", 6, 6};
};
struct CachedSuffix : Cached {
    static constexpr PositionCase expected{"suffix", "suffix.keys", 3, 3};
};

}  // namespace totograph::test
