// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_products.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reciprocal.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// What the warps of a block found of the same sixteen queries, and the blocks of a cluster, each of keys of its own,
// becomes the result. Each block of a cluster finishes a share of the dimensions: what the others found of these,
// summed over their warps, they store in its shared memory.

namespace totograph::cuda::tile_detail {

template <class K, Precision precision>
class TileResults {
    using Attention = TileAttention<K, precision>;
    using Of = ResultsOf<K>;
    static constexpr int warps = warps_of_block<K>;
    static constexpr int parts = parts_of_tile<K>;
    static_assert(Attention::run == 2 && Attention::packs == Of::packs, "totograph: a lane has pairs of dimensions.");
    static_assert(warps % 2 == 0 && Of::packs % parts == 0, "totograph: blocks finish as many dimensions each.");

public:
    /// Tells the other blocks of the cluster that this one has begun. All threads call this function; those of a block
    /// wait for each other between this one and `store`.
    __device__ __forceinline__ TileResults() {
        if constexpr (parts > 1) {
            Of::Exchange::begin();
        }
    }

    /// Stores the result; all threads call this function, and nobody reads what lay in `memory`.
    /// @param row  `row(half)` is where a query's result goes, or null
    template <class Row>
    __device__ __forceinline__ void store(const Attention& attention, typename Of::Warps& memory, Row&& row) const {
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        const int lane = lane_of_warp();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            memory.scores[half][warp][lane] = {attention.largest(half), attention.total(half)};
#pragma unroll
            for (int pack = 0; pack < Of::packs; ++pack) {
                const auto sums = attention.sums(half, pack);
                memory.sums[half][pack][warp][lane] = {sums.lane[0], sums.lane[1]};
            }
        }
        __syncthreads();
        // Each warp has some of the results of one half.
        const int half = warp % 2;
        const Joined<warps> all([&](int i) { return memory.scores[half][i][lane]; });
        const auto sums_of = [&](int pack) {
            return all.sums([&](int i) { return memory.sums[half][pack][i][lane]; });
        };
        auto* const out = row(half);
        if constexpr (parts == 1) {
            for_each_pack<Of::packs>([&](int pack) { store_pack_of(out, pack, sums_of(pack), all.total()); });
        } else {
            using Exchange = typename Of::Exchange;
            const int part = static_cast<int>(blockIdx.x) % parts;
            auto& own = Exchange::place_of(part);
            Exchange::wait_for_others();
            for_each_pack<Of::packs>([&](int pack) {
                const int to = pack / Of::packs_of_part;
                Exchange::store(own.sums[half][pack % Of::packs_of_part][lane], sums_of(pack), to);
                if (pack % Of::packs_of_part == 0 && quarter_of_lane() == 0) {
                    Exchange::store(own.scores[half][row_of_lane()], float2{all.largest(), all.total()}, to);
                }
            });
            const auto& blocks = Exchange::wait_for_all();
            const Joined<parts> of_blocks([&](int i) { return blocks[i].scores[half][row_of_lane()]; });
            for_each_pack<Of::packs_of_part>([&](int pack) {
                const float2 sums = of_blocks.sums([&](int i) { return blocks[i].sums[half][pack][lane]; });
                store_pack_of(out, part * Of::packs_of_part + pack, sums, of_blocks.total());
            });
        }
    }

private:
    /// Calls `use(pack)` for those of `count` packs that a warp has: as many as the other warps of its half.
    template <int count, class Use>
    static __device__ __forceinline__ void for_each_pack(const Use& use) {
        constexpr int warps_of_half = warps / 2;
        const int first = static_cast<int>(threadIdx.x) / warp_size / 2;
#pragma unroll 4
        for (int i = 0; i < (count + warps_of_half - 1) / warps_of_half; ++i) {
            const int pack = first + i * warps_of_half;
            if (count % warps_of_half == 0 || pack < count) {
                use(pack);
            }
        }
    }

    /// What each of several counts beside the others.
    template <int count>
    class Joined {
    public:
        /// @param scores  the largest score of the `i`th, and the sum of its weights
        template <class Scores>
        __device__ __forceinline__ explicit Joined(Scores&& scores) : largest_(scores(0).x) {
#pragma unroll
            for (int i = 1; i < count; ++i) {
                largest_ = fmaxf(largest_, scores(i).x);
            }
            const float base = largest_ == -std::numeric_limits<float>::infinity() ? 0.0F : largest_;
#pragma unroll
            for (int i = 0; i < count; ++i) {
                weights_[i] = Attention::weight_of(scores(i).x, base);
                total_ += weights_[i] * scores(i).y;
            }
        }
        [[nodiscard]] __device__ __forceinline__ float largest() const {
            return largest_;
        }
        [[nodiscard]] __device__ __forceinline__ float total() const {
            return total_;
        }
        /// @param of  the sums of the `i`th
        template <class Sums>
        [[nodiscard]] __device__ __forceinline__ float2 sums(Sums&& of) const {
            float2 result{};
#pragma unroll
            for (int i = 0; i < count; ++i) {
                const float2 some = of(i);
                result.x += weights_[i] * some.x;
                result.y += weights_[i] * some.y;
            }
            return result;
        }

    private:
        float largest_;
        float total_ = 0;
        float weights_[count];
    };

    template <class To>
    static __device__ __forceinline__ void store_pack_of(To* out, int pack, float2 sums, float total) {
        const float scale = share_of_weight(total);
        if (out != nullptr) {
            const Pack<float, 2> some{{sums.x * scale, sums.y * scale}};
            store_pack<1, K::is_aligned>(out + Attention::dimension_of(pack), stored_as<To>(some));
        }
    }
};

}  // namespace totograph::cuda::tile_detail
