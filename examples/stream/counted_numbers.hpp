// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/time/clock.hpp>

namespace examples {

/// What the clock of a stream has counted: nanoseconds, or numbers in units of the last decimal that any so far has.
struct CountedNumbers {
    static constexpr double bound = 4e18;  ///< Of what is counted, with room for what is added to it.

    std::optional<std::int64_t> last;
    std::optional<std::int64_t> held;  ///< Far ahead of the last.
    std::optional<std::int64_t> late;  ///< The newest late one since the last.
    std::vector<std::int64_t> recent;  ///< The last ones that were taken.
    std::array<double, 32> gaps{};     ///< Between those.
    std::array<double, 8> pauses{};    ///< The last gaps, as long as all are pauses.
    int decimals = 0;

    /// A number in units of the last decimal that any so far has: many programs leave out zeros at the end.
    std::optional<std::int64_t> read(const std::string& text) {
        using namespace totograph::io;
        const Decimal number = parse_decimal(text);
        const int here = number.kind == DecimalKind::number ? meant_decimals(text, number.value) : decimals_of(text);
        if (!last) {
            decimals = here;
        } else if (here > decimals && number.kind == DecimalKind::number) {
            count_finer(here);
        }
        if (number.kind == DecimalKind::number && decimals > 0) {
            int most = decimals;
            while (most > 0 && std::abs(number.value) * std::pow(10.0, most) >= bound) {
                --most;
            }
            count_coarser(most);
        }
        const std::optional<std::int64_t> count =
            decimals == 0 && parse_whole_number(text) ? parse_whole_number(text) : parse_count(text, decimals);
        if (count || number.kind != DecimalKind::number || decimals_of(text) <= decimals) {
            return count;
        }
        if (decimals == most_decimals) {
            if (const std::optional<std::int64_t> rounded = rounded_count(text, decimals)) {
                return rounded;
            }
        }
        constexpr double rounding = 1e-6;  // of numbers that are written with more digits than they have
        const double scaled = std::floor(number.value * std::pow(10.0, decimals) + rounding);
        return std::abs(scaled) < bound ? std::optional(static_cast<std::int64_t>(scaled)) : std::nullopt;
    }

    /// Counts no more than so many decimals from now on.
    void count_coarser(int most) {
        if (most >= decimals) {
            return;
        }
        const std::int64_t factor = power_of_ten(decimals - most);
        decimals = most;
        for (std::int64_t* const one : counts()) {
            *one = *one / factor - (*one % factor < 0 ? 1 : 0);
        }
        scale_gaps(1.0 / static_cast<double>(factor));
    }

private:
    /// Decimals of a number, as many as are counted; of one with more digits than a double holds, without what is its
    /// rounding.
    static int meant_decimals(const std::string& text, double value) {
        using namespace totograph::io;
        const int written = decimals_of(text);
        if (written <= most_decimals) {
            return written;
        }
        char digits[64];
        std::snprintf(digits, sizeof(digits), "%.15g", value);
        return std::min(decimals_of(digits), most_decimals);
    }

    /// What was counted so far.
    std::vector<std::int64_t*> counts() {
        std::vector<std::int64_t*> result;
        for (std::optional<std::int64_t>* one : {&last, &held, &late}) {
            if (*one) {
                result.push_back(&**one);
            }
        }
        for (std::int64_t& one : recent) {
            result.push_back(&one);
        }
        return result;
    }
    static std::int64_t power_of_ten(int exponent) {
        std::int64_t result = 1;
        for (int i = 0; i < exponent; ++i) {
            result *= 10;
        }
        return result;
    }
    void scale_gaps(double factor) {
        for (double& gap : gaps) {
            gap *= factor;
        }
        for (double& pause : pauses) {
            pause *= factor;
        }
    }

    /// Counts so many decimals from now on, where what was counted has room for them.
    void count_finer(int finer) {
        const std::int64_t factor = power_of_ten(finer - decimals);
        const std::int64_t most = static_cast<std::int64_t>(bound) / factor;
        const std::vector<std::int64_t*> all = counts();
        if (std::all_of(all.begin(), all.end(),
                        [&](const std::int64_t* one) { return *one <= most && *one >= -most; })) {
            decimals = finer;
            for (std::int64_t* const one : all) {
                *one *= factor;
            }
            scale_gaps(static_cast<double>(factor));
        }
    }
};

}  // namespace examples
