// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/random.hpp>

namespace totograph {

/// The words of draws that follow each other in time.
struct RandomBlock {
    static constexpr std::size_t draws = 64;
    /// `word[w][i]` is word `w` of draw `i`.
    std::array<std::array<std::uint32_t, draws>, 4> word;
};

/// `random_words` of `first` and of the draws at the following times (which wrap around at 2^32), side by side: loops
/// of constant length, which compilers turn into vectors.
inline RandomBlock random_block(const SampleKey& first) noexcept {
    constexpr std::uint64_t multiplier[2] = {0xD2511F53U, 0xCD9E8D57U};
    constexpr std::uint32_t key_step[2] = {0x9E3779B9U, 0xBB67AE85U};
    constexpr int rounds = 10;
    RandomBlock block{};
    for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
        block.word[0][i] = first.time + static_cast<std::uint32_t>(i);
        block.word[1][i] = first.sample;
        block.word[2][i] = first.variate;
        block.word[3][i] = first.series;
    }
    auto low_key = static_cast<std::uint32_t>(first.seed);
    auto high_key = static_cast<std::uint32_t>(first.seed >> 32U);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
            const std::uint64_t even = multiplier[0] * block.word[0][i];
            const std::uint64_t odd = multiplier[1] * block.word[2][i];
            block.word[0][i] = static_cast<std::uint32_t>(odd >> 32U) ^ block.word[1][i] ^ low_key;
            block.word[1][i] = static_cast<std::uint32_t>(odd);
            block.word[2][i] = static_cast<std::uint32_t>(even >> 32U) ^ block.word[3][i] ^ high_key;
            block.word[3][i] = static_cast<std::uint32_t>(even);
        }
        low_key += key_step[0];
        high_key += key_step[1];
    }
    return block;
}

}  // namespace totograph
