// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/tuning/route_crossover.hpp>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/held_log.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::optional<Bucket> common_request(const BackendTimer& small, const BackendTimer& large) {
    const std::vector<Bucket> others = large.backend().buckets();
    for (Bucket request : small.backend().buckets()) {
        request.batch = 1;
        request.exogenous = 0;
        const auto holds = [&](const Bucket& other) { return other.holds(request); };
        if (std::any_of(others.begin(), others.end(), holds)) {
            return request;
        }
    }
    return std::nullopt;
}

TOTOGRAPH_INLINE Index measure_crossover(BackendTimer& small, BackendTimer& large, Bucket request) {
    Index crossover = 0;
    for (Index batch = 1; batch <= largest_measured_batch; batch *= 2) {
        request.batch = batch;
        const double before = small.spent() + large.spent();
        const auto of_large = large.seconds(request, most_crossover_seconds);
        const auto of_small = of_large ? small.seconds(request, most_crossover_seconds) : std::nullopt;
        if (!of_small) {
            break;
        }
        log(LogTopic::tuning, [&] {
            return to_string(request) + ": " + io::in_quotes(small.backend().name()) + " " +
                   detail::seconds_text(*of_small) + ", " + io::in_quotes(large.backend().name()) + " " +
                   detail::seconds_text(*of_large);
        });
        if (*of_small > *of_large) {
            break;
        }
        crossover = batch;
        const double spent = small.spent() + large.spent();
        if (spent + 2 * (spent - before) > most_crossover_seconds) {
            log(LogTopic::tuning, [&] { return "larger batches would take too long to measure"; });
            break;
        }
    }
    return crossover;
}

namespace detail {

TOTOGRAPH_INLINE CrossoverPlace crossover_place() {
    TuningPlace place = tuning_place(cpu::packet_size);
    return {std::move(place.folder), "crossover, " + place.identity};
}

TOTOGRAPH_INLINE std::string crossover_key(const BackendTimer& small, const BackendTimer& large, const Bucket& request,
                                           const BackendResources& resources) {
    std::string key = to_string(request) + ", threads " + std::to_string(resources.threads);
    for (const BackendTimer* timer : {&small, &large}) {
        const Backend& backend = timer->backend();
        key += "; " + std::string(backend.name()) + " on " + backend.runs_on(resources) + ", " +
               std::string(backend.precision()) + ", " + std::string(serve::name(timer->mode()));
        // Another model has other programs, and so has a model with other buckets.
        for (const Bucket& bucket : backend.buckets()) {
            const Explanation programs = backend.explain(bucket, timer->mode());
            key += ", " + to_string(bucket) + " " + std::to_string(programs.flops()) + " " +
                   std::to_string(programs.bytes()) + " " + std::to_string(programs.shared_weight_bytes);
        }
    }
    return key;
}

/// A crossover of a file; nothing when it cannot be one.
inline std::optional<Index> crossover_of(std::string_view text) {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && value >= 0 && value <= largest_measured_batch ? std::optional(value) : std::nullopt;
}

TOTOGRAPH_INLINE Index known_crossover(BackendTimer& small, BackendTimer& large, const BackendResources& resources,
                                       const CrossoverPlace& place) {
    const std::string names = io::in_quotes(small.backend().name()) + " and " + io::in_quotes(large.backend().name());
    const std::optional<Bucket> request = common_request(small, large);
    if (!request) {
        throw Error(ErrorCode::invalid_argument,
                    "A route without max_batch takes the batch up to which its backend is the faster one, but no size "
                    "of request is served in one piece by both " +
                        names + ". Compile one, or name max_batch.");
    }
    const totograph::detail::HeldLog held;  // a sink must not wait for a turn
    const std::scoped_lock lock(tuning_turn());
    const bool is_kept = !small.backend().runs_on(resources).empty() && !large.backend().runs_on(resources).empty();
    TuningCache file(is_kept ? place.folder : io::CacheFolder{}, "routes", place.identity);
    const std::string key = crossover_key(small, large, *request, resources);
    if (const auto kept = file.find(key, [](std::string_view text) { return crossover_of(text).has_value(); })) {
        log(LogTopic::tuning,
            [&] { return "of " + names + " the first takes up to " + *kept + " series, as was measured before"; });
        return *crossover_of(*kept);
    }
    const Index crossover = measure_crossover(small, large, *request);
    log(LogTopic::tuning,
        [&] { return "of " + names + " the first takes up to " + std::to_string(crossover) + " series"; });
    file.add(key, std::to_string(crossover));
    file.save();
    return crossover;
}

}  // namespace detail

}  // namespace totograph::serve
