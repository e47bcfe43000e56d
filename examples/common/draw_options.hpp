// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "checks.hpp"

namespace examples {

/// How ids are drawn from what a model makes of them.
struct DrawOptions {
    double temperature = 1;
    std::int64_t top_k = 0;  ///< 0: from all.
    double top_p = 0.9;
    std::uint64_t seed = 0;
};

namespace detail {

/// For who names untrained weights and a checkpoint.
inline constexpr const char* no_checkpoint_beside_untrained =
    "--untrained stands in place of a checkpoint; leave one of them out.";

/// Refuses what cannot be. `no_chance` says what to do without any, as a part of a sentence.
inline void check_draws(const DrawOptions& draws, std::int64_t most_top_k, const std::string& no_chance) {
    check_at_least(draws.top_k, 0, "--top-k");
    check_at_most(draws.top_k, most_top_k, "--top-k");
    if (!(draws.temperature > 0)) {
        reject("--temperature must be above 0; " + no_chance + ".");
    }
    if (!(draws.top_p > 0 && draws.top_p <= 1)) {
        reject("--top-p must be above 0 and at most 1.");
    }
}

}  // namespace detail

}  // namespace examples
