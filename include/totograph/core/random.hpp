// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <totograph/core/exact_math.hpp>
#include <totograph/core/host_device.hpp>

namespace totograph {

/// Names one random draw: the same key gives the same numbers on every device, for any batch, bucket or thread count.
struct SampleKey {
    std::uint64_t seed = 0;     ///< The forecast's seed.
    std::uint32_t series = 0;   ///< Which series of the batch, as the user numbers them.
    std::uint32_t variate = 0;  ///< Which variate of the series.
    std::uint32_t sample = 0;   ///< Which sample path.
    std::uint32_t time = 0;     ///< Which time step, counted from the first one forecast.
};

/// Four independent words of 32 random bits.
struct RandomWords {
    std::uint32_t word[4];
};

/// Philox4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
struct Philox4x32 {
    static constexpr int rounds = 10;
    static constexpr std::uint32_t even_multiplier = 0xD2511F53U;
    static constexpr std::uint32_t odd_multiplier = 0xCD9E8D57U;
    static constexpr std::uint32_t low_key_step = 0x9E3779B9U;   ///< The golden ratio.
    static constexpr std::uint32_t high_key_step = 0xBB67AE85U;  ///< The square root of 3, less 1.

    /// One round: how four words of a counter become the next ones.
    static TOTOGRAPH_HOST_DEVICE constexpr void round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                                                      std::uint32_t& d, std::uint32_t low_key,
                                                      std::uint32_t high_key) noexcept {
        const std::uint64_t even = std::uint64_t{even_multiplier} * a;
        const std::uint64_t odd = std::uint64_t{odd_multiplier} * c;
        a = static_cast<std::uint32_t>(odd >> 32U) ^ b ^ low_key;
        b = static_cast<std::uint32_t>(odd);
        c = static_cast<std::uint32_t>(even >> 32U) ^ d ^ high_key;
        d = static_cast<std::uint32_t>(even);
    }
};

/// Philox4x32 with ten rounds: counter (time, sample, variate, series), key (low, high half of the seed).
TOTOGRAPH_HOST_DEVICE constexpr RandomWords random_words(const SampleKey& key) noexcept {
    RandomWords words{{key.time, key.sample, key.variate, key.series}};
    auto low_key = static_cast<std::uint32_t>(key.seed);
    auto high_key = static_cast<std::uint32_t>(key.seed >> 32U);
    for (int round = 0; round < Philox4x32::rounds; ++round) {
        Philox4x32::round(words.word[0], words.word[1], words.word[2], words.word[3], low_key, high_key);
        low_key += Philox4x32::low_key_step;
        high_key += Philox4x32::high_key_step;
    }
    return words;
}

/// A uniform number strictly between 0 and 1: the middle of one of 2^32 equal cells, exact.
TOTOGRAPH_HOST_DEVICE inline double uniform_double(std::uint32_t word) {
    return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// A uniform number strictly between 0 and 1: the middle of one of 2^23 equal cells, exact. More cells than that would
/// round up to 1.
TOTOGRAPH_HOST_DEVICE inline float uniform_float(std::uint32_t word) {
    return (static_cast<float>(word >> 9U) + 0.5F) * 0x1p-23F;
}

/// One draw from Student's t distribution by Bailey's trigonometric formula, exact and without rejection:
/// `sqrt(df * (u1^(-2/df) - 1)) * cos(2 pi u2)`.
///
/// In double: `u1` then resolves all 32 bits at both ends (the tail and the centre), and what one device's mathematics
/// library rounds differently from another's vanishes when the result is rounded to float.
///
/// @pre `df` is positive and finite; `u1` and `u2` are strictly between 0 and 1.
TOTOGRAPH_HOST_DEVICE inline double sample_student_t(double df, double u1, double u2) {
    constexpr double two_pi = 6.283185307179586476925286766559;
    // expm1 keeps all digits where u1^(-2/df) is near 1: at large df, and at u1 near 1.
    const double radius = std::sqrt(df * std::expm1(-2.0 * std::log(u1) / df));
    // The same cosine, but reduced exactly, so that it keeps all digits near its zeros too.
    const double cosine = std::sin(two_pi * (std::fabs(u2 - 0.5) - 0.25));
    return radius * cosine;
}

/// One draw from a mixture of Student's t distributions. Word 0 chooses the component, words 1 and 2 the variate.
///
/// @param components     how many components, at least 1
/// @param df             degrees of freedom, one for each component; like the next two, only the chosen one is read
/// @param loc            locations, one for each component
/// @param scale          scales, one for each component
/// @param probabilities  weights, not negative; where they sum to less than the uniform number, the last component of
///                       positive weight is taken; a component of weight 0 never is. Where no weight is positive, as
///                       where all are NaN, the draw is NaN
/// @param key            names the draw
template <class Df, class Loc, class Scale, class Probabilities>
TOTOGRAPH_HOST_DEVICE inline float sample_student_t_mixture(int components, const Df& df, const Loc& loc,
                                                            const Scale& scale, const Probabilities& probabilities,
                                                            const SampleKey& key) {
    const RandomWords bits = random_words(key);
    const double uniform = uniform_double(bits.word[0]);
    double cumulative = 0.0;
    int chosen = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int component = 0; component < components; ++component) {
        if (probabilities[component] > 0.0F) {
            chosen = component;
            cumulative += static_cast<double>(probabilities[component]);
            if (uniform < cumulative) {
                break;
            }
        }
    }
    const double variate =
        sample_student_t(static_cast<double>(df[chosen]), uniform_double(bits.word[1]), uniform_double(bits.word[2]));
    const auto draw =
        static_cast<float>(static_cast<double>(loc[chosen]) + static_cast<double>(scale[chosen]) * variate);
    return cumulative > 0.0 ? draw : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace totograph
