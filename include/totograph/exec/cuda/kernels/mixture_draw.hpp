// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/sample.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/graph/kernel.hpp>

// Draws from mixtures whose parameters are accumulators that cuBLASLt left in memory: the chain after a GEMM
// runs where a draw needs what it makes.

namespace totograph::cuda {

/// What the chain of a GEMM makes, element by element.
template <class K, class Accumulator>
class LazyResult {
    using Source = Epilogue<K>;

public:
    /// @param accumulators  of this GEMM, in the first row
    /// @param row_stride    from one row of accumulators to the next
    __device__ __forceinline__ LazyResult(const KernelCall& call, const Accumulator* accumulators, int row_stride)
        : pointers_(call), accumulators_(accumulators), row_stride_(row_stride) {}

    /// `lanes` neighbours in a row.
    template <int lanes>
    __device__ __forceinline__ Pack<float, lanes> get(Offset<K> element) const {
        constexpr auto columns = static_cast<Offset<K>>(K::kernel.columns());
        const Accumulator* const from =
            accumulators_ + static_cast<Index>(element / columns) * row_stride_ + element % columns;
        ChainValues<Source, lanes> values;
        chain_detail::at<0>(values) = as_floats(load_pack<1, lanes, K::is_aligned>(from));
        load_operands<K, Source, lanes>(pointers_, place_of<K, IterationOf<K>>(element), values);
        return run_chain<Source, lanes>(values);
    }

    /// Those of one mixture.
    struct Components {
        const LazyResult& all;
        Offset<K> first;
        __device__ __forceinline__ float operator[](int component) const {
            return all.template get<1>(first + component).lane[0];
        }
    };

private:
    OperandPointers<Source> pointers_;
    const Accumulator* accumulators_;
    int row_stride_;
};

/// Draws from mixtures.
/// @tparam Draw        the step that draws
/// @tparam Parameters  which of `K` make the degrees of freedom, the locations, the scales and the logits of the
/// weights
/// @tparam K           all GEMMs of the launch
template <class Accumulator, class Draw, class Parameters, class... K>
struct MixtureDraw;
template <class Accumulator, class Draw, int... parameters, class... K>
struct MixtureDraw<Accumulator, Draw, std::integer_sequence<int, parameters...>, K...> {
    struct Calls {
        KernelCall draw;
        KernelCall gemms[sizeof...(K)];
    };
    using Used = UsedExtents<Draw>;

    static __device__ void run(const Calls& calls, const Accumulator* accumulators, const Used& used) {
        const auto parameter = [&]<int which>(std::integral_constant<int, which>) {
            constexpr int all[] = {parameters...};
            constexpr auto gemm = static_cast<std::size_t>(all[which]);
            using Gemm = std::tuple_element_t<gemm, std::tuple<K...>>;
            return LazyResult<Gemm, Accumulator>(calls.gemms[gemm], accumulators + first_columns[gemm], row_stride);
        };
        const auto df = parameter(std::integral_constant<int, 0>{});
        const auto loc = parameter(std::integral_constant<int, 1>{});
        const auto scale = parameter(std::integral_constant<int, 2>{});
        const auto logits = parameter(std::integral_constant<int, 3>{});
        for_each_draw<Draw>(calls.draw, used, [&](const auto& place, const SampleKey& key) {
            // The parameters all lie in one order.
            const auto first = offset_of<Draw, StridesOfOperand<Draw, 0>>(place);
            float probabilities[components_of<Draw>];
            find_probabilities(logits, first, probabilities);
            return sample_student_t_mixture(components_of<Draw>, components(df, first), components(loc, first),
                                            components(scale, first), probabilities, key);
        });
    }

private:
    static constexpr int row_stride = (static_cast<int>(K::kernel.columns()) + ...);
    static constexpr std::array<int, sizeof...(K)> first_columns = [] {
        const std::array<int, sizeof...(K)> columns{static_cast<int>(K::kernel.columns())...};
        std::array<int, sizeof...(K)> result{};
        for (std::size_t i = 1; i < columns.size(); ++i) {
            result[i] = result[i - 1] + columns[i - 1];
        }
        return result;
    }();

    template <class Gemm>
    static __device__ __forceinline__ auto components(const LazyResult<Gemm, Accumulator>& all, Offset<Draw> first) {
        return typename LazyResult<Gemm, Accumulator>::Components{all, static_cast<Offset<Gemm>>(first)};
    }

    /// The softmax of the logits of one mixture.
    template <class Gemm>
    static __device__ __forceinline__ void find_probabilities(const LazyResult<Gemm, Accumulator>& logits,
                                                              Offset<Draw> first,
                                                              float (&probabilities)[components_of<Draw>]) {
        constexpr int count = components_of<Draw>;
        constexpr int lanes = count % 8 == 0 && Gemm::kernel.iteration[-1] % 8 == 0 ? 8 : 1;
        float largest = -std::numeric_limits<float>::infinity();
#pragma unroll
        for (int component = 0; component < count; component += lanes) {
            const auto some = logits.template get<lanes>(static_cast<Offset<Gemm>>(first + component));
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                probabilities[component + lane] = some.lane[lane];
                largest = fmaxf(largest, some.lane[lane]);
            }
        }
        float total = 0;
#pragma unroll
        for (float& probability : probabilities) {
            probability = expf(probability - largest);
            total += probability;
        }
        const float factor = 1.0F / total;
#pragma unroll
        for (float& probability : probabilities) {
            probability *= factor;
        }
    }
};

template <class Draws, class Accumulator>
__global__ void __launch_bounds__(block_threads)
    mixture_draw_kernel(const __grid_constant__ typename Draws::Calls calls, const Accumulator* accumulators) {
    const typename Draws::Used used(calls.draw);
    wait_for_predecessor();
    launch_dependents();
    Draws::run(calls, accumulators, used);
}

}  // namespace totograph::cuda
