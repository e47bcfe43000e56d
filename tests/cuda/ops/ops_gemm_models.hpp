// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/student_t.hpp>

#include "cuda/ops/ops_layers.hpp"
#include "cuda/ops/ops_states.hpp"

// Models of GEMMs, for sizes that take each way there is to run them: few rows and many, widths that tensor cores
// take and others.

namespace ops {

template <Index rows, Index k, Index columns>
struct Linear {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(r.state("x", {rows, k}), columns));
    }
};

/// What x can be, and what can follow.
struct LinearOfViews {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 32});
        out(layer(slice(x, 2, 16, 16), 24));
        out(layer(slice(x, 1, 1, 1), 24));
        out(layer(reshape(slice(x, 1, 0, 2), {8, 32}), 24));       // uneven rows
        out(layer(reshape(permute(x, {1, 0, 2}), {12, 32}), 24));  // uneven rows
        out(layer(softmax(x), 24) * 2.0);
        out(sum(layer(x, 24)) * 0.5);
        out(softplus(layer(x, 20)) + 2.0);
        out(reshape(layer(x, 24), {12, 24}) + r.state("y", {12, 24}));
        out(layer(layer(x, 64), 16));
    }
};

template <Index rows, Index k, Index columns>
struct Scaled {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(r.state("x", {rows, k}), columns) * 2.0);
    }
};

/// A GEMM whose result a chain goes on with.
template <Index rows, Index k, Index columns>
struct Activated {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(silu(layer(r.state("x", {rows, k}), columns)) * 2.0);
    }
};

/// A GEMM behind which a function runs that is no short epilogue.
template <Index rows, Index k, Index columns>
struct Softened {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(softplus(layer(r.state("x", {rows, k}), columns)));
    }
};

/// A GEMM whose result a chain goes on with, with what it reads for each element, each row and each column.
template <Index rows, Index k, Index columns>
struct ActivatedWithOperands {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor gemm = layer(r.state("x", {rows, k}), columns);
        out(silu(gemm) * r.state("of.columns", {columns}) +
            r.state("y", {rows, columns}) * r.state("of.rows", {rows, 1}));
    }
};

/// A chain whose innermost axis is odd.
template <Index rows, Index k>
struct ActivatedInFives {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor gemm = reshape(layer(r.state("x", {rows, k}), 40), {rows, 8, 5});
        out(silu(gemm) * r.state("of.fives", {5}));
    }
};

/// GEMMs of different widths of one input.
template <Index rows, Index k, Index columns>
struct WideAndNarrow {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, k});
        out(silu(layer(x, columns)));
        out(layer(x, 2 * columns) * 0.5);
    }
};

/// Two GEMMs of one input that meet.
template <Index rows, Index k, Index columns>
struct Gated {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, k}));
        out(silu(layer(x, columns)) * layer(x, columns));
    }
};

/// The same as a feed-forward network has them: another GEMM reads what they make.
template <Index rows, Index k, Index columns>
struct FeedForward {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, k}));
        out(layer(silu(layer(x, columns)) * layer(x, columns), 64));
    }
};

/// Two GEMMs that meet without a sigmoid.
template <Index rows, Index k, Index columns>
struct Bilinear {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, k}));
        out(layer(x, columns) * layer(x, columns));
    }
};

template <Index rows, Index k, Index columns>
struct Residual {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(r.state("y", {rows, columns}) + layer(r.state("x", {rows, k}), columns));
    }
};

/// A GEMM of the first `k` columns of rows of `width`.
template <Index rows, Index width, Index k, Index columns>
struct LinearOfPart {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(slice(r.state("x", {rows, width}), 1, 0, k), columns));
    }
};

/// A residual stream that several GEMMs read and add to, each after a norm.
template <Index rows>
struct NormsAndResiduals {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        Tensor x = r.state("x", {rows, 64});
        const Tensor normed = norm(x);
        out(layer(normed, 64));
        out(layer(normed, 96));
        x = x + layer(silu(layer(norm(x), 128)), 64);
        out(x);
        out(layer(norm(x), 64));
    }
};

/// What a GEMM of `k` adds to a residual stream of `n`, which lies in rows of `width`, and the next GEMM, of
/// `columns`, after a norm; or two of them.
template <Index rows, Index input, Index k, Index columns, Index width = 768, bool two = false, Index n = 768>
struct ResidualAndNorm {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor hidden = layer(r.state("x", {rows, input}), k) * 2.0;
        const Tensor stream = slice(r.state("stream", {rows, width}), 1, 0, n) + layer(hidden, n);
        const Tensor normed = norm(stream);
        out(layer(normed, columns));
        if (two) {
            out(layer(normed, 96));
        }
        out(stream);
    }
};

/// The same without a norm: the next GEMM takes the stream as it is.
template <Index rows, Index input, Index k, Index columns>
struct ResidualAndRounding {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor hidden = layer(r.state("x", {rows, input}), k) * 2.0;
        const Tensor stream = r.state("stream", {rows, 768}) + layer(hidden, 768);
        out(layer(stream, columns));
        out(stream);
    }
};

/// A GEMM of elementwise results begins the stream; a norm and the next GEMM follow. (Without a norm, the two
/// GEMMs would be one.)
template <Index rows, Index k, Index columns>
struct Embedding {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor stream = layer(r.state("x", {rows, k}) * 0.5 + 0.25, 768);
        out(layer(norm(stream), columns));
        out(stream);
    }
};

/// A stream that two GEMMs add to, one run after the other.
template <Index rows, Index k>
struct TwoResiduals {
    static constexpr int runs = 3;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor stream = r.state("stream", {rows, 768});
        const Tensor first = stream + layer(layer(norm(stream), k) * 0.5, 768);
        const Tensor second = first + layer(layer(norm(first), k) * 0.5, 768);
        out(layer(norm(second), 64));
        r.store(stream, second);
    }
};

/// What a GEMM adds to is what the launch right before it makes.
template <Index rows, Index k>
struct ResidualJustMade {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, 64});
        const Tensor hidden = layer(x, k) * 2.0;
        const Tensor begin = layer(x, 768) * 0.5;
        out(layer(norm(begin + layer(hidden, 768)), 64));
        out(begin);  // or the sum with what is added to it would be one chain
    }
};

/// A GEMM of elementwise results.
template <Index rows, Index k, Index columns>
struct PointwiseInput {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer((r.state("x", {rows, k}) - r.state("of.rows", {rows, 1})) * 0.5, columns));
    }
};

/// A GEMM of two tensors side by side, one of which a GEMM makes.
template <Index rows, Index k, Index columns>
struct ConcatenatedInput {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, k});
        out(layer(concatenate(silu(layer(x, 2 * k)), x, 1), columns));
    }
};

/// What was made in two parts, read by a GEMM, and put behind what that makes, or before it and turned, for another
/// one.
template <Index rows, bool turns>
struct CopiedInput {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor given = r.state("x", {rows, 36});
        const Tensor x = concatenate(exp(given), 1.0 - given, 1);
        const Tensor made = silu(layer(x, 24));
        const Tensor turned = reshape(permute(reshape(x, {rows, 8, 9}), {0, 2, 1}), {rows, 72});
        out(layer(turns ? concatenate(turned, made, 1) : concatenate(made, x, 1), 48));
    }
};

/// A GEMM of elementwise results, where other steps are launched with them.
template <Index rows, Index k, Index columns>
struct PointwiseOfSums {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(silu(cumsum(r.state("x", {rows, k}))), columns));
    }
};

/// Keys and values as a block stores them: projected, rotated, and written at a position of a cache.
template <Index series, Index variates, Index width = 64, Index k = width>
struct IntoCaches {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows{series, 1, variates, 1, width};
        const Tensor x = norm(r.state("x", {series, 1, variates, 1, k}));
        const auto rotated = [&](Tensor y) {
            const Tensor heads = reshape(y, {series, 1, variates, 1, 4, width / 4});
            return reshape(
                heads * r.state("cosines", {1, width / 4}) + rotate_pairs(heads) * r.state("sines", {1, width / 4}),
                rows);
        };
        const Tensor position = r.state("at", {1}, DType::i32);
        out(rotated(layer(x, width)));
        r.store_at(r.state("out.keys", {series, 1, variates, 6, width}), rotated(layer(x, width)), 3, position);
        r.store_at(r.state("out.values", {series, 1, variates, 6, width}), layer(x, width), 3, position);
    }
};

/// A lone projection, written at a position of a cache.
template <Index series, Index variates, Index width, Index k>
struct IntoCache {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {series, 1, variates, 1, k});
        const Tensor position = r.state("at", {1}, DType::i32);
        r.store_at(r.state("out.values", {series, 1, variates, 6, width}), layer(x, width), 3, position);
    }
};

/// The reciprocal of the root mean square of each row.
constexpr Tensor norm_factors(Tensor x) {
    return rsqrt(mean(x * x) + 1e-5);
}

/// What looks like a norm and the GEMM behind it, or like GEMMs of one input, and is not: rows that take the number of
/// another row, a norm of repeated rows, one that another step reads in part, and one input of which a GEMM reads the
/// first columns.
struct NormsOfOthers {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {12, 64});
        const Tensor repeated = expand(reshape(slice(x, 0, 0, 3), {3, 1, 64}), {3, 4, 64});
        out(layer(x, 48) * reshape(norm_factors(repeated), {12, 1}));
        const Tensor y = r.state("y", {3, 4, 64});
        out(layer(y, 48) * slice(norm_factors(y), 1, 0, 1));
        const Tensor z = r.state("z", {12, 64});
        const Tensor factors = norm_factors(z);
        out(layer(z, 48) * factors);
        out(slice(factors, 0, 3, 2));
        const Tensor u = r.state("u", {12, 64});
        // No tanh: the largest result would be 1, and errors are in proportion to the largest sum.
        out(relu(layer(slice(u, 1, 0, 32), 48)));
        out(relu(layer(u, 48)));
    }
};

/// A GEMM that adds to a stream, and one of the sums, of which each four rows take the number of the first of them.
template <Index fours, Index k>
struct SumsByFirst {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows{fours, 4, k};
        const Tensor sum = r.state("stream", rows) + layer(tanh(layer(r.state("x", rows), k)), k);
        out(layer(sum, k) * slice(norm_factors(sum), 1, 0, 1));
        out(sum);
    }
};

/// Draws from mixtures whose parameters are made by GEMMs of one input: from one that all samples share, or one for
/// each; or of a norm of it.
template <Index mixtures, Index components, bool has_norm = false>
struct DrawnGemms {
    static constexpr Index samples = 40;
    static constexpr bool draws = true;
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return name == "seed" ? (at == 0 ? -1640531527 : 77) : name == "first" ? (at == 0 ? 1000003 : -7) : 3;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor given = r.state("x", {5, mixtures, 4, 1, 96});
        const Tensor x = has_norm ? norm(given) : given;
        const auto parameter = [&] { return reshape(layer(x, 16 * components), {5, mixtures, 4, 1, 16, components}); };
        const Tensor freedom = softplus(parameter()) + 2.0;
        const Tensor location = parameter();
        const Tensor scale = softplus(parameter());
        const tg::nn::StudentTMixture mixture{freedom, location, scale, softmax(parameter())};
        out(tg::nn::sample(mixture, samples, r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                           r.state("patch", {1}, DType::i32)));
    }
};

}  // namespace ops
