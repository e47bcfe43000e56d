// SPDX-License-Identifier: Apache-2.0
// What is known of GEMMs before they run: what runs with them, and how what they read is stored. Nothing here runs
// on a device.
#include <algorithm>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/ops/ops_gemm_models.hpp"

using namespace ops;

namespace {

using tg::cuda::TailFusion;

/// The most that can run with a GEMM anywhere in a model.
template <class Model, bool streams = true>
constexpr TailFusion feeds() {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, streams>;
    TailFusion result = TailFusion::none;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        result = std::max(result, Lowered::at(i).gemm.tail);
    }
    return result;
}

/// A GEMM that adds to a residual stream, and a norm before the next GEMM, or something like it.
enum class Follows { norm, no_norm, norm_of_part, norm_of_views };
template <Follows follows, bool has_residual = true, bool hidden_is_rounded = true, bool is_crowded = false>
struct Added {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor hidden = silu(layer(r.state("x", {140, 64}), 128));
        const Tensor added = layer(hidden, 192);
        const Tensor stream = has_residual ? r.state("stream", {140, 192}) + added : added;
        switch (follows) {
            case Follows::norm: out(layer(norm(stream), 64)); break;
            case Follows::no_norm: out(layer(stream, 64)); break;
            case Follows::norm_of_part: out(layer(norm(slice(stream, 1, 0, 96)), 64)); break;
            case Follows::norm_of_views: out(layer(norm(reshape(stream, {280, 96})), 64)); break;
        }
        if (!hidden_is_rounded) {
            out(hidden);
        }
        if (is_crowded) {  // with a place for each of these, the arena would grow too much: memory is used again
            out(softmax(softmax(softmax(softmax(r.state("large", {512, 512}))))));
        }
    }
};

/// Other GEMMs, and what follows them.
enum class Unlike { nothing, begins_with_norm, skinny_next, no_gemm_next };
template <Unlike unlike>
struct AlmostAdded {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        constexpr Index rows = unlike == Unlike::skinny_next ? 40 : 140;
        const Tensor hidden = unlike == Unlike::begins_with_norm ? norm(r.state("x", {rows, 128}))
                                                                 : silu(layer(r.state("x", {rows, 64}), 128));
        const Tensor stream = r.state("stream", {rows, 192}) + layer(hidden, 192);
        out(unlike == Unlike::no_gemm_next ? softmax(stream) : layer(stream, 64));
    }
};

/// Whether a chain with a silu, of the first GEMM of a model, takes the fast one.
template <class Model>
constexpr bool silu_is_factor() {
    const tg::Chain& chain = tg::cuda::lowering_detail::kernel_of<tg::Program<Model>>(0).chain;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        if (chain.instructions[i].op == tg::Op::silu) {
            return tg::cuda::chain_detail::is_factor(chain, i);
        }
    }
    throw "the first GEMM's chain has a silu";
}
enum class After { multiply, add, add_to_itself, exp };
template <After after>
struct SiluOfGemm {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor y = r.state("y", {140, 128});
        const Tensor gemm = layer(r.state("x", {140, 64}), 128);
        const Tensor gate = silu(gemm);
        switch (after) {
            case After::multiply: out(gate * y * 3.0); break;
            case After::add: out(gate * y + 3.0); break;
            case After::add_to_itself: out(gate + gemm); break;
            case After::exp: out(exp(gate * y)); break;
        }
    }
};

/// Elementwise results that a GEMM reads, made in one launch with other steps.
enum class Besides { nothing, another_reader, same_memory };
template <Besides besides>
struct PointwiseThenGemm {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {512, 64});
        // What the first step makes is not needed when the last one runs: that one gets its memory.
        const Tensor made = silu(tg::cumsum(besides == Besides::same_memory ? silu(x) : x));
        out(layer(made, 64));
        if (besides == Besides::another_reader) {
            out(made);
        }
    }
};
template <Besides besides>
constexpr bool rounds_for_gemm() {
    using Lowered = tg::cuda::Lowering<tg::Program<PointwiseThenGemm<besides>>, true>;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        if (Lowered::at(i).kind == tg::cuda::LaunchKind::gemm) {
            return Lowered::at(i).gemm.input_is_bf16;
        }
    }
    throw "a GEMM of the library reads it";
}

/// The kernel that computes the GEMM of the first launch on a device.
template <class Program, tg::cuda::Precision precision>
tg::cuda::GemmKernel kernel_of_first(const tg::cuda::DeviceTraits& device, bool fuses) {
    return tg::cuda::gemm_choices<Program, precision>(device, {.fuses = fuses})[0].kernel;
}

}  // namespace

TEST_CASE("what of the next launch can run with a GEMM") {
    CHECK(feeds<Added<Follows::norm>>() == TailFusion::norm);
    CHECK(feeds<Added<Follows::no_norm>>() == TailFusion::bf16);
    CHECK(feeds<Added<Follows::norm_of_part>>() == TailFusion::none);
    CHECK(feeds<Added<Follows::norm_of_views>>() == TailFusion::none);
    CHECK(feeds<Added<Follows::norm, false>>() == TailFusion::norm);
    CHECK(feeds<Added<Follows::norm, true, false>>() == TailFusion::none);
    // What the norm writes lies where the GEMM reads.
    CHECK(feeds<Added<Follows::norm, true, true, true>>() == TailFusion::none);
    CHECK(feeds<AlmostAdded<Unlike::nothing>>() == TailFusion::bf16);
    CHECK(feeds<AlmostAdded<Unlike::begins_with_norm>>() == TailFusion::none);
    CHECK(feeds<AlmostAdded<Unlike::skinny_next>>() == TailFusion::none);
    CHECK(feeds<AlmostAdded<Unlike::no_gemm_next>>() == TailFusion::none);
    // Where nothing is stored as bf16, a norm alone can.
    CHECK(feeds<Added<Follows::norm>, false>() == TailFusion::norm);
    CHECK(feeds<Added<Follows::no_norm>, false>() == TailFusion::none);
    CHECK(feeds<Added<Follows::norm_of_part>, false>() == TailFusion::none);
    CHECK(feeds<Added<Follows::norm_of_views>, false>() == TailFusion::none);
    CHECK(feeds<Added<Follows::norm, true, false>, false>() == TailFusion::norm);
    CHECK(feeds<Added<Follows::norm, true, true, true>, false>() == TailFusion::none);
    CHECK(feeds<AlmostAdded<Unlike::nothing>, false>() == TailFusion::none);
    CHECK(feeds<AlmostAdded<Unlike::begins_with_norm>, false>() == TailFusion::none);
}

TEST_CASE("elementwise results are stored as bf16 for GEMMs alone, where their memory is not used besides") {
    CHECK(rounds_for_gemm<Besides::nothing>());
    CHECK_FALSE(rounds_for_gemm<Besides::another_reader>());
    CHECK_FALSE(rounds_for_gemm<Besides::same_memory>());
}

TEST_CASE("the fast silu is for results that it reaches by multiplications") {
    CHECK(silu_is_factor<SiluOfGemm<After::multiply>>());
    CHECK_FALSE(silu_is_factor<SiluOfGemm<After::add>>());
    CHECK_FALSE(silu_is_factor<SiluOfGemm<After::add_to_itself>>());
    CHECK_FALSE(silu_is_factor<SiluOfGemm<After::exp>>());
}

TEST_CASE("blocks of clusters share k in tf32, of a launch that f32 has as well") {
    using Program = tg::Program<Residual<18, 5464, 2048>>;
    using Lowered = tg::cuda::Lowering<Program, false>;
    CHECK(Lowered::count == 1);
    CHECK(Lowered::at(0).kind == tg::cuda::LaunchKind::gemm);
    constexpr tg::cuda::DeviceTraits h200 = tg::cuda::traits_of(90);
    using tg::cuda::GemmKernel;
    using tg::cuda::Precision;
    CHECK(kernel_of_first<Program, Precision::tf32>(h200, true) == GemmKernel::skinny_cluster);
    CHECK(kernel_of_first<Program, Precision::tf32>(h200, false) == GemmKernel::cublaslt);
    CHECK(kernel_of_first<Program, Precision::tf32>(tg::cuda::traits_of(89), true) == GemmKernel::cublaslt);
    CHECK(kernel_of_first<Program, Precision::f32>(h200, true) == GemmKernel::cublaslt);
}
