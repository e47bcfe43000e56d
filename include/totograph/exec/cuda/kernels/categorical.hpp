// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include <totograph/core/categorical.hpp>
#include <totograph/core/random.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/draw_names.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// Draws of ids, a block each. Weights are whole numbers, so the order of sums does not change an id. It is the CPU's
// but where `exp` of the device, which rounds otherwise, moves a weight by one (`core/categorical.hpp`).

namespace totograph::cuda {

/// Draws of one block, one after the other.
/// @tparam most  ids that a row has, at most
template <class Logits, int most>
class CategoricalBlock {
public:
    __device__ CategoricalBlock(const Logits& logits, int count) : logits_(logits), count_(count) {}

    /// One id, in every thread; all threads of the block call it.
    __device__ std::int32_t draw(const CategoricalOptions& options, std::uint32_t word) {
        using namespace categorical;
        largest_ = -std::numeric_limits<float>::infinity();
        for (int i = own(); i < count_; i += block_threads) {
            largest_ = fmaxf(largest_, logits_(i));  // leaves NaN out
        }
        largest_ = largest_of_block(largest_);
        if (!can_draw(largest_)) {
            return -1;
        }
        kept_ = Kept{};
        if (options.top_k > 0 && options.top_k < count_) {
            const auto limit = static_cast<std::uint64_t>(options.top_k) - 1;
            kept_.key = find(limit, [](float) { return std::uint64_t{1}; }).prefix;
        }
        if (options.top_p < 1.0F) {
            const std::uint64_t limit = part_of(sum_of_kept(), options.top_p);
            const Search search = find(limit, [this](float logit) { return weight_of(logit, largest_); });
            const std::uint64_t of_one = weight_of(logit_of(search.prefix), largest_);
            kept_ = {search.prefix, ties_within(search, of_one, limit, options.drops_crossing)};
        }
        return pick(options.temperature, word);
    }

private:
    /// Weights are added up in parts of so many bits, whose sums of all ids fit the words that shared memory adds to at
    /// once; it has no addition of 64 bits.
    static constexpr int part_bits = 32 - std::bit_width(static_cast<std::uint32_t>(most));
    static constexpr int parts = (categorical::weight_bits + part_bits - 1) / part_bits;

    struct Shared {
        std::uint32_t sums[parts][categorical::digits];
        std::uint64_t of_warps[block_threads / warp_size];
        float largest[block_threads / warp_size];
        int found;
        std::uint32_t prefix;
        std::uint64_t above;
        std::uint64_t within;
        std::int32_t id;
    };
    static_assert(categorical::digits == block_threads, "totograph: a thread has a digit.");

    static __device__ Shared& shared() {
        __shared__ Shared memory;
        return memory;
    }
    static __device__ int own() { return static_cast<int>(threadIdx.x); }

    /// The number that has a key.
    static __device__ float logit_of(std::uint32_t key) {
        return __uint_as_float((key >> 31U) != 0 ? key & 0x7fffffffU : ~key);
    }

    static __device__ float largest_of_block(float value) {
        value = maximum_of_group<warp_size>(value);
        __syncthreads();
        if (own() % warp_size == 0) {
            shared().largest[own() / warp_size] = value;
        }
        __syncthreads();
        for (const float other : shared().largest) {
            value = fmaxf(value, other);
        }
        return value;
    }

    /// What the threads before this one have, and what all have.
    struct Scan {
        std::uint64_t before;
        std::uint64_t total;
    };
    static __device__ Scan scan(std::uint64_t value) {
        std::uint64_t sum = value;
#pragma unroll
        for (unsigned distance = 1; distance < warp_size; distance *= 2) {
            const std::uint64_t other = __shfl_up_sync(0xffffffffU, sum, distance);
            sum += threadIdx.x % warp_size >= distance ? other : 0;
        }
        __syncthreads();
        if (own() % warp_size == warp_size - 1) {
            shared().of_warps[own() / warp_size] = sum;
        }
        __syncthreads();
        Scan result{sum - value, 0};
        for (int warp = 0; warp < block_threads / warp_size; ++warp) {
            const std::uint64_t of_warp = shared().of_warps[warp];
            result.before += warp < own() / warp_size ? of_warp : 0;
            result.total += of_warp;
        }
        return result;
    }

    /// The search that `sample_categorical` does. A thread has a digit: the first one the largest.
    template <class Amount>
    __device__ categorical::Search find(std::uint64_t limit, const Amount& amount) {
        categorical::Search search;
        const int digit = static_cast<int>(categorical::digits) - 1 - own();
        while (!search.is_done()) {
            __syncthreads();
            for (auto& part : shared().sums) {
                part[own()] = 0;
            }
            shared().found = -1;
            __syncthreads();
            for (int i = own(); i < count_; i += block_threads) {
                const float logit = logits_(i);
                const std::uint32_t key = categorical::key_of(logit);
                if (key >= kept_.key && search.asks_for(key)) {
                    add(search.digit_of(key), amount(logit));
                }
            }
            __syncthreads();
            std::uint64_t sum = 0;
#pragma unroll
            for (int part = 0; part < parts; ++part) {
                sum += static_cast<std::uint64_t>(shared().sums[part][digit]) << (part * part_bits);
            }
            const std::uint64_t before = search.above + scan(sum).before;
            const bool is_candidate = sum != 0 && before <= limit;
            if (is_candidate) {
                atomicMax(&shared().found, own());
            }
            __syncthreads();
            if (own() == max(shared().found, 0)) {
                search.take(static_cast<std::uint32_t>(is_candidate ? digit : 0), is_candidate ? before : search.above,
                            is_candidate ? sum : 0);
                shared().prefix = search.prefix;
                shared().above = search.above;
                shared().within = search.within;
            } else {
                search.shift -= categorical::digit_bits;
            }
            __syncthreads();
            search = {shared().prefix, search.shift, shared().above, shared().within};
        }
        return search;
    }

    static __device__ void add(std::uint32_t digit, std::uint64_t amount) {
        constexpr std::uint64_t mask = (std::uint64_t{1} << part_bits) - 1;
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            const auto some = static_cast<std::uint32_t>(amount >> (part * part_bits) & mask);
            if (some != 0) {
                atomicAdd(&shared().sums[part][digit], some);
            }
        }
    }

    __device__ std::uint64_t sum_of_kept() {
        std::uint64_t sum = 0;
        for (int i = own(); i < count_; i += block_threads) {
            const float logit = logits_(i);
            sum += categorical::key_of(logit) >= kept_.key ? categorical::weight_of(logit, largest_) : 0;
        }
        return scan(sum).total;
    }

    /// The id that a word of random bits points to: threads add up neighbours, and the one that has it walks along
    /// them.
    __device__ std::int32_t pick(float temperature, std::uint32_t word) {
        using namespace categorical;
        const int each = (count_ + block_threads - 1) / block_threads;
        const int begin = min(own() * each, count_);
        const int end = min(begin + each, count_);
        std::uint64_t ties = 0;
        for (int i = begin; i < end; ++i) {
            ties += key_of(logits_(i)) == kept_.key ? 1 : 0;
        }
        ties = kept_.ties - std::min(scan(ties).before, kept_.ties);
        const auto for_each_kept = [&](const auto& visit) {
            std::uint64_t left = ties;
            for (int i = begin; i < end; ++i) {
                const float logit = logits_(i);
                const std::uint32_t key = key_of(logit);
                const bool is_tie = key == kept_.key;
                if (key > kept_.key || (is_tie && left > 0)) {
                    left -= is_tie ? 1 : 0;
                    visit(i, weight_of(logit, largest_, temperature));
                }
            }
        };
        std::uint64_t sum = 0;
        for_each_kept([&](int, std::uint64_t weight) { sum += weight; });
        const Scan sums = scan(sum);
        std::uint64_t before = sums.before;
        const std::uint64_t wanted = pointed_to(sums.total, word);
        if (wanted >= before && wanted < before + sum) {
            for_each_kept([&](int id, std::uint64_t weight) {
                if (wanted >= before && wanted < before + weight) {
                    shared().id = id;
                }
                before += weight;
            });
        }
        __syncthreads();
        return shared().id;
    }

    const Logits& logits_;
    int count_;
    float largest_ = 0;
    categorical::Kept kept_;
};

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
        CategoricalBlock<decltype(at), vocabulary> block(at, vocabulary);
        const std::int32_t id = block.draw(options, random_words(key).word[word]);
        if (threadIdx.x == 0) {
            out[offset_of<K, StridesOfOutput<K>>(place)] = id;
        }
    });
}

}  // namespace totograph::cuda
