// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/core/categorical.hpp>
#include <totograph/core/random.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/categorical/key_search.hpp>
#include <totograph/exec/cuda/kernels/categorical/own_logits.hpp>
#include <totograph/exec/cuda/kernels/draw_names.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// Draws of ids, a block each. Weights are whole numbers, so the order of sums does not change an id. It is the CPU's
// but where `exp` of the device, which rounds otherwise, moves a weight by one (`core/categorical.hpp`).

namespace totograph::cuda {

/// What the threads before this one have, and what all have. Before the next one, the threads wait for each other.
struct BlockScan {
    std::uint64_t before;
    std::uint64_t total;
};
__device__ __forceinline__ BlockScan scan_of_block(std::uint64_t value) {
    constexpr int warps = block_threads / warp_size;
    __shared__ std::uint64_t of_warps[warps];
    const int own = static_cast<int>(threadIdx.x) / warp_size;
    const std::uint64_t sum = scan_of_warp(value);
    if (threadIdx.x % warp_size == warp_size - 1) {
        of_warps[own] = sum;
    }
    __syncthreads();
    BlockScan result{sum - value, 0};
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
        const std::uint64_t of_warp = of_warps[warp];
        result.before += warp < own ? of_warp : 0;
        result.total += of_warp;
    }
    return result;
}

/// Which logits stay.
template <class Logits, int count>
class KeptLogits {
    static constexpr std::uint64_t all_ties = categorical::Kept{}.ties;

public:
    __device__ __forceinline__ KeptLogits(OwnLogits<Logits, count>& own, KeySearch<Logits, count>& search,
                                          const CategoricalOptions& options)
        : own_(own), largest_(search.largest()), temperature_(options.temperature) {
        const bool has_share = options.top_p < 1.0F;
        if (has_share || temperature_ == 1.0F) {
            own.weigh(largest_);
        }
        if (options.top_k > 0 && options.top_k < count) {
            const auto limit = static_cast<std::uint64_t>(options.top_k) - 1;
            const auto one = [](float, int) { return std::uint64_t{1}; };
            kept_.key = search
                            .find(
                                kept_.key, [limit](std::uint64_t) { return limit; }, one)
                            .key;
            search.start_again();
        }
        if (has_share) {
            const auto limit = [&](std::uint64_t total) { return categorical::part_of(total, options.top_p); };
            const auto weight = [this](float logit, int i) { return own_.weight(logit, i, largest_); };
            kept_ = kept_of(search.find(kept_.key, limit, weight), options.drops_crossing);
        }
    }

    /// Calls `write` with the id that a word of random bits points to: threads add up neighbours, and the one that has
    /// it walks along them.
    template <class Word, class Write>
    __device__ __forceinline__ void pick(const Word& word, const Write& write) const {
        const std::uint64_t ties = own_ties();
        std::uint64_t sum = 0;
        for_each(ties, [&](int, std::uint64_t weight) { sum += weight; });
        const std::uint32_t bits = word();
        const BlockScan sums = scan_of_block(sum);
        const std::uint64_t wanted = categorical::pointed_to(sums.total, bits);
        std::uint64_t before = sums.before;
        if (wanted >= before && wanted < before + sum) {
            for_each(ties, [&](int id, std::uint64_t weight) {
                if (wanted >= before && wanted < before + weight) {
                    write(id);
                }
                before += weight;
            });
        }
    }

private:
    using Found = typename KeySearch<Logits, count>::Found;

    /// One key with a single logit, as most have, needs no division.
    static __device__ __forceinline__ categorical::Kept kept_of(const Found& found, bool drops_crossing) {
        if (found.within == found.of_one && !drops_crossing) {
            return {found.key, all_ties};
        }
        const categorical::Search search{found.key, 0, found.above, found.within};
        const std::uint64_t ties = categorical::ties_within(search, found.of_one, found.limit, drops_crossing);
        return {found.key, ties * found.of_one == found.within ? all_ties : ties};
    }

    /// How many equal logits of this thread stay, at most.
    __device__ __forceinline__ std::uint64_t own_ties() const {
        if (kept_.ties == all_ties || kept_.ties == 0) {
            return kept_.ties;
        }
        std::uint64_t ties = 0;
        own_.for_each_neighbour([&](int, float, std::uint32_t key, int) { ties += key == kept_.key ? 1 : 0; });
        const std::uint64_t left = kept_.ties - std::min(scan_of_block(ties).before, kept_.ties);
        __syncthreads();
        return left;
    }

    /// Calls `visit(id, weight)` for those of this thread.
    template <class Visit>
    __device__ __forceinline__ void for_each(std::uint64_t ties, const Visit& visit) const {
        own_.for_each_neighbour([&](int id, float logit, std::uint32_t key, int i) {
            const bool is_tie = key == kept_.key;
            if (key > kept_.key || (is_tie && ties > 0)) {
                ties -= is_tie ? 1 : 0;
                visit(id, temperature_ == 1.0F ? own_.weight(logit, i, largest_)
                                               : categorical_weight(logit, largest_, temperature_));
            }
        });
    }

    const OwnLogits<Logits, count>& own_;
    float largest_;
    float temperature_;
    categorical::Kept kept_;
};

/// One id of `count`, by all threads of a block; one of them calls `write`. Before the next draw they wait for each
/// other.
/// @param word  gives a word of random bits
template <int count, class Logits, class Word, class Write>
__device__ __forceinline__ void draw_id(const Logits& logits, const CategoricalOptions& options, const Word& word,
                                        const Write& write) {
    OwnLogits<Logits, count> own(logits);
    KeySearch<Logits, count> search(own);
    if (categorical::can_draw(search.largest())) {
        KeptLogits<Logits, count>(own, search, options).pick(word, write);
    } else if (threadIdx.x == 0) {
        write(-1);
    }
}

/// What divides the logits that stay.
template <class K>
__device__ float temperature_of(const KernelCall& call) {
    if constexpr (K::kernel.attributes[2] != 0) {
        return *call.operands[6].get<float>(positions_of<K>(call));
    } else {
        return 1.0F;
    }
}

/// Ids of `[batch, samples, variates, positions]`, with the keys of the CPU.
template <class K>
__device__ void run_sample_categorical(const KernelCall& call, const UsedExtents<K>& used) {
    constexpr Operand operand = K::kernel.operands[0];
    constexpr auto step = static_cast<Offset<K>>(operand.strides[4]);
    constexpr auto vocabulary = static_cast<int>(operand.shape.extents[4]);
    static_assert(vocabulary <= categorical::most_ids,
                  "totograph: sample_categorical on CUDA takes up to 2^27 ids, whose weights add up in 64 bits.");
    constexpr bool is_shared = operand.shape.extents[1] == 1;
    constexpr auto word = static_cast<int>(K::kernel.attributes[0]);
    constexpr auto draws = static_cast<Offset<K>>(K::kernel.iteration.size());
    const auto* logits = call.operands[0].get<float>(positions_of<K>(call));
    const CategoricalOptions options{*call.operands[1].get<std::int32_t>(positions_of<K>(call)),
                                     *call.operands[2].get<float>(positions_of<K>(call)), K::kernel.attributes[1] != 0,
                                     temperature_of<K>(call)};
    const DrawNames<K, 3> names(call);
    const auto time = static_cast<std::uint32_t>(*call.operands[5].get<std::int32_t>(positions_of<K>(call)));
    auto* out = call.output.get<std::int32_t>(positions_of<K>(call));
    Blocks<>::for_each_of_blocks<draws>([&](Offset<K> draw) {
        const auto place = place_of<K, IterationOf<K>>(draw);
        if (!used.template has_place<IterationOf<K>>(place)) {
            return;  // all of the block
        }
        auto parameters = place;
        if constexpr (is_shared) {
            parameters.at[1] = 0;
        }
        const float* row = logits + offset_of<K, StridesOfOperand<K, 0>>(parameters);
        const SampleKey key = names.key(place, time + static_cast<std::uint32_t>(place.at[3]));
        const auto at = [row](int id) { return row[id * step]; };
        draw_id<vocabulary>(
            at, options, [&] { return random_words(key).word[word]; },
            [&](std::int32_t id) { out[offset_of<K, StridesOfOutput<K>>(place)] = id; });
        __syncthreads();  // shared memory may still be read
    });
}

}  // namespace totograph::cuda
