// SPDX-License-Identifier: Apache-2.0
// The CUDA executor leaves out what lies beyond bounds that are data, and computes the rest with the same bits,
// whatever the memory of the rest holds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/exec/cuda/executor.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "exec/bounded_model.hpp"
#include "support/tensor_sources.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using tg::Shape;
using tg::Tensor;
using tg::cuda::Precision;
using Used = std::array<std::int32_t, 4>;

// A bound that no number of the state is below, and one that bounds the same rows in another loop.
static_assert(tg::cuda::bounds_same_rows({}, {}));
static_assert(tg::cuda::bounds_same_rows({{2, 3, 8}, 2, {1, 2}}, {{2, 1, 3, 4, 4}, 3, {1, 0, 2}}));
static_assert(!tg::cuda::bounds_same_rows({{2, 3, 8}, 2, {1, 2}}, {{2, 3, 8}, 2, {1, 0}}));
static_assert(!tg::cuda::bounds_same_rows({{2, 3, 8}, 2, {1, 2}}, {{2, 3, 8}, 2, {1, 1}}));
static_assert(!tg::cuda::bounds_same_rows({{2, 3, 8}, 2, {1, 0}}, {{3, 2, 8}, 2, {1, 0}}));
static_assert(tg::cuda::bounds_same_rows({{2, 3, 8}, 2, {1, 0, 3}}, {{2, 3, 4}, 2, {1, 0, 0}}), "columns are no rows");

/// A model's states on the device.
template <class Model, Precision precision>
class Bounds {
    using Executor = tg::cuda::Executor<precision, tg::Program<Model>>;
    using Layout = typename Executor::Layout;

public:
    Bounds() : executor_(tg::test::made_up_weights(), tg::cuda::describe_device(0), {.tunes = false}) {}

    /// Runs the model on inputs of its own, with what is in use, and all memory before that NaN, or as it was.
    void run(const Used& used, bool poisons) {
        const tg::cuda::Stream stream;
        if (poisons) {
            executor_.poison(stream.get());
            stream.synchronize();
        }
        for (const auto& entry : Layout::entries) {
            if (!entry.slot.name.empty()) {
                fill(entry.slot, used);
            }
        }
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        executor_.template launch<0>(stream.get());
        stream.synchronize();
        executor_.check_positions();
    }

    template <class T>
    [[nodiscard]] std::vector<T> read(std::string_view name) const {
        std::vector<T> values(static_cast<std::size_t>(Layout::find(name)->slot.shape.size()));
        REQUIRE(cudaMemcpy(values.data(), executor_.state(name), values.size() * sizeof(T), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        return values;
    }
    static Shape shape_of(std::string_view name) { return Layout::find(name)->slot.shape; }

    /// Bytes of all memory that are as poison left them.
    [[nodiscard]] std::size_t untouched() const {
        std::vector<std::uint32_t> words(Executor::memory_bytes() / sizeof(std::uint32_t));
        REQUIRE(cudaMemcpy(words.data(), executor_.inputs(), words.size() * sizeof(std::uint32_t),
                           cudaMemcpyDeviceToHost) == cudaSuccess);
        return static_cast<std::size_t>(std::count(words.begin(), words.end(), 0xffffffffU)) * sizeof(std::uint32_t);
    }

private:
    /// Results begin as NaN. Positions of an attention's keys are below the bound, and groups differ beyond it.
    void fill(const tg::StateSlot& slot, const Used& used) const {
        const auto size = static_cast<std::size_t>(slot.shape.size());
        std::vector<std::byte> bytes(size * tg::size_in_bytes(slot.dtype), std::byte{0xff});
        if (slot.name == "used") {
            std::memcpy(bytes.data(), used.data(), bytes.size());
        } else if (slot.dtype == tg::DType::i32) {
            std::vector<std::int32_t> values(size, 2);
            for (std::size_t i = 0; slot.name == "groups" && i < size; ++i) {
                const auto variate = static_cast<std::int32_t>(static_cast<Index>(i) / slot.shape[2] % slot.shape[1]);
                values[i] = variate < 2 ? 0 : variate;
            }
            std::memcpy(bytes.data(), values.data(), bytes.size());
        } else if (slot.name.substr(0, 3) != "out") {
            std::vector<float> values(size);
            for (std::size_t i = 0; i < size; ++i) {
                values[i] = static_cast<float>(2 * tg::test::uniform(i));
            }
            std::memcpy(bytes.data(), values.data(), bytes.size());
        }
        REQUIRE(cudaMemcpy(executor_.state(slot.name, slot.layer), bytes.data(), bytes.size(),
                           cudaMemcpyHostToDevice) == cudaSuccess);
    }

    Executor executor_;
};

/// Compares rows below the bounds with those of a run without bounds, bit by bit. Returns the rows beyond them that
/// were written.
template <class T>
Index compare(const std::vector<T>& ours, const std::vector<T>& all, const Shape& shape, const Used& used) {
    Index columns = 1;
    for (int axis = 4; axis < shape.rank; ++axis) {
        columns *= shape[axis];
    }
    const auto width = static_cast<std::size_t>(columns);
    Index different = 0;
    Index written = 0;
    for (std::size_t row = 0; row < ours.size() / width; ++row) {
        auto left = static_cast<Index>(row);
        bool is_used = true;
        for (int axis = 3; axis >= 0; --axis) {
            const Index bound = used[static_cast<std::size_t>(axis)];
            is_used = is_used && (bound < 1 || left % shape[axis] < bound);
            left /= shape[axis];
        }
        const T* const own = &ours[row * width];
        different += is_used && std::memcmp(own, &all[row * width], width * sizeof(T)) != 0 ? 1 : 0;
        written += !is_used && std::any_of(own, own + width, [](T value) { return !std::isnan(value); }) ? 1 : 0;
    }
    CHECK(different == 0);
    CHECK(std::none_of(all.begin(), all.end(), [](T value) { return std::isnan(value); }));
    return written;
}

/// The results of a model.
struct Results {
    std::vector<const char*> f32;
    std::vector<const char*> f64;
    std::vector<std::string_view> of_library;  ///< GEMMs of cuBLASLt, which leave out nothing, nor do their chains.
    std::string_view unbounded;
};

/// Checks a model with several bounds.
/// @param leaves_out  no row beyond them is written, where steps are large
template <class Model, Precision precision>
void check(const Results& results, const std::vector<Used>& all_used, bool leaves_out) {
    CAPTURE(tg::cuda::name(precision));
    Bounds<Model, precision> bounds;
    bounds.run({}, true);
    std::vector<std::vector<float>> whole;
    std::vector<std::vector<double>> whole_f64;
    for (const char* name : results.f32) {
        whole.push_back(bounds.template read<float>(name));
    }
    for (const char* name : results.f64) {
        whole_f64.push_back(bounds.template read<double>(name));
    }
    for (const Used& used : all_used) {
        CAPTURE(used[0]);
        CAPTURE(used[1]);
        CAPTURE(used[2]);
        CAPTURE(used[3]);
        for (const bool poisons : {true, false}) {
            CAPTURE(poisons);
            bounds.run(used, poisons);
            const auto check_one = [&](const char* name, const auto& ours, const auto& all) {
                CAPTURE(name);
                const Shape shape = bounds.shape_of(name);
                const Index written = compare(ours, all, shape, name == results.unbounded ? Used{} : used);
                const bool is_small = shape.size() <= tg::cuda::segment_elements;
                const auto& whole_ones = results.of_library;
                const bool is_whole = std::find(whole_ones.begin(), whole_ones.end(), name) != whole_ones.end();
                CHECK((!leaves_out || is_small || is_whole || written == 0));
            };
            for (std::size_t i = 0; i < results.f32.size(); ++i) {
                check_one(results.f32[i], bounds.template read<float>(results.f32[i]), whole[i]);
            }
            for (std::size_t i = 0; i < results.f64.size(); ++i) {
                check_one(results.f64[i], bounds.template read<double>(results.f64[i]), whole_f64[i]);
            }
        }
    }
}

// Steps that are so small that they run together compute all, and the others leave out what is not in use.
using Small = tg::test::Bounded<2, 3, 4, 5, 8>;
using Large = tg::test::Bounded<4, 8, 6, 16, 64>;

const Results of_bounded{
    {"out.gemm", "out.gated", "out.all", "out.pointwise", "out.permuted", "out.cumsum", "out.softmax", "out.sorted",
     "out.joined", "out.largest", "out.taken", "out.causal", "out.last", "out.masked", "out.variates"},
    {"out.f64", "out.sum", "out.moments", "out.grouped"},
    {"out.gemm", "out.gated"},
    "out.all"};
const std::vector<Used> used_of_small{{1, 2, 2, 3}, {2, 3, 2, 5}, {2, 1, 4, 2}, {1, 3, 4, 5}, {100, 100, 100, 100}};
const std::vector<Used> used_of_large{{1, 8, 6, 16}, {4, 1, 6, 16}, {4, 8, 2, 16}, {4, 8, 6, 4},
                                      {2, 3, 4, 8},  {3, 7, 5, 12}, {0, 8, -1, 16}};

/// Gated layers of a residual stream.
template <Index batch, Index samples, Index variates, Index positions, Index columns = 768, Index hidden_columns = 3072>
struct Layers {
    static constexpr Index width = columns;

    static constexpr Tensor norm(Tensor x, const char* scale) {
        return x * rsqrt(mean(x * x) + 1e-5) * x.recorder().weight(scale, {width});
    }
    static constexpr void record(tg::Recorder& r) {
        (void)r.state("used", {4}, tg::DType::i32, {}, tg::StateUse::bounds);
        const auto linear_of = [&](Tensor x, const char* weight, const char* bias, Index n) {
            return linear(x, r.weight(weight, {n, x.extent(-1)}), r.weight(bias, {n}));
        };
        const Tensor x = r.state("x", {batch, samples, variates, positions, width});
        const Tensor first = norm(x, "first");
        const Tensor hidden = silu(linear_of(first, "gate", "gate_bias", hidden_columns)) *
                              linear_of(first, "value", "value_bias", hidden_columns);
        const Tensor stream = x + linear_of(hidden, "down", "down_bias", width);
        const Tensor second = norm(stream, "second");
        const Tensor next = silu(linear_of(second, "next_gate", "next_gate_bias", hidden_columns)) *
                            linear_of(second, "next_value", "next_value_bias", hidden_columns);
        tg::test::keep_bounded(r, "out.next", linear_of(next, "last", "last_bias", 64));
        tg::test::keep_bounded(r, "out.stream", stream);
    }
};
// So many rows that warpgroups compute them, in clusters that have whole rows.
using Context = Layers<2, 8, 7, 16>;
using Decode = Layers<1, 256, 7, 1>;
const Results of_layers{{"out.next", "out.stream"}, {}, {"out.next"}, {}};

/// How the GEMMs of a model's launch are computed on an H100 or H200.
template <class Model, std::size_t launch>
inline constexpr tg::cuda::GemmKernel kernel_of =
    tg::cuda::select_gemm(tg::cuda::LaunchAt<tg::Program<Model>, true, launch>::launch.gemm, {},
                          tg::cuda::traits_of(90))
        .kernel;
static_assert(kernel_of<Context, 0> == tg::cuda::GemmKernel::sm90);
static_assert(kernel_of<Context, 1> == tg::cuda::GemmKernel::sm90_cluster);
static_assert(kernel_of<Context, 2> == tg::cuda::GemmKernel::sm90);

// A wave of tiles leaves the squares of the norm to warpgroups.
using Leaving = Layers<2, 8, 7, 20, 1024, 704>;
/// A norm that others read of rows that the GEMM behind it leaves out.
struct NormOfAll {
    static constexpr void record(tg::Recorder& r) {
        (void)r.state("used", {4}, tg::DType::i32, {}, tg::StateUse::bounds);
        const Tensor hidden = linear(r.state("x", {2, 8, 7, 20, 64}), r.weight("up", {704, 64})) * 2.0;
        const Tensor stream = r.state("stream", {2, 8, 7, 20, 1024}) + linear(hidden, r.weight("down", {1024, 704}));
        const Tensor factor = rsqrt(mean(stream * stream) + 1e-5);
        tg::test::keep_bounded(r, "out.next", linear(stream * factor, r.weight("next", {3328, 1024})));
        r.store(r.state("out.factor", factor.shape()), factor * 3.0);
    }
};
template <class Model>
constexpr bool leaves_norm_to_warpgroups() {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::bf16>(tg::cuda::traits_of(90), {});
    return choices[1].kernel == tg::cuda::GemmKernel::sm90_wave && choices[1].tail == tg::cuda::TailFusion::norm &&
           choices[2].kernel == tg::cuda::GemmKernel::sm90 && !choices[2].converts_input;
}
static_assert(leaves_norm_to_warpgroups<Leaving>() && leaves_norm_to_warpgroups<NormOfAll>());
template <class Model>
using RowsOfWarpgroups = typename tg::cuda::Sm90GroupOf<tg::cuda::LaunchAt<tg::Program<Model>, true, 2>>::type::Groups;
static_assert(RowsOfWarpgroups<Leaving>::is_bounded && !RowsOfWarpgroups<NormOfAll>::is_bounded);

// Some hundred rows: small tiles of 16 rows between waves of tiles, of which the last finish the norm.
using Hundreds = Layers<2, 4, 7, 8, 256, 512>;
static_assert(kernel_of<Hundreds, 0> == tg::cuda::GemmKernel::sm90_wave);
static_assert(kernel_of<Hundreds, 1> == tg::cuda::GemmKernel::sm90_small &&
              tg::cuda::sm90_small_rows(tg::cuda::LaunchAt<tg::Program<Hundreds>, true, 1>::launch.gemm) == 16);
static_assert(kernel_of<Hundreds, 2> == tg::cuda::GemmKernel::sm90_wave);
// Small tiles, in tf32, too, of which the last finish the norm.
using FewHundreds = Layers<2, 2, 7, 8, 256, 256>;
template <class Model>
inline constexpr auto choices_in_tf32 =
    tg::cuda::gemm_choices<tg::Program<Model>, Precision::tf32>(tg::cuda::traits_of(90), {});
static_assert(kernel_of<FewHundreds, 2> == tg::cuda::GemmKernel::sm90_small &&
              choices_in_tf32<FewHundreds>[1].tail == tg::cuda::TailFusion::norm &&
              choices_in_tf32<FewHundreds>[2].kernel == tg::cuda::GemmKernel::sm90_small);
static_assert(choices_in_tf32<Hundreds>[1].kernel == tg::cuda::GemmKernel::sm90_small &&
              choices_in_tf32<Hundreds>[2].kernel == tg::cuda::GemmKernel::sm90_wave);
// Some thousand rows: of a block two tiles, one after the other, and clusters that share rows.
using Thousands = Layers<2, 8, 7, 32, 256, 688>;
template <std::size_t launch>
inline constexpr tg::cuda::Sm90WaveCut cut_of_thousands =
    tg::cuda::sm90_wave_cut(tg::cuda::LaunchAt<tg::Program<Thousands>, true, launch>::launch.gemm);
static_assert(kernel_of<Thousands, 0> == tg::cuda::GemmKernel::sm90_wave && cut_of_thousands<0>.waves == 2);
static_assert(kernel_of<Thousands, 1> == tg::cuda::GemmKernel::sm90_wave && cut_of_thousands<1>.cluster == 2 &&
              cut_of_thousands<1>.m == 128);
static_assert(kernel_of<Thousands, 2> == tg::cuda::GemmKernel::sm90_wave && cut_of_thousands<2>.waves == 2);
const Results of_tiles{{"out.next", "out.stream"}, {}, {}, {}};
template <class Model, Precision precision = Precision::bf16>
inline constexpr tg::cuda::TailFusion tail_of_stream =
    tg::cuda::gemm_choices<tg::Program<Model>, precision>(tg::cuda::traits_of(90), {})[1].tail;
static_assert(choices_in_tf32<Thousands>[2].kernel == tg::cuda::GemmKernel::sm90_wave);
static_assert(tail_of_stream<Hundreds> == tg::cuda::TailFusion::norm &&
              tail_of_stream<Thousands> == tg::cuda::TailFusion::norm &&
              tail_of_stream<Hundreds, Precision::tf32> == tg::cuda::TailFusion::norm &&
              tail_of_stream<Thousands, Precision::tf32> == tg::cuda::TailFusion::norm);

}  // namespace

TEST_CASE("rows beyond the bounds have no part in the others, of small steps") {
    check<Small, Precision::f32>(of_bounded, used_of_small, false);
    check<Small, Precision::bf16>(of_bounded, used_of_small, false);
}

TEST_CASE("rows beyond the bounds are not computed, and the others have the same bits") {
    check<Large, Precision::f32>(of_bounded, used_of_large, true);
    check<Large, Precision::bf16>(of_bounded, used_of_large, true);
}

TEST_CASE("tiles of GEMMs take the rows in use, in groups of eight") {
    check<Context, Precision::bf16>(
        of_layers,
        {{1, 8, 7, 16}, {2, 1, 7, 16}, {2, 8, 3, 16}, {2, 8, 7, 8}, {1, 3, 5, 8}, {2, 7, 7, 16}, {1, 1, 1, 8}}, true);
    // Groups that hold some rows in use are computed.
    check<Context, Precision::bf16>(of_layers, {{2, 8, 7, 3}, {2, 5, 6, 13}, {1, 1, 1, 1}}, false);
    check<Decode, Precision::bf16>(
        of_layers, {{1, 32, 7, 1}, {1, 128, 7, 1}, {1, 1, 7, 1}, {1, 256, 3, 1}, {1, 255, 7, 1}, {1, 73, 5, 1}}, false);
}

TEST_CASE("warpgroups finish the norm of the rows in use, or of all that others read") {
    const std::vector<Used> all_used{{1, 8, 7, 20}, {2, 3, 7, 20}, {2, 8, 7, 9}, {1, 3, 5, 5}, {1, 1, 1, 1}};
    check<Leaving, Precision::bf16>({{"out.next", "out.stream"}, {}, {}, {}}, all_used, false);
    check<NormOfAll, Precision::bf16>({{"out.next", "out.factor"}, {}, {}, "out.factor"}, all_used, false);
}

TEST_CASE("small tiles and waves without rows in use are not computed, and the others have the same bits") {
    check<Hundreds, Precision::bf16>(of_tiles, {{1, 4, 7, 8}}, true);
    check<Hundreds, Precision::bf16>(
        of_tiles, {{2, 1, 7, 8}, {2, 4, 3, 8}, {1, 3, 5, 5}, {2, 4, 7, 1}, {1, 1, 1, 1}, {2, 3, 7, 8}}, false);
    check<FewHundreds, Precision::bf16>(of_tiles, {{1, 2, 7, 8}, {2, 1, 7, 8}, {1, 2, 5, 5}, {1, 1, 1, 1}}, false);
    check<Thousands, Precision::bf16>(of_tiles, {{1, 8, 7, 32}}, true);
    check<Thousands, Precision::bf16>(of_tiles, {{2, 1, 7, 32}, {2, 8, 3, 32}, {1, 3, 5, 5}, {1, 1, 1, 1}}, false);
}

TEST_CASE("small tiles and waves in tf32 without rows in use are not computed, and the others have the same bits") {
    check<FewHundreds, Precision::tf32>(of_tiles, {{1, 2, 7, 8}, {2, 1, 7, 8}, {1, 2, 5, 5}, {1, 1, 1, 1}}, false);
    check<Hundreds, Precision::tf32>(of_tiles, {{1, 4, 7, 8}, {2, 1, 7, 8}, {1, 3, 5, 5}, {1, 1, 1, 1}}, false);
    check<Thousands, Precision::tf32>(of_tiles, {{1, 8, 7, 32}, {2, 8, 3, 32}, {1, 3, 5, 5}, {1, 1, 1, 1}}, false);
}

TEST_CASE("tiles without rows in use are not computed") {
    Bounds<Context, Precision::bf16> bounds;
    bounds.run({}, true);
    const std::size_t whole = bounds.untouched();
    bounds.run({1, 1, 1, 8}, true);
    // What is between the layers is hardly touched: what gates make, as bf16; the stream; and that as bf16.
    constexpr std::size_t rows = 2 * 8 * 7 * 16;
    constexpr std::size_t between = rows * (3072 * 2 + Context::width * 4 + Context::width * 2);
    CHECK(bounds.untouched() > whole + between / 10 * 9);
}
