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
    RandomBlock block{};
    for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
        block.word[0][i] = first.time + static_cast<std::uint32_t>(i);
        block.word[1][i] = first.sample;
        block.word[2][i] = first.variate;
        block.word[3][i] = first.series;
    }
    auto low_key = static_cast<std::uint32_t>(first.seed);
    auto high_key = static_cast<std::uint32_t>(first.seed >> 32U);
    for (int round = 0; round < Philox4x32::rounds; ++round) {
        for (std::size_t i = 0; i < RandomBlock::draws; ++i) {
            Philox4x32::round(block.word[0][i], block.word[1][i], block.word[2][i], block.word[3][i], low_key,
                              high_key);
        }
        low_key += Philox4x32::low_key_step;
        high_key += Philox4x32::high_key_step;
    }
    return block;
}

}  // namespace totograph
