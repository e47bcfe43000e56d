// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_memory.hpp>
#include <totograph/exec/cuda/attention/tile_products.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reciprocal.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// The running softmax of a warp's sixteen queries over keys and values in shared memory, on tensor cores.

namespace totograph::cuda {

/// Warps of most blocks.
inline constexpr int tile_warps = 4;
/// Queries of a block whose warps have queries of their own.
inline constexpr int tile_queries = tile_warps * queries_of_warp;
static_assert(tile_queries == AttentionLimits::tile_queries);
static_assert(queries_of_warp == AttentionLimits::tile_warp_queries);

namespace tile_detail {

/// The queries of a warp, and what they have attended to. A lane holds a quarter of the dimensions of two queries:
/// `lane / 4` and that plus 8.
///
/// @tparam K  the attention
template <class K, Precision precision>
class TileAttention {
    using S = AttentionSizes<K>;
    static constexpr int head_dim = S::head_dim;
    static constexpr bool in_bf16 = precision == Precision::bf16;
    using Products = TileProducts<head_dim, precision>;
    using Queries = typename QueriesOf<head_dim, precision>::type;

public:
    static constexpr int widths = Products::widths;
    /// Whether keys and values are staged as they lie in memory, and not in the order of a tile.
    static constexpr bool rows_are_staged =
        warps_share_keys(K::kernel) || stages_tiles(K::kernel, storage_of<K>, precision);
    /// Dimensions of a lane: runs of neighbours, of which every fourth is its own; of staged rows, pairs, as tensor
    /// cores take them.
    static constexpr int own_dimensions = head_dim / 4;
    static constexpr int run = rows_are_staged ? 2 : run_of_dimensions<head_dim>;
    /// Of warps that share queries.
    static constexpr auto warps = static_cast<int>(tile_warps_of(K::kernel, storage_of<K>.keys_are_bf16));
    /// Whether the queries lie in shared memory, once for all warps.
    static constexpr bool shares_queries = head_dim > AttentionLimits::most_head_dim;
    using SharedQueries = typename QueryRows<head_dim>::Rows;

    /// `row(half)` points to a query, or is null where there is none.
    template <class Row>
    requires std::is_invocable_v<Row, int> __device__ explicit TileAttention(Row&& row) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto* from = row(half);
            using T = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
#pragma unroll
            for (int first = 0; first < own_dimensions; first += run) {
                StoredPack<T, run> some{};
                if (from != nullptr) {
                    some = load_stored<run, K::is_aligned>(from + dimension_of(first / run));
                }
                if constexpr (in_bf16) {
#pragma unroll
                    for (int i = 0; i < run / 2; ++i) {
                        query_.of[half][first / 2 + i] = pair_of(some, i);
                    }
                } else {
                    const auto floats = some.floats();
#pragma unroll
                    for (int i = 0; i < run; ++i) {
                        // Suffixes are multiplied without tensor cores.
                        query_[half][first + i] = precision == Precision::tf32 ? rounded_to_tf32(floats.lane[i])
                                                                               : __float_as_uint(floats.lane[i]);
                    }
                }
            }
        }
    }

    /// The queries lie in shared memory.
    __device__ explicit TileAttention(const SharedQueries& queries) : query_{&queries} {}

    /// Brings the queries there: each warp has some of the dimensions. Nobody may read them before all warps are done.
    template <class Row>
    static __device__ __forceinline__ void share_queries(SharedQueries& queries, Row&& row) {
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto* from = row(half);
            using T = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
            for (int pack = warp; pack < own_dimensions / run; pack += warps) {
                StoredPack<T, run> some{};
                if (from != nullptr) {
                    some = load_stored<run, K::is_aligned>(from + dimension_of(pack));
                }
                queries.store_pair(row_of_lane() + half * 8, dimension_of(pack), pair_of(some, 0));
            }
        }
    }

    /// Takes the first keys in shared memory; `counts(score)` says whether a query attends to a key, of a score of the
    /// lane, unless all do.
    template <int keys, class Memory, class Counts>
    __device__ __forceinline__ void add(const Memory& memory, bool all_count, Counts&& counts) {
        constexpr int key_groups = keys / 8;
        float scores[key_groups][4] = {};
        Products::score(scores, query_, memory);
        if (!all_count) {
#pragma unroll
            for (int group = 0; group < key_groups; ++group) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if (!counts(group * 4 + i)) {
                        scores[group][i] = -std::numeric_limits<float>::infinity();
                    }
                }
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float largest = largest_[half];
#pragma unroll
            for (int group = 0; group < key_groups; ++group) {
                largest = fmaxf(largest, fmaxf(scores[group][half * 2], scores[group][half * 2 + 1]));
            }
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 2));
            // Where nothing counts so far, any finite number will do.
            const float base = largest == -std::numeric_limits<float>::infinity() ? 0.0F : largest;
            const float shrink = weight_of(largest_[half], base);
            float total = 0;
#pragma unroll
            for (int group = 0; group < key_groups; ++group) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    float& value = scores[group][half * 2 + i];
                    value = weight_of(value, base);
                    total += value;
                }
            }
            total_[half] = total_[half] * shrink + total;
            largest_[half] = largest;
#pragma unroll
            for (int width = 0; width < widths; ++width) {
                accumulators_[width][half * 2] *= shrink;
                accumulators_[width][half * 2 + 1] *= shrink;
            }
        }
        Products::weigh(accumulators_, scores, memory);
    }

    /// Takes a key and a value of each query's own suffix.
    template <class Rows>
    __device__ __forceinline__ void add_suffix(const Rows& suffix) {
        float scores[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if constexpr (in_bf16) {
                // All queries by all keys, on tensor cores; each query's own score is on the diagonal.
                float products[4] = {};
#pragma unroll
                for (int pack = 0; pack < own_dimensions / run; ++pack) {
                    const auto key = load_suffix(suffix.key, half, pack);
#pragma unroll
                    for (int i = 0; i < run / 2; i += 2) {
                        std::uint32_t a[4];
                        query_.load(a, (pack * run / 2 + i) / 2);
                        multiply_bf16(products, a, pair_of(key, i), pair_of(key, i + 1));
                    }
                }
                const int row = row_of_lane();
                const float score = row % 2 == 0 ? products[half * 2] : products[half * 2 + 1];
                scores[half] = __shfl_sync(0xffffffffU, score, row * 4 + row / 2);
            } else {
                float score = 0;
#pragma unroll
                for (int pack = 0; pack < own_dimensions / run; ++pack) {
                    const auto key = load_suffix(suffix.key, half, pack).floats();
#pragma unroll
                    for (int i = 0; i < run; ++i) {
                        score += __uint_as_float(query_[half][pack * run + i]) * key.lane[i];
                    }
                }
                score += __shfl_xor_sync(0xffffffffU, score, 1);
                score += __shfl_xor_sync(0xffffffffU, score, 2);
                scores[half] = score;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float largest = fmaxf(largest_[half], scores[half]);
            const float shrink = weight_of(largest_[half], largest);
            const float weight = weight_of(scores[half], largest);
            largest_[half] = largest;
            total_[half] = total_[half] * shrink + (quarter_of_lane() == 0 ? weight : 0.0F);
#pragma unroll
            for (int pack = 0; pack < own_dimensions / run; ++pack) {
                const auto value = load_suffix(suffix.value, half, pack).floats();
#pragma unroll
                for (int i = 0; i < run; ++i) {
                    float& sum = accumulators_[(pack * run + i) / 2][half * 2 + i % 2];
                    sum = sum * shrink + weight * value.lane[i];
                }
            }
        }
    }

    /// `row(half)` is where a query's result goes, or null.
    template <class Row>
    __device__ __forceinline__ void store(Row&& to) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            auto* out = to(half);
            if (out == nullptr) {
                continue;
            }
            using To = std::remove_pointer_t<decltype(out)>;
            const float total = sum_of_group<4>(total_[half]);
            const float scale = share_of_weight(total);
#pragma unroll
            for (int pack = 0; pack < own_dimensions / run; ++pack) {
                Pack<float, run> some;
#pragma unroll
                for (int i = 0; i < run; ++i) {
                    some.lane[i] = sum_of(half, pack, i) * scale;
                }
                store_pack<1, K::is_aligned>(out + dimension_of(pack), stored_as<To>(some));
            }
        }
    }

    // What was found, for those that join it with what others found of the same queries (`tile_results.hpp`).

    /// Packs of dimensions of a lane's query.
    static constexpr int packs = own_dimensions / run;
    [[nodiscard]] __device__ __forceinline__ float largest(int half) const {
        return largest_[half];
    }
    /// Of all lanes that have the query.
    [[nodiscard]] __device__ __forceinline__ float total(int half) const {
        return sum_of_group<4>(total_[half]);
    }
    [[nodiscard]] __device__ __forceinline__ Pack<float, run> sums(int half, int pack) const {
        Pack<float, run> result;
#pragma unroll
        for (int i = 0; i < run; ++i) {
            result.lane[i] = sum_of(half, pack, i);
        }
        return result;
    }
    /// The weight of a score beside the largest one. In f32 their difference comes first: it is exact where it counts.
    static __device__ __forceinline__ float weight_of(float score, float largest) {
        return power_of_two(precision == Precision::f32 ? (score - largest) * factor()
                                                        : score * factor() - largest * factor());
    }
    /// Where a run of this lane's dimensions begins.
    static __device__ __forceinline__ int dimension_of(int pack) {
        return (pack * 4 + quarter_of_lane()) * run;
    }

private:
    [[nodiscard]] __device__ __forceinline__ float sum_of(int half, int pack, int i) const {
        return accumulators_[(pack * run + i) / 2][half * 2 + i % 2];
    }

    /// What turns a score into an exponent of two.
    static __device__ __forceinline__ float factor() {
        constexpr float log2_e = 1.4426950408889634F;
        return S::scale * log2_e;
    }
    /// One instruction: results below the least normal number become 0, of numbers of which the largest is 1.
    static __device__ __forceinline__ float power_of_two(float exponent) {
        float result;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
        return result;
    }
    /// Two neighbours of a pack, as bf16.
    template <class T>
    static __device__ __forceinline__ std::uint32_t pair_of(const StoredPack<T, run>& pack, int pair) {
        if constexpr (std::is_same_v<T, BFloat16>) {
            return pack.pair[pair];
        } else {
            return two_bf16(pack.pack.lane[pair * 2], pack.pack.lane[pair * 2 + 1]);
        }
    }
    /// This lane's run of dimensions of a row of a query's suffix.
    template <class Rows>
    static __device__ __forceinline__ auto load_suffix(const Rows& rows, int half, int pack) {
        return rows.template load<run>(row_of_lane() + half * 8, dimension_of(pack));
    }

    Queries query_;
    float largest_[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    float total_[2] = {};  ///< Of the keys whose scores this lane has.
    float accumulators_[widths][4] = {};
};

}  // namespace tile_detail

}  // namespace totograph::cuda
