// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/probes.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service_options.hpp>

namespace totograph::serve {

/// How thorough a stress run is.
enum class StressLevel : std::uint8_t {
    quick,  ///< Each bucket half full or less, and the first one whole, 3 times, or once where eager is slow.
    full,   ///< All of them whole, and each of a request's sizes small in turn, 10 times.
    production_check,  ///< Odd and smallest sizes as well, 20 times.
};

inline constexpr std::array all_stress_levels{StressLevel::quick, StressLevel::full, StressLevel::production_check};

/// The name of a level, as programs spell it.
constexpr std::string_view name(StressLevel level) noexcept {
    switch (level) {
        case StressLevel::quick: return "quick";
        case StressLevel::full: return "full";
        case StressLevel::production_check: return "production-check";
    }
    return "unknown";
}

/// The level of a name. Throws `Error` (`invalid_argument`) that lists the names.
inline StressLevel stress_level_of(std::string_view text) {
    for (const StressLevel level : all_stress_levels) {
        if (text == name(level)) {
            return level;
        }
    }
    throw Error(ErrorCode::invalid_argument, "A stress level is " + io::in_quotes(text, 100) +
                                                 ", expected one of: quick, full, production-check. Use one of these.");
}

/// How often a level makes each request.
constexpr int iterations_of(StressLevel level) noexcept {
    switch (level) {
        case StressLevel::quick: return 3;
        case StressLevel::full: return 10;
        case StressLevel::production_check: return 20;
    }
    return 3;
}

/// Eager's seconds for a request from which on a quick run compares one pair of its size: most of the run would be
/// eager's time.
inline constexpr double slow_eager_seconds = 2;

/// The mode of the planned program without what a mode adds to it: `default` for those that tune, or replay a graph.
/// Nothing for `default`, which is that program, and for `eager`.
constexpr std::optional<Mode> planned_mode(Mode tested) {
    return tested == Mode::eager || tested == Mode::standard ? std::nullopt : std::optional(Mode::standard);
}

/// What a stress run does.
struct StressOptions {
    StressLevel level = StressLevel::quick;
    int iterations = 0;  ///< How often each request is made; 0: as the level says, and as eager is fast.
    /// Of the requests; empty: planned for `buckets`, with contexts that the data has rows for.
    std::vector<Bucket> sizes{};
    std::vector<Bucket> buckets{};  ///< To plan requests for; empty: all of the service.
    WarmUpOptions warm_up{};  ///< For a service that is not ready; without buckets, those that serve the requests.
    std::uint64_t seed = 0;   ///< Of the samples, and of the rows and columns that are taken.
    StressThresholds thresholds{};
    BuildIdentity build{};  ///< For the report: `build_identity()`.
    StressProbes probes{};
    /// Called after each comparison, with how many there will be as far as is known; empty: not called.
    std::function<void(std::size_t done, std::size_t all)> progress{};
};

/// How often a run makes requests of a size, beside the first one, which is compared with nothing: as often as it is
/// told, or as its level says; but a quick one that is not told only once where eager took `slow_eager_seconds` or more
/// for that.
inline int iterations_of(const StressOptions& options, double eager_seconds) {
    if (options.iterations > 0) {
        return options.iterations;
    }
    const bool is_slow = options.level == StressLevel::quick && eager_seconds >= slow_eager_seconds;
    return is_slow ? 1 : iterations_of(options.level);
}

namespace detail {

/// About a share of an extent, odd where that is possible, so that it fills no patch and no vector.
constexpr Index part_of(Index extent, Index numerator, Index denominator) {
    return std::max<Index>(1, (extent * numerator / denominator - 1) | 1);
}

inline void add_sizes(std::vector<Bucket>& plan, const Bucket& bucket, Bucket sizes) {
    sizes.exogenous = 0;
    if (bucket.holds(sizes) && std::find(plan.begin(), plan.end(), sizes) == plan.end()) {
        plan.push_back(sizes);
    }
}

}  // namespace detail

/// The sizes of the requests that a level makes of these buckets, without repeats and with no more context than there
/// are `rows`. `exogenous` is 0 in all.
inline std::vector<Bucket> plan_stress(std::span<const Bucket> buckets, StressLevel level,
                                       std::size_t rows = std::numeric_limits<std::size_t>::max()) {
    using detail::part_of;
    std::vector<Bucket> plan;
    const auto within_rows = [&](Bucket bucket) {
        if (static_cast<std::size_t>(bucket.context) > rows) {
            bucket.context = static_cast<Index>(rows);
        }
        return bucket;
    };
    // Of its steps one share; of its series, variates and samples, with which eager's time grows as fast, another.
    const auto thin_part = [](const Bucket& bucket, Index numerator, Index denominator, Index thinner) {
        const auto rounded_up = [&](Index extent) {
            return (extent * numerator + denominator * thinner - 1) / (denominator * thinner);
        };
        return Bucket{.batch = rounded_up(bucket.batch),
                      .variates = rounded_up(bucket.variates),
                      .context = part_of(bucket.context, numerator, denominator),
                      .horizon = part_of(bucket.horizon, numerator, denominator),
                      .samples = bucket.samples == 0 ? 0 : part_of(bucket.samples, numerator, denominator * thinner)};
    };
    const auto part = [&](const Bucket& bucket, Index numerator, Index denominator) {
        return thin_part(bucket, numerator, denominator, 1);
    };
    const auto is_served_before = [&](const Bucket& whole, const Bucket& sizes) {
        const auto first =
            std::find_if(buckets.begin(), buckets.end(), [&](const Bucket& each) { return each.holds(sizes); });
        return first != buckets.end() && *first != whole;
    };
    for (const Bucket& whole : buckets) {
        const Bucket bucket = within_rows(whole);
        if (level == StressLevel::quick && !plan.empty()) {
            // The least of these that no bucket before would serve.
            const std::array tried{thin_part(bucket, 1, 2, 3), part(bucket, 1, 2), part(bucket, 3, 4), bucket};
            const auto sizes = std::find_if(tried.begin(), tried.end() - 1,
                                            [&](const Bucket& each) { return !is_served_before(whole, each); });
            detail::add_sizes(plan, bucket, *sizes);
            continue;
        }
        detail::add_sizes(plan, bucket, bucket);
        detail::add_sizes(plan, bucket, part(bucket, 1, 2));
        if (level == StressLevel::quick) {
            continue;
        }
        for (Index Bucket::*size : {&Bucket::batch, &Bucket::variates, &Bucket::context, &Bucket::horizon}) {
            Bucket sizes = bucket;
            sizes.*size = part_of(sizes.*size, 1, 8);
            detail::add_sizes(plan, bucket, sizes);
        }
        if (level == StressLevel::production_check) {
            detail::add_sizes(plan, bucket, part(bucket, 3, 4));
            Bucket least{.context = 1, .horizon = 1, .samples = bucket.samples};
            detail::add_sizes(plan, bucket, least);
            least.context = bucket.context;
            least.samples = std::min<Index>(bucket.samples, 8);
            detail::add_sizes(plan, bucket, least);
        }
    }
    return plan;
}

/// Sizes along one axis of the largest bucket: 1, 2, 4, ... up to its extent. For tables over `&Bucket::batch`,
/// `&Bucket::context` and the like; contexts begin at 16.
inline std::vector<Bucket> plan_axis(std::span<const Bucket> buckets, Index Bucket::*axis) {
    std::vector<Bucket> plan;
    const auto largest = std::max_element(buckets.begin(), buckets.end(),
                                          [&](const Bucket& a, const Bucket& b) { return a.*axis < b.*axis; });
    if (largest == buckets.end()) {
        return plan;
    }
    Index extent = axis == &Bucket::context || axis == &Bucket::horizon ? 16 : 1;
    for (; extent < (*largest).*axis; extent *= 2) {
        Bucket sizes = *largest;
        sizes.*axis = extent;
        detail::add_sizes(plan, *largest, sizes);
    }
    detail::add_sizes(plan, *largest, *largest);
    return plan;
}

}  // namespace totograph::serve
