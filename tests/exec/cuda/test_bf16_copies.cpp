// SPDX-License-Identifier: Apache-2.0
// Which intermediates that are copied are stored as bf16. No device is needed, and no CUDA.
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;
using namespace totograph::cuda;

namespace {

constexpr Index rows = 256;
constexpr Index width = 64;

enum class Use {
    joined,        ///< A GEMM reads it, and another one, joined with what that made.
    kept,          ///< The same, and a state keeps it.
    read_as_f32,   ///< The joined one is not for a GEMM.
    norm_of_amax,  ///< A GEMM reads it, scaled by the largest square of each row.
};

/// Two halves that are computed and joined, and who reads them.
template <Use use>
struct Halves {
    static constexpr void record(Recorder& r) {
        const Tensor given = r.state("x", {rows, width / 2});
        const Tensor x = concatenate(exp(given), 1.0 - given, 1);
        if (use == Use::norm_of_amax) {
            const Tensor scaled = x * rsqrt(amax(x * x) + 1e-5);
            r.store(r.state("y", {rows, width}), tanh(linear(scaled, r.weight("w", {width, width}))));
            return;
        }
        const Tensor hidden = silu(linear(x, r.weight("w", {2 * width, width})));
        const Tensor joined = concatenate(x, hidden, 1);
        if (use == Use::kept) {
            r.store(r.state("kept", {rows, width}), x);
        }
        if (use == Use::read_as_f32) {
            r.store(r.state("y", {rows, 3 * width}), cumsum(joined));
        } else {
            r.store(r.state("y", {rows, width}), tanh(linear(joined, r.weight("v", {width, 3 * width}))));
        }
    }
};

/// What two GEMMs read, once as it is and once turned, and steps beside it, of which one is made in its memory: rows of
/// half the size would lie beside other rows than planned.
struct Overlapped {
    static constexpr Index side = 16;
    static constexpr Index columns = side * side;
    static constexpr void record(Recorder& r) {
        const Shape flat{1024, columns};
        const Tensor x = exp(r.state("x", {flat[0], side, side}));
        const Tensor made = tanh(linear(reshape(x, flat), r.weight("w", {columns, columns})));
        const Tensor turned = reshape(permute(x, {0, 2, 1}), flat);
        const Tensor other = cos(r.state("other", flat));
        const Tensor factor = linear(turned, r.weight("v", {columns, columns}));
        r.store(r.state("y", flat), made + factor * other + sin(other));
        r.store(r.state("z", flat), other * 2.0);
    }
};

template <Use use>
using Lowered = Lowering<Program<Halves<use>>, true>;

/// Whether any launch copies bf16.
template <Use use>
constexpr bool copies_bf16() {
    bool result = false;
    for (std::size_t i = 0; i < Lowered<use>::count; ++i) {
        for (const bool copies : Lowered<use>::at(i).copies_bf16) {
            result = result || copies;
        }
    }
    return result;
}

/// Whether what the first GEMM reads is stored as bf16.
template <Use use>
constexpr bool reads_bf16() {
    for (std::size_t i = 0; i < Lowered<use>::count; ++i) {
        if (Lowered<use>::at(i).gemm.count > 0) {
            return Lowered<use>::at(i).gemm.input_is_bf16;
        }
    }
    return false;
}

}  // namespace

TEST_CASE(
    "what a GEMM reads and a copy puts beside its result is stored as bf16, halves that are computed apart, too") {
    CHECK(copies_bf16<Use::joined>());
    CHECK(reads_bf16<Use::joined>());
}

TEST_CASE("a copy that somebody reads as f32 keeps what it copies as f32") {
    CHECK_FALSE(copies_bf16<Use::read_as_f32>());
    CHECK_FALSE(reads_bf16<Use::read_as_f32>());
    CHECK_FALSE(copies_bf16<Use::kept>());
    CHECK_FALSE(reads_bf16<Use::kept>());
}

TEST_CASE("a scale of the largest square of a row is no norm that a GEMM computes itself") {
    bool has_norm = false;
    for (std::size_t i = 0; i < Lowered<Use::norm_of_amax>::count; ++i) {
        has_norm = has_norm || Lowered<Use::norm_of_amax>::at(i).has_reduction;
    }
    CHECK_FALSE(has_norm);
}

TEST_CASE("what is copied keeps its size in memory where another step of the launch writes over it") {
    using Launches = Lowering<Program<Overlapped>, true>;
    bool runs_beside = false;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        const Launch& launch = Launches::at(i);
        runs_beside = runs_beside || (launch.kind == LaunchKind::rows && launch.count == 2);
        for (const bool copies : launch.copies_bf16) {
            CHECK_FALSE(copies);
        }
    }
    CHECK(runs_beside);
}
