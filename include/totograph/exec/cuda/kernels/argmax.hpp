// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/core/categorical.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
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

public:
    static constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size());
    /// Up to so many columns a row takes a warp, a longer one a block.
    static constexpr bool takes_warp = columns <= 1024;

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
    __device__ __forceinline__ void run_block(Offset<K> row, std::uint64_t (&best)[threads / warp_size]) const {
        const auto place = place_of<K, LeadingOf<K>>(row);
        const std::uint64_t key =
            key_of_part<threads>(offset_of<K, StridesOfOperand<K, 0>>(place), static_cast<int>(threadIdx.x));
        __syncthreads();  // those of a row before this one may still be read
        if (threadIdx.x % warp_size == 0) {
            best[threadIdx.x / warp_size] = key;
        }
        __syncthreads();
        if (threadIdx.x < warp_size) {
            constexpr int warps = threads / warp_size;
            const std::uint64_t largest = largest_of_warp(threadIdx.x < warps ? best[threadIdx.x] : 0);
            if (threadIdx.x == 0) {
                write(place, largest);
            }
        }
    }

private:
    /// The largest key of a warp, whose thread takes every `sharers`th column.
    template <int sharers>
    [[nodiscard]] __device__ __forceinline__ std::uint64_t key_of_part(Offset<K> from, int thread) const {
        // Loads on their way at a time: of those beyond the row, the last column stands in.
        constexpr int at_once = std::min(16, static_cast<int>((columns + sharers - 1) / sharers));
        std::uint64_t best = 0;
        for (Offset<K> first = thread; first < columns; first += at_once * sharers) {
            float values[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                values[i] = in_[from + min(first + i * sharers, columns - 1) * step];
            }
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                const auto column = static_cast<std::uint32_t>(min(first + i * sharers, columns - 1));
                const std::uint32_t key = values[i] != values[i] ? 0xffffffffU : categorical::key_of(values[i]);
                best = std::max(best, std::uint64_t{key} << 32U | (0xffffffffU - column));
            }
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

    template <class PlaceOfRow>
    __device__ __forceinline__ void write(const PlaceOfRow& place, std::uint64_t key) const {
        out_[offset_of<K, StridesOfOutput<K>>(place)] =
            static_cast<std::int32_t>(0xffffffffU - static_cast<std::uint32_t>(key));
    }

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
        Threads::template for_each_of_blocks<Rows::rows>([&](Offset<K> row) {
            if (is_used(row)) {
                rows.run_block(row, best);
            }
        });
    }
}

}  // namespace totograph::cuda
