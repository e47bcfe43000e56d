// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <totograph/core/categorical.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/cluster_parts.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// What finds the largest number of a row. A key holds the number, in the order of floats with NaN above all, and below
/// it the place counted from the end: the largest key is the first of the largest numbers, in any order.
/// @tparam threads  of a block
template <class K, int threads>
class Argmax {
    static constexpr Operand x = K::kernel.operands[0];
    static constexpr auto columns = static_cast<Offset<K>>(x.shape[-1]);
    static constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(x.strides));
    static constexpr int warps = threads / warp_size;

public:
    static constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size());
    /// Up to so many columns a row takes a warp, a longer one a block.
    static constexpr bool takes_warp = columns <= 1024;
    /// Blocks of a cluster that share a row, where the step is launched alone and a row is too long for a small one.
    /// Devices without clusters take one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    static constexpr int parts = 1;
#else
    static constexpr int parts = columns > segment_elements ? cluster_blocks : 1;
#endif

    __device__ __forceinline__ explicit Argmax(const KernelCall& call)
        : in_(call.operands[0].get<float>(positions_of<K>(call))),
          out_(call.output.get<std::int32_t>(positions_of<K>(call))) {}

    __device__ __forceinline__ void run_warp(Offset<K> row) const {
        const auto place = place_of<K, LeadingOf<K>>(row);
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        const std::uint64_t key = key_of_part<warp_size>(offset_of<K, StridesOfOperand<K, 0>>(place), lane);
        if (lane == 0) {
            write(place, key);
        }
    }

    /// @param best  in shared memory
    __device__ __forceinline__ void run_block(Offset<K> row, std::uint64_t (&best)[warps]) const {
        const auto place = place_of<K, LeadingOf<K>>(row);
        const auto thread = static_cast<int>(threadIdx.x);
        const std::uint64_t key = key_of_part<threads>(offset_of<K, StridesOfOperand<K, 0>>(place), thread);
        __syncthreads();  // those of a row before this one may still be read
        const std::uint64_t largest = largest_of_block(key, best);
        if (thread == 0) {
            write(place, largest);
        }
    }

    /// Each block of a cluster takes every `parts`th run of columns.
    __device__ __forceinline__ void run_cluster(Offset<K> row, std::uint64_t (&best)[warps]) const {
        struct Found {
            std::uint32_t upper;
            std::uint32_t lower;
        };
        using Parts = ClusterParts<Found, parts>;
        Parts::begin();
        const auto place = place_of<K, LeadingOf<K>>(row);
        const auto thread = static_cast<int>(threadIdx.x);
        const int part = static_cast<int>(blockIdx.x) % parts;
        const std::uint64_t key =
            key_of_part<threads * parts>(offset_of<K, StridesOfOperand<K, 0>>(place), part * threads + thread);
        const std::uint64_t largest = largest_of_block(key, best);
        Parts::wait_for_others();
        if (thread == 0) {
            Found& found = Parts::place_of(part);
            Parts::store(found.upper, static_cast<std::uint32_t>(largest >> 32U));
            Parts::store(found.lower, static_cast<std::uint32_t>(largest));
        }
        if (part == 0 && thread < warp_size) {
            const Found& found = Parts::wait_for_all()[thread % parts];
            const std::uint64_t all = largest_of_warp(std::uint64_t{found.upper} << 32U | found.lower);
            if (thread == 0) {
                write(place, all);
            }
        }
    }

private:
    /// The largest key of a thread's columns, of which `sharers` have every so manieth, and of its warp.
    template <int sharers>
    [[nodiscard]] __device__ __forceinline__ std::uint64_t key_of_part(Offset<K> from, int thread) const {
        // Loads on their way at a time: of those beyond the row, the last column stands in.
        constexpr auto each = static_cast<int>((columns + sharers - 1) / sharers);
        constexpr int turns = (each + most_at_once - 1) / most_at_once;
        constexpr int at_once = (each + turns - 1) / turns;
        std::uint64_t best = 0;
        for (Offset<K> first = thread; first < columns; first += at_once * sharers) {
            float values[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                values[i] = in_[from + min(first + i * sharers, columns - 1) * step];
            }
            float largest = values[0];
#pragma unroll
            for (int i = 1; i < at_once; ++i) {
                largest = larger_or_nan(largest, values[i]);
            }
            const bool is_nan = largest != largest;
            int at = 0;
#pragma unroll
            for (int i = at_once - 1; i >= 0; --i) {
                at = (is_nan ? values[i] != values[i] : values[i] == largest) ? i : at;
            }
            const auto column = static_cast<std::uint32_t>(min(first + at * sharers, columns - 1));
            const std::uint32_t key = is_nan ? 0xffffffffU : categorical::key_of(largest);
            best = std::max(best, std::uint64_t{key} << 32U | (0xffffffffU - column));
        }
        return largest_of_warp(best);
    }

    [[nodiscard]] static __device__ __forceinline__ std::uint64_t largest_of_warp(std::uint64_t key) {
#pragma unroll
        for (int distance = warp_size / 2; distance > 0; distance /= 2) {
            const std::uint64_t other = __shfl_xor_sync(0xffffffffU, static_cast<unsigned long long>(key), distance);
            key = std::max(key, other);
        }
        return key;
    }

    /// Of the keys of warps, in the first warp.
    [[nodiscard]] static __device__ __forceinline__ std::uint64_t largest_of_block(std::uint64_t key,
                                                                                   std::uint64_t (&best)[warps]) {
        if (threadIdx.x % warp_size == 0) {
            best[threadIdx.x / warp_size] = key;
        }
        __syncthreads();
        return threadIdx.x < warp_size ? largest_of_warp(threadIdx.x < warps ? best[threadIdx.x] : 0) : 0;
    }

    template <class PlaceOfRow>
    __device__ __forceinline__ void write(const PlaceOfRow& place, std::uint64_t key) const {
        out_[offset_of<K, StridesOfOutput<K>>(place)] =
            static_cast<std::int32_t>(0xffffffffU - static_cast<std::uint32_t>(key));
    }

    static constexpr int most_at_once = parts > 1 ? 32 : 16;
    const float* in_;
    std::int32_t* out_;
};

/// The place of the largest number of each row.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_argmax(const KernelCall& call, const Used& used) {
    using Rows = Argmax<K, Threads::threads>;
    const auto is_used = [&](Offset<K> row) { return used.template has<UsedExtents<K>::rows>(row); };
    if constexpr (Rows::takes_warp) {
        if (Threads::template group_has_item<warp_size, Rows::rows>()) {
            const Rows rows(call);
            Threads::template for_each_of_groups<warp_size, Rows::rows>([&](Offset<K> row) {
                if (is_used(row)) {
                    rows.run_warp(row);
                }
            });
        }
    } else {
        __shared__ std::uint64_t best[Threads::threads / warp_size];
        const Rows rows(call);
        if constexpr (Rows::parts > 1 && std::is_same_v<Threads, Blocks<>>) {  // launched alone
            const auto row = static_cast<Offset<K>>(blockIdx.x / Rows::parts);
            if (is_used(row)) {
                rows.run_cluster(row, best);
            }
        } else {
            Threads::template for_each_of_blocks<Rows::rows>([&](Offset<K> row) {
                if (is_used(row)) {
                    rows.run_block(row, best);
                }
            });
        }
    }
}

}  // namespace totograph::cuda
