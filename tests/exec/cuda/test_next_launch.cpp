// SPDX-License-Identifier: Apache-2.0
// Which GEMMs run together, and which norms with the GEMM behind them. No device is needed, and no CUDA.
#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;
using namespace totograph::cuda;

namespace {

constexpr Index width = 64;

/// Two GEMMs of the same rows, one of which reads their first columns alone.
template <Index rows, Index first_k>
struct TwoGemms {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {rows, 128});
        r.store(r.state("y", {rows, width}), tanh(linear(slice(x, 1, 0, first_k), r.weight("v", {width, first_k}))));
        r.store(r.state("z", {rows, width}), tanh(linear(x, r.weight("w", {width, 128}))));
    }
};

/// How many GEMMs the first launch has.
template <class Model, bool streams>
constexpr int first_gemms() {
    return Lowering<Program<Model>, streams>::at(0).gemms();
}

/// Which rows the norm is of, beside those that the GEMM reads.
enum class NormOf {
    same_rows,      ///< The same ones.
    repeated_rows,  ///< The first three, each four times in a row.
};

/// A GEMM whose rows are all divided by the root mean squares of some: of each four, that of the first.
struct DividedByFirst {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {3, 4, width});
        const Tensor factors = rsqrt(mean(x * x) + 1e-5);
        r.store(r.state("y", {3, 4, width}), linear(x, r.weight("w", {width, width})) * slice(factors, 1, 0, 1));
    }
};

/// A GEMM of twelve rows, each divided by a root mean square.
template <NormOf of>
struct Normed {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {12, width});
        const Tensor repeated = expand(reshape(slice(x, 0, 0, 3), {3, 1, width}), {3, 4, width});
        const Tensor rows = of == NormOf::same_rows ? x : repeated;
        const Tensor factor = reshape(rsqrt(mean(rows * rows) + 1e-5), {12, 1});
        r.store(r.state("y", {12, width}), linear(x, r.weight("w", {width, width})) * factor);
    }
};

/// Who reads a norm beside the GEMM behind it.
enum class Reader {
    whole,  ///< A step, all of it.
    part,   ///< A step, some numbers of it.
    gemm,   ///< A GEMM that multiplies it.
};

/// A GEMM of normed rows, and another reader of the norm.
template <Reader reader>
struct NormReadTwice {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {12, width});
        const Tensor factors = rsqrt(mean(x * x) + 1e-5);
        r.store(r.state("y", {12, width}), linear(x, r.weight("w", {width, width})) * factors);
        if (reader == Reader::gemm) {
            r.store(r.state("z", {1, 8}), linear(reshape(factors, {1, 12}), r.weight("v", {8, 12})));
        } else {
            r.store(r.state("z", {12, 1}), reader == Reader::whole ? factors : slice(factors, 0, 3, 2));
        }
    }
};

/// A GEMM that adds to a stream, and one of the sums, each row divided by a root mean square: its own, or of each four
/// that of the first.
template <bool takes_own>
struct DividesSums {
    static constexpr void record(Recorder& r) {
        constexpr Index wide = 512;
        const Shape rows{64, 4, wide};
        const Tensor sum = r.state("stream", rows) + linear(r.state("x", rows), r.weight("down", {wide, wide}));
        const Tensor factors = rsqrt(mean(sum * sum) + 1e-5);
        const Tensor taken = takes_own ? factors : slice(factors, 1, 0, 1);
        r.store(r.state("y", rows), linear(sum, r.weight("up", {wide, wide})) * taken);
        r.store(r.state("z", rows), sum);
    }
};

/// Whether the first launch is of the norm and of the GEMM.
template <class Model, bool streams>
constexpr bool runs_with_norm() {
    return Lowering<Program<Model>, streams>::at(0).has_reduction;
}

}  // namespace

TEST_CASE("GEMMs of one input run together, and those of different columns of it do not") {
    CHECK(first_gemms<TwoGemms<8, 128>, true>() == 2);
    CHECK(first_gemms<TwoGemms<300, 128>, false>() == 2);
    CHECK(first_gemms<TwoGemms<8, 64>, true>() == 1);
    CHECK(first_gemms<TwoGemms<8, 64>, false>() == 1);
    CHECK(first_gemms<TwoGemms<300, 64>, true>() == 1);
    CHECK(first_gemms<TwoGemms<300, 64>, false>() == 1);
}

TEST_CASE("a GEMM computes the norm before it where both read the same rows") {
    CHECK(runs_with_norm<Normed<NormOf::same_rows>, true>());
    CHECK(runs_with_norm<Normed<NormOf::same_rows>, false>());
}

TEST_CASE("a GEMM does not compute a norm of other rows of what it reads, though they are as many") {
    CHECK_FALSE(runs_with_norm<Normed<NormOf::repeated_rows>, true>());
    CHECK_FALSE(runs_with_norm<Normed<NormOf::repeated_rows>, false>());
}

TEST_CASE("a GEMM does not compute a norm that its rows do not take row by row") {
    CHECK_FALSE(runs_with_norm<DividedByFirst, true>());
    CHECK_FALSE(runs_with_norm<DividedByFirst, false>());
}

TEST_CASE("a GEMM leaves a norm to the blocks of the next one where these read the numbers of their own rows alone") {
    CHECK(Lowering<Program<DividesSums<true>>, false>::at(0).gemm.tail == TailFusion::norm);
    CHECK(Lowering<Program<DividesSums<false>>, false>::at(0).gemm.tail == TailFusion::none);
}

TEST_CASE("a skinny GEMM does not keep a norm to itself that another step reads, be it in part") {
    CHECK_FALSE(runs_with_norm<NormReadTwice<Reader::whole>, true>());
    CHECK_FALSE(runs_with_norm<NormReadTwice<Reader::part>, true>());
    CHECK_FALSE(runs_with_norm<NormReadTwice<Reader::gemm>, true>());
}
