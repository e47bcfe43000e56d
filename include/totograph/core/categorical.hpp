// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <totograph/core/exact_math.hpp>
#include <totograph/core/host_device.hpp>

// Draws of one id of many, by logits of which some are left out. Weights are whole numbers, whose sums do not depend on
// the order: the same logits give the same id for any number of threads, and on every device whose `exp` rounds alike.
// Another rounding moves a few weights by 1 of up to 2^36; a draw is another id only where it points between the two.
// Nothing is sorted: the smallest logit that stays is found digit by digit of its bits, from counts, or from sums of
// weights, of each digit.

namespace totograph {

/// What tells which logits stay.
struct CategoricalOptions {
    std::int32_t top_k = 0;  ///< How many of the largest; ties with the last of them stay; 0 or less keeps all.
    float top_p = 1.0F;      ///< The share, beginning with the largest; the one that crosses it stays; 1 keeps all.
    /// Whether the one that crosses `top_p` goes; the largest stays.
    bool drops_crossing = false;
    float temperature = 1.0F;  ///< Divides those that stay, above 0.
};

namespace categorical {

/// Bits of a digit, and how many values it has.
inline constexpr int digit_bits = 8;
inline constexpr std::uint32_t digits = 1U << digit_bits;

/// An integer in the order of floats, with -0 as 0; 0 for NaN, which is below all.
TOTOGRAPH_HOST_DEVICE inline std::uint32_t key_of(float logit) {
    if (logit != logit) {
        return 0;
    }
    const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);
    return (bits >> 31U) != 0 ? ~bits : bits | 0x80000000U;
}

/// Ids of a row, at most: no weight is above 2^36, and those of 2^27 ids add up in 64 bits.
inline constexpr std::int64_t most_ids = std::int64_t{1} << 27;

/// Bits of the largest weight.
inline constexpr int weight_bits = 37;

/// The weight of a logit: e^((logit - largest) / temperature) in units of 2^-36.
TOTOGRAPH_HOST_DEVICE inline std::uint64_t weight_of(float logit, float largest, float temperature = 1.0F) {
    constexpr double one = 0x1p36;
    if (logit == largest) {  // both may be infinite
        return static_cast<std::uint64_t>(one);
    }
    const double distance = static_cast<double>(logit) - static_cast<double>(largest);
    const double weight = std::exp(distance / static_cast<double>(temperature)) * one;
    return weight > 0.0 ? static_cast<std::uint64_t>(weight) : 0;
}

/// Whether a row with this largest logit, NaN left out, has one that can be drawn.
TOTOGRAPH_HOST_DEVICE inline bool can_draw(float largest) {
    return largest > -std::numeric_limits<float>::infinity();
}

/// Which logits stay: all with a larger key than `key`, and the first `ties` that have it.
struct Kept {
    std::uint32_t key = 0;
    std::uint64_t ties = ~std::uint64_t{0};
};

/// A search for the smallest key that stays, one digit at a time from the highest. All keys that are still asked for
/// agree with `prefix` in the digits before.
struct Search {
    std::uint32_t prefix = 0;
    int shift = 32;            ///< Of the digit that was found last.
    std::uint64_t above = 0;   ///< The counts, or weights, of all larger keys.
    std::uint64_t within = 0;  ///< Of those with this prefix.

    /// Whether a key belongs to what the next digit is found in.
    [[nodiscard]] TOTOGRAPH_HOST_DEVICE bool asks_for(std::uint32_t key) const {
        return shift == 32 || key >> shift == prefix >> shift;
    }
    /// The next digit of a key.
    [[nodiscard]] TOTOGRAPH_HOST_DEVICE std::uint32_t digit_of(std::uint32_t key) const {
        return key >> (shift - digit_bits) & (digits - 1);
    }
    [[nodiscard]] TOTOGRAPH_HOST_DEVICE bool is_done() const { return shift == 0; }

    /// Takes the lowest digit before which there is at most `limit`, of the sums of each.
    template <class Sums>
    TOTOGRAPH_HOST_DEVICE void descend(const Sums& sums, std::uint64_t limit) {
        std::uint64_t before = above;
        std::uint32_t found = 0;
        within = 0;
        for (std::uint32_t digit = digits; digit-- > 0;) {
            if (sums[digit] != 0 && before <= limit) {
                found = digit;
                above = before;
                within = sums[digit];
            }
            before += sums[digit];
        }
        take(found, above, within);
    }

    /// Goes on within one digit.
    TOTOGRAPH_HOST_DEVICE void take(std::uint32_t digit, std::uint64_t larger, std::uint64_t of_digit) {
        above = larger;
        within = of_digit;
        shift -= digit_bits;
        prefix |= digit << shift;
    }
};

/// The part of `total` that a share is.
TOTOGRAPH_HOST_DEVICE inline std::uint64_t part_of(std::uint64_t total, float share) {
    return share > 0.0F ? static_cast<std::uint64_t>(static_cast<double>(total) * static_cast<double>(share)) : 0;
}

/// How many of equal keys stay, of `weight` each: those before which there is at most `limit`, and where the one that
/// crosses it goes those up to which there is.
TOTOGRAPH_HOST_DEVICE inline std::uint64_t ties_within(const Search& search, std::uint64_t weight, std::uint64_t limit,
                                                       bool drops_crossing) {
    const std::uint64_t most = search.within / weight;
    const std::uint64_t within = (limit - search.above) / weight;
    const std::uint64_t wanted = within + (drops_crossing && within + search.above > 0 ? 0 : 1);
    return wanted < most ? wanted : most;
}

/// The weight below `total` that a word of random bits points to: total * word / 2^32, without the fraction.
TOTOGRAPH_HOST_DEVICE inline std::uint64_t pointed_to(std::uint64_t total, std::uint32_t word) {
    const std::uint64_t low = (total & 0xffffffffU) * word;
    return (total >> 32U) * word + (low >> 32U);
}

/// Calls `add(key, logit)` for each logit whose key is no smaller.
template <class Logits, class Add>
void for_each_kept(std::int64_t count, const Logits& logits, std::uint32_t smallest, const Add& add) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t key = key_of(logits(i));
        if (key >= smallest) {
            add(key, logits(i));
        }
    }
}

/// Finds the smallest key that stays, of those no smaller than `smallest`, where each logit counts for its `amount` and
/// those before a key come to at most `limit`.
template <class Logits, class Amount>
Search find_smallest(std::int64_t count, const Logits& logits, std::uint32_t smallest, std::uint64_t limit,
                     const Amount& amount) {
    Search search;
    std::uint64_t sums[digits];
    while (!search.is_done()) {
        for (std::uint64_t& sum : sums) {
            sum = 0;
        }
        for_each_kept(count, logits, smallest, [&](std::uint32_t key, float logit) {
            if (search.asks_for(key)) {
                sums[search.digit_of(key)] += amount(logit);
            }
        });
        search.descend(sums, limit);
    }
    return search;
}

/// Calls `visit(i)` for each id that is kept, in their order, until that is true. Returns that id, or -1.
template <class Logits, class Visit>
std::int32_t find_kept(std::int64_t count, const Logits& logits, const Kept& kept, const Visit& visit) {
    std::uint64_t ties = kept.ties;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t key = key_of(logits(i));
        const bool is_tie = key == kept.key;
        if (key > kept.key || (is_tie && ties > 0)) {
            ties -= is_tie ? 1U : 0U;
            if (visit(i)) {
                return static_cast<std::int32_t>(i);
            }
        }
    }
    return -1;
}

/// The id that a weight points to: of those that are kept the first up to which there is more than `left`. Their
/// weights add up to more than that.
template <class Logits, class Weight>
std::int32_t pick(std::int64_t count, const Logits& logits, const Kept& kept, std::uint64_t left,
                  const Weight& weight) {
    return find_kept(count, logits, kept, [&](std::int64_t i) {
        const std::uint64_t own = weight(logits(i));
        const bool is_found = left < own;
        left -= is_found ? 0 : own;
        return is_found;
    });
}

}  // namespace categorical

/// One id of so many, or -1 where none can be drawn. `logits(i)` gives a logit.
template <class Logits>
std::int32_t sample_categorical(std::int64_t count, const Logits& logits, const CategoricalOptions& options,
                                std::uint32_t word) {
    using namespace categorical;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < count; ++i) {
        largest = logits(i) > largest ? logits(i) : largest;
    }
    if (!can_draw(largest)) {
        return -1;
    }
    Kept kept;
    if (options.top_k > 0 && options.top_k < count) {
        const auto limit = static_cast<std::uint64_t>(options.top_k) - 1;
        kept.key = find_smallest(count, logits, kept.key, limit, [](float) { return std::uint64_t{1}; }).prefix;
    }
    const auto weight = [&](float logit) { return weight_of(logit, largest); };
    std::uint64_t total = 0;
    for_each_kept(count, logits, kept.key, [&](std::uint32_t, float logit) { total += weight(logit); });
    if (options.top_p < 1.0F) {
        const std::uint64_t limit = part_of(total, options.top_p);
        const Search search = find_smallest(count, logits, kept.key, limit, weight);
        std::uint64_t of_one = 1;
        for_each_kept(count, logits, kept.key,
                      [&](std::uint32_t key, float logit) { of_one = key == search.prefix ? weight(logit) : of_one; });
        kept = {search.prefix, ties_within(search, of_one, limit, options.drops_crossing)};
        total = search.above + kept.ties * of_one;
    }
    if (options.temperature != 1.0F) {
        const auto tempered = [&](float logit) { return weight_of(logit, largest, options.temperature); };
        total = 0;
        find_kept(count, logits, kept, [&](std::int64_t i) {
            total += tempered(logits(i));
            return false;
        });
        return pick(count, logits, kept, pointed_to(total, word), tempered);
    }
    return pick(count, logits, kept, pointed_to(total, word), weight);
}

}  // namespace totograph
