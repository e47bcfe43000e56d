// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/attention/suffix_rows.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// The running softmax of a warp's sixteen queries over tiles of keys and values in shared memory, on tensor cores.

namespace totograph::cuda {

inline constexpr int tile_warps = 4;
inline constexpr int tile_threads = tile_warps * warp_size;
/// Blocks that share a multiprocessor, as far as registers go.
inline constexpr int tile_blocks_together = 3;
/// Queries of one block.
inline constexpr int tile_queries = tile_warps * queries_of_warp;
inline constexpr int tile_keys = AttentionLimits::tile_keys;
static_assert(tile_queries == AttentionLimits::tile_queries);

namespace tile_detail {

// Tensor cores want of a row, from lane q of four, the elements 8 n + 2 q and the one after it; memory wants lanes to
// read neighbours, 16 bytes each. The order of the dimensions is free as long as queries, keys, values and results
// agree: a lane has runs of eight (or four) dimensions, and its 2 n + i'th is what tensor cores take for element 8 n +
// 2 q + i.

/// Neighbouring dimensions of a lane.
template <int head_dim>
inline constexpr int run_of_dimensions = head_dim % 32 == 0 ? 8 : 4;

/// Where tensor cores have a dimension.
template <int head_dim>
constexpr int place_of_dimension(int dimension) {
    constexpr int run = run_of_dimensions<head_dim>;
    const int own = dimension / (4 * run) * run + dimension % run;
    return own / 2 * 8 + dimension / run % 4 * 2 + own % 2;
}

/// Stores four neighbouring dimensions of a row, the first a multiple of four.
template <int head_dim, class T>
__device__ __forceinline__ void store_dimensions(T* row, int dimension, const Pack<float, 4>& four) {
    static_assert(head_dim % 16 == 0);
    T* const to = row + place_of_dimension<head_dim>(dimension);
    store_pack<1, true>(to, stored_as<T>(Pack<float, 2>{four.lane[0], four.lane[1]}));
    store_pack<1, true>(to + 8, stored_as<T>(Pack<float, 2>{four.lane[2], four.lane[3]}));
}

struct KeysAndValues {
    Pack<float, 4> keys;
    Pack<float, 4> values;
};

/// A value that is not a finite number becomes 0, and its key NaN: who attends to it gets NaN, and nobody else. A
/// weight of 0 alone would not do: 0 times NaN is NaN.
__device__ __forceinline__ KeysAndValues without_infinite_values(const Pack<float, 4>& keys,
                                                                 const Pack<float, 4>& values) {
    KeysAndValues result{keys, values};
    float zero = 0;
#pragma unroll
    for (const float value : values.lane) {
        zero += value * 0.0F;
    }
    if (zero != 0.0F) {
        result.keys.lane[0] = zero;
        result.values = {};
    }
    return result;
}

/// Keys and values of one tile in shared memory, as bf16 or f32. Rows are padded so that the reads of a warp meet no
/// bank twice.
template <int head_dim, class Element>
struct Tile {
    static constexpr int padding = AttentionLimits::tile_row_padding / static_cast<int>(sizeof(Element));
    alignas(16) Element key[tile_keys][head_dim + padding];
    alignas(16) Element value[tile_keys][head_dim + padding];

    template <class Key>
    __device__ __forceinline__ void store(int row, int dimension, const StoredPack<Key, 4>& keys,
                                          const StoredPack<Key, 4>& values) {
        const auto pair = without_infinite_values(keys.floats(), values.floats());
        store_dimensions<head_dim>(key[row], dimension, pair.keys);
        store_dimensions<head_dim>(value[row], dimension, pair.values);
    }
};

/// The queries of a warp, and what they have attended to. A lane holds a quarter of the dimensions of two queries:
/// `lane / 4` and that plus 8.
///
/// @tparam K        the attention
/// @tparam Element  what tensor cores multiply: `BFloat16`, or float that is rounded to tf32
template <class K, class Element>
class TileAttention {
    using S = AttentionSizes<K>;
    static constexpr int head_dim = S::head_dim;
    static constexpr bool in_bf16 = std::is_same_v<Element, BFloat16>;

public:
    static constexpr int steps = in_bf16 ? head_dim / 16 : head_dim / 8;
    static constexpr int widths = head_dim / 8;
    static constexpr int key_groups = tile_keys / 8;
    /// Dimensions of a lane: runs of neighbours, of which every fourth is its own.
    static constexpr int own_dimensions = head_dim / 4;
    static constexpr int run = run_of_dimensions<head_dim>;

    /// `row(half)` points to a query, or is null where there is none.
    template <class Row>
    __device__ explicit TileAttention(Row&& row) {
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
                        query_[half][first / 2 + i] = pair_of(some, i);
                    }
                } else {
                    const auto floats = some.floats();
#pragma unroll
                    for (int i = 0; i < run; ++i) {
                        query_[half][first + i] = as_tf32(floats.lane[i]);
                    }
                }
            }
        }
    }

    /// Takes a tile of keys; `counts(score)` says whether a query attends to a key, of a score of the lane, unless all
    /// do.
    template <class Counts>
    __device__ __forceinline__ void add(const Tile<head_dim, Element>& tile, bool all_count, Counts&& counts) {
        float scores[key_groups][4];
#pragma unroll
        for (int group = 0; group < key_groups; ++group) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                scores[group][i] = 0;
            }
            score(scores[group], tile, group * 8);
        }
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
            const float base = largest == -std::numeric_limits<float>::infinity() ? 0.0F : largest * factor();
            const float shrink = power_of_two(largest_[half] * factor() - base);
            float total = 0;
#pragma unroll
            for (int group = 0; group < key_groups; ++group) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    float& value = scores[group][half * 2 + i];
                    value = power_of_two(value * factor() - base);
                    total += value;
                }
            }
            total += __shfl_xor_sync(0xffffffffU, total, 1);
            total += __shfl_xor_sync(0xffffffffU, total, 2);
            total_[half] = total_[half] * shrink + total;
            largest_[half] = largest;
#pragma unroll
            for (int width = 0; width < widths; ++width) {
                accumulators_[width][half * 2] *= shrink;
                accumulators_[width][half * 2 + 1] *= shrink;
            }
        }
        weigh(scores, tile);
    }

    /// Takes a key and a value of each query's own suffix.
    template <class Key>
    __device__ __forceinline__ void add_suffix(const SuffixRows<head_dim, Key>& suffix) {
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
                        const int low = pack * run / 2 + i;
                        const std::uint32_t a[4] = {query_[0][low], query_[1][low], query_[0][low + 1],
                                                    query_[1][low + 1]};
                        multiply_bf16(products, a, pair_of(key, i), pair_of(key, i + 1));
                    }
                }
                const float score = row() % 2 == 0 ? products[half * 2] : products[half * 2 + 1];
                scores[half] = __shfl_sync(0xffffffffU, score, row() * 4 + row() / 2);
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
            const float base = largest * factor();
            const float shrink = power_of_two(largest_[half] * factor() - base);
            const float weight = power_of_two(scores[half] * factor() - base);
            largest_[half] = largest;
            total_[half] = total_[half] * shrink + weight;
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
            const float scale = total_[half] > 0 ? 1.0F / total_[half] : 0.0F;
#pragma unroll
            for (int first = 0; first < own_dimensions; first += run) {
                Pack<float, run> some;
#pragma unroll
                for (int i = 0; i < run; ++i) {
                    some.lane[i] = accumulators_[(first + i) / 2][half * 2 + i % 2] * scale;
                }
                store_pack<1, K::is_aligned>(out + dimension_of(first / run), stored_as<To>(some));
            }
        }
    }

private:
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
        return rows.template load<run>(row() + half * 8, dimension_of(pack));
    }
    static __device__ __forceinline__ int quarter() {
        return static_cast<int>(threadIdx.x) % 4;
    }
    /// Where a run of this lane's dimensions begins.
    static __device__ __forceinline__ int dimension_of(int pack) {
        return (pack * 4 + quarter()) * run;
    }
    static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x) % warp_size;
    }
    static __device__ __forceinline__ int row() {
        return static_cast<int>(threadIdx.x) % warp_size / 4;
    }

    /// Scores of the eight keys from `first` on.
    __device__ __forceinline__ void score(float (&scores)[4], const Tile<head_dim, Element>& tile, int first) const {
        if constexpr (in_bf16) {
#pragma unroll
            for (int step = 0; step < steps; step += 2) {
                // Blocks side by side: four times eight dimensions. Of a head of 16, the last two are not used.
                std::uint32_t keys[4];
                const int dimension = min(step * 16 + lane() / 8 * 8, head_dim - 8);
                load_blocks(keys, &tile.key[first + lane() % 8][dimension]);
#pragma unroll
                for (int i = 0; i < 2 && step + i < steps; ++i) {
                    const auto& low = (step + i) * 2;
                    const std::uint32_t a[4] = {query_[0][low], query_[1][low], query_[0][low + 1], query_[1][low + 1]};
                    multiply_bf16(scores, a, keys[i * 2], keys[i * 2 + 1]);
                }
            }
        } else {
#pragma unroll
            for (int step = 0; step < steps; ++step) {
                // The order of the dimensions inside an instruction is free: a lane takes two neighbours.
                const std::uint32_t a[4] = {query_[0][step * 2], query_[1][step * 2], query_[0][step * 2 + 1],
                                            query_[1][step * 2 + 1]};
                const float* from = &tile.key[first + row()][step * 8 + quarter() * 2];
                multiply_tf32(scores, a, as_tf32(from[0]), as_tf32(from[1]));
            }
        }
    }

    /// Adds up values by their weights.
    __device__ __forceinline__ void weigh(const float (&weights)[key_groups][4], const Tile<head_dim, Element>& tile) {
        if constexpr (in_bf16) {
#pragma unroll
            for (int step = 0; step < tile_keys / 16; ++step) {
                const auto& low = weights[step * 2];
                const auto& high = weights[step * 2 + 1];
                const std::uint32_t a[4] = {two_bf16(low[0], low[1]), two_bf16(low[2], low[3]),
                                            two_bf16(high[0], high[1]), two_bf16(high[2], high[3])};
#pragma unroll
                for (int width = 0; width < widths; width += 2) {
                    std::uint32_t values[4];
                    load_transposed_blocks(values, &tile.value[step * 16 + lane() % 16][width * 8 + lane() / 16 * 8]);
                    multiply_bf16(accumulators_[width], a, values[0], values[1]);
                    multiply_bf16(accumulators_[width + 1], a, values[2], values[3]);
                }
            }
        } else {
#pragma unroll
            for (int step = 0; step < tile_keys / 8; ++step) {
                const auto& own = weights[step];
                const std::uint32_t a[4] = {as_tf32(own[0]), as_tf32(own[2]), as_tf32(own[1]), as_tf32(own[3])};
                const int key = step * 8 + quarter() * 2;
#pragma unroll
                for (int width = 0; width < widths; ++width) {
                    multiply_tf32(accumulators_[width], a, as_tf32(tile.value[key][width * 8 + row()]),
                                  as_tf32(tile.value[key + 1][width * 8 + row()]));
                }
            }
        }
    }

    std::uint32_t query_[2][in_bf16 ? widths : widths * 2];  ///< Two bf16 each, or one tf32.
    float largest_[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    float total_[2] = {};
    float accumulators_[widths][4] = {};
};

}  // namespace tile_detail

}  // namespace totograph::cuda
