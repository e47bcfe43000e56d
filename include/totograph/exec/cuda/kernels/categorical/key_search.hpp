// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include <totograph/core/categorical.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/categorical/own_logits.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// The search for the smallest logit that stays. What a block waits for most is itself, so that few barriers stand here:
// each warp finds alone, all of them the same, which digit that logit has, and which of the few logits of that digit it
// is.

namespace totograph::cuda {

/// Searches of one draw: all threads of the block call what is public.
/// @tparam count  ids of a row
template <class Logits, int count>
class KeySearch {
public:
    /// What a search found.
    struct Found {
        std::uint32_t key;
        std::uint64_t above;   ///< What all larger keys have.
        std::uint64_t within;  ///< What this one has.
        std::uint64_t of_one;  ///< What one logit with this key has.
        std::uint64_t limit;
    };

    /// Finds the largest logit. Threads have waited for each other since the last draw.
    __device__ __forceinline__ explicit KeySearch(const OwnLogits<Logits, count>& own) : own_(own) {
        clear();
        start_list();
        find_range();
    }

    /// The largest logit; NaN where all are.
    [[nodiscard]] __device__ __forceinline__ float largest() const { return largest_; }

    /// The search that `core/categorical.hpp` does.
    /// @param smallest  the smallest key that counts
    /// @param limit     `limit(total)` tells what may stand before the key
    /// @param amount    `amount(logit, i)` tells what a logit of this thread counts
    template <class Limit, class Amount>
    __device__ Found find(std::uint32_t smallest, const Limit& limit, const Amount& amount) {
        Search search{smallest, ~0U};
#pragma unroll 1
        while (true) {
            own_.for_each([&](float logit, std::uint32_t key, int i) {
                if (search.has(key)) {
                    add(digit_of(search, logit, key), amount(logit, i));
                }
            });
            __syncthreads();
            const Crossing crossing = cross(search, limit);
            Range range;
            own_.for_each([&](float logit, std::uint32_t key, int i) {
                if (search.has(key) && digit_of(search, logit, key) == crossing.digit && amount(logit, i) != 0) {
                    range.add(key);
                    const int place = atomicAdd(&shared().listed, 1);
                    if (place < warp_size) {
                        shared().list[place] = {amount(logit, i), key};
                    }
                }
            });
            __syncthreads();
            search.above = crossing.above;
            if (shared().listed <= warp_size) {
                return find_in_list(search);
            }
            clear();
            range.of_block();
            if (range.low == range.high) {
                return {range.low, crossing.above, crossing.within, shared().list[0].amount, search.limit};
            }
            start_list();
            search.low = range.low;
            search.high = range.high;
            search.is_first = false;
        }
    }

    /// Makes ready for another search.
    __device__ __forceinline__ void start_again() {
        __syncthreads();  // the list may still be read
        clear();
        start_list();
        __syncthreads();
    }

private:
    static constexpr unsigned all_lanes = 0xffffffffU;
    static constexpr int warps = block_threads / warp_size;
    static constexpr int digits_of_lane = static_cast<int>(categorical::digits) / warp_size;

    /// Weights are added up in parts of so many bits, whose sums of all ids fit the words that shared memory adds to at
    /// once; it has no addition of 64 bits.
    static constexpr int part_bits = 32 - std::bit_width(static_cast<std::uint32_t>(count));
    static constexpr int parts = (categorical::weight_bits + part_bits - 1) / part_bits;

    /// One of the logits among which the search ends, a lane each.
    struct Candidate {
        std::uint64_t amount;
        std::uint32_t key;
    };
    struct Shared {
        alignas(16) std::uint32_t sums[parts][categorical::digits];  ///< Of each digit, the largest logits first.
        Candidate list[warp_size];
        int listed;  ///< How many candidates there are; more than the list has room for are counted.
        std::uint32_t low[warps];
        std::uint32_t high[warps];
    };
    static_assert(categorical::digits == block_threads, "totograph: a thread has a digit.");

    static __device__ Shared& shared() {
        __shared__ Shared memory;
        return memory;
    }
    static __device__ __forceinline__ int own() {
        return static_cast<int>(threadIdx.x);
    }
    static __device__ __forceinline__ int lane() {
        return own() % warp_size;
    }

    static __device__ __forceinline__ void clear() {
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            shared().sums[part][own()] = 0;
        }
    }
    static __device__ __forceinline__ void start_list() {
        if (own() == 0) {
            shared().listed = 0;
        }
    }

    /// The smallest and the largest of keys, those of all threads.
    struct Range {
        std::uint32_t low = ~0U;
        std::uint32_t high = 0;

        __device__ __forceinline__ void add(std::uint32_t key) {
            low = min(low, key);
            high = max(high, key);
        }
        __device__ __forceinline__ void of_block() {
            low = __reduce_min_sync(all_lanes, low);
            high = __reduce_max_sync(all_lanes, high);
            if (lane() == 0) {
                shared().low[own() / warp_size] = low;
                shared().high[own() / warp_size] = high;
            }
            __syncthreads();
#pragma unroll
            for (int warp = 0; warp < warps; ++warp) {
                low = min(low, shared().low[warp]);
                high = max(high, shared().high[warp]);
            }
        }
    };

    /// Finds the largest logit, and how far below it the first digits reach.
    __device__ __forceinline__ void find_range() {
        constexpr float no_weight = 25.0F;  // so far below the largest, weights are 0
        Range range;
        own_.for_each([&](float, std::uint32_t key, int) {
            range.high = max(range.high, key);
            range.low = min(range.low, key == 0 ? ~0U : key);
        });
        range.of_block();
        largest_ = logit_of_key(range.high);
        digits_per_unit_ = static_cast<float>(categorical::digits - 1) /
                           fminf(largest_ - logit_of_key(min(range.low, range.high)), no_weight);
    }

    /// A search for the smallest key that stays.
    struct Search {
        std::uint32_t low;   ///< The smallest key that it may be,
        std::uint32_t high;  ///< and the largest.
        bool is_first = true;
        std::uint64_t limit = 0;
        std::uint64_t above = 0;  ///< What all larger keys than `high` have.

        [[nodiscard]] __device__ __forceinline__ bool has(std::uint32_t key) const { return key >= low && key <= high; }
    };
    /// The digit of a key, 0 for the largest: no smaller key has a smaller digit. First they cut the logits evenly,
    /// then the keys that are left.
    [[nodiscard]] __device__ __forceinline__ int digit_of(const Search& search, float logit, std::uint32_t key) const {
        if (search.is_first) {
            const float distance = logit == largest_ ? 0.0F : (largest_ - logit) * digits_per_unit_;
            return static_cast<int>(fminf(distance, static_cast<float>(categorical::digits - 1)));
        }
        const int bits = 32 - __clz(static_cast<int>(search.high - search.low));
        return static_cast<int>((search.high - key) >> max(bits - categorical::digit_bits, 0));
    }

    static __device__ void add(int digit, std::uint64_t amount) {
        constexpr std::uint64_t mask = (std::uint64_t{1} << part_bits) - 1;
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            const auto some = static_cast<std::uint32_t>(amount >> (part * part_bits) & mask);
            if (some != 0) {
                atomicAdd(&shared().sums[part][digit], some);
            }
        }
    }

    /// The last digit that has anything and before which there is at most the limit.
    struct Crossing {
        int digit;
        std::uint64_t above;
        std::uint64_t within;
    };
    template <class Limit>
    static __device__ __forceinline__ Crossing cross(Search& search, const Limit& limit) {
        std::uint64_t sums[digits_of_lane] = {};
        std::uint64_t sum = 0;
#pragma unroll
        for (int i = 0; i < digits_of_lane; ++i) {
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                const std::uint64_t of_part = shared().sums[part][lane() * digits_of_lane + i];
                sums[i] += of_part << (part * part_bits);
            }
            sum += sums[i];
        }
        const std::uint64_t scanned = scan_of_warp(sum);
        if (search.is_first) {
            search.limit = limit(__shfl_sync(all_lanes, scanned, warp_size - 1));
        }
        Crossing own{-1, 0, 0};
        std::uint64_t before = search.above + scanned - sum;
#pragma unroll
        for (int i = 0; i < digits_of_lane; ++i) {
            if (sums[i] != 0 && before <= search.limit) {
                own = {lane() * digits_of_lane + i, before, sums[i]};
            }
            before += sums[i];
        }
        const int digit = __reduce_max_sync(all_lanes, own.digit);
        const int holder = digit / digits_of_lane;
        return {digit, __shfl_sync(all_lanes, own.above, holder), __shfl_sync(all_lanes, own.within, holder)};
    }

    /// The end of a search: each lane adds up what is above its candidate.
    static __device__ __forceinline__ Found find_in_list(const Search& search) {
        const int listed = shared().listed;
        const Candidate own = lane() < listed ? shared().list[lane()] : Candidate{0, 0};
        std::uint64_t above = search.above;
        std::uint64_t within = 0;
#pragma unroll 4
        for (int i = 0; i < listed; ++i) {
            const Candidate other = shared().list[i];
            above += other.key > own.key ? other.amount : 0;
            within += other.key == own.key ? other.amount : 0;
        }
        const bool may_be = lane() < listed && above <= search.limit;
        const std::uint32_t key = __reduce_min_sync(all_lanes, may_be ? own.key : ~0U);
        const int holder = __ffs(static_cast<int>(__ballot_sync(all_lanes, may_be && own.key == key))) - 1;
        return {key, __shfl_sync(all_lanes, above, holder), __shfl_sync(all_lanes, within, holder),
                __shfl_sync(all_lanes, own.amount, holder), search.limit};
    }

    const OwnLogits<Logits, count>& own_;
    float largest_ = 0;
    float digits_per_unit_ = 0;
};

}  // namespace totograph::cuda
