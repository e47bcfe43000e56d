// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service_options.hpp>

// What a service holds, and who serves which requests.
namespace totograph::serve::detail {

/// What serves a bucket in one mode.
struct Slot {
    std::unique_ptr<BucketForecaster> forecaster;
    ForecastCounters* counters = nullptr;  ///< From when a route could first reach it, or a fallback needed it.
    std::size_t bytes = 0;                 ///< That it was counted with.

    /// Counts that the forecaster holds so many bytes from now on.
    void hold(std::size_t now) noexcept {
        counters->add_bytes_held(now);
        counters->subtract_bytes_held(std::exchange(bytes, now));
    }
    /// Whether there was anything to free.
    bool free() noexcept {
        if (!forecaster) {
            return false;
        }
        forecaster.reset();
        hold(0);
        return true;
    }
};

/// A bucket of a backend.
struct Place {
    std::array<Slot, all_modes.size()> slots{};
    bool is_warm = false;    ///< It was warmed up and not released since: it is to be ready in every mode that is set.
    bool was_built = false;  ///< In some mode that served, not for a fallback, and not released since.
    bool was_released = false;  ///< It was built once, and released, and not built since.

    void set_built() noexcept {
        was_built = true;
        was_released = false;
    }
    /// Why a request finds that it is not built.
    [[nodiscard]] RecaptureReason why_missing() const noexcept {
        return was_released ? RecaptureReason::released
               : was_built  ? RecaptureReason::mode_changed
                            : RecaptureReason::not_warmed_up;
    }

    [[nodiscard]] Slot& at(Mode mode) noexcept { return slots[static_cast<std::size_t>(mode)]; }
    [[nodiscard]] const Slot& at(Mode mode) const noexcept { return slots[static_cast<std::size_t>(mode)]; }
};

/// A backend that some route names.
struct ServedBackend {
    std::shared_ptr<const Backend> backend;
    std::string name;
    std::vector<Bucket> buckets;  ///< The cheapest first.
    std::vector<Place> places;    ///< For each bucket.

    explicit ServedBackend(std::shared_ptr<const Backend> served)
        : backend(std::move(served)), name(backend->name()), buckets(backend->buckets()), places(buckets.size()) {}
};

/// What a log and an error say of a bucket in a mode.
inline std::string describe(const ServedBackend& served, std::size_t which, Mode mode) {
    return "size " + to_string(served.buckets[which]) + " of " + io::in_quotes(served.name) + " in mode " +
           std::string(name(mode));
}

/// A route with everything that it leaves open.
struct ResolvedRoute {
    Index above = 0;      ///< Requests of more series than this,
    Index max_batch = 0;  ///< and of at most so many.
    std::size_t backend = 0;
    std::optional<Mode> own_mode{};
    Mode mode = Mode::eager;

    /// Whether the bucket may have to serve a request that comes this way: it may be of fewer series.
    [[nodiscard]] bool reaches(const Bucket& bucket) const noexcept { return above < bucket.batch; }
};

/// Throws `Error` (`invalid_argument`) that lists the modes of a backend when this is none of them.
inline void require_mode(const Backend& backend, Mode mode) {
    const bool is_one = std::find(all_modes.begin(), all_modes.end(), mode) != all_modes.end();
    if (is_one && !backend.describe(mode).empty()) {
        return;
    }
    std::string list;
    for (const Mode other : all_modes) {
        if (!backend.describe(other).empty()) {
            list += (list.empty() ? "" : ", ") + std::string(name(other));
        }
    }
    throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(backend.name()) + " has no mode " +
                                                 io::in_quotes(name(mode)) + "; it has: " + list +
                                                 ". Ask for one of these (TOTOGRAPH_DISABLE and TOTOGRAPH_MODE go "
                                                 "before what the program asks for).");
}

/// The backend of a name, or the first that is available when the name is empty. Throws `Error`: `invalid_argument`
/// when there is none of this name, `device_failure` with the reason when it is not available.
inline std::shared_ptr<const Backend> pick_backend(const BackendRegistry& registry, std::string_view name,
                                                   const BackendResources& resources) {
    std::string reasons;
    const auto is_available = [&](const Backend& backend) {
        const std::string reason = backend.unavailable(resources);
        reasons += reason.empty() ? "" : " " + io::in_quotes(backend.name()) + ": " + reason;
        return reason.empty();
    };
    if (!name.empty()) {
        auto backend = registry.get(name);
        if (is_available(*backend)) {
            return backend;
        }
        throw Error(ErrorCode::device_failure,
                    "A backend cannot be used on this machine." + reasons + " Remedy this, or pick another backend.");
    }
    for (const auto& backend : registry.all()) {
        if (is_available(*backend)) {
            return backend;
        }
    }
    throw Error(ErrorCode::device_failure,
                registry.all().empty() ? std::string("The registry of backends is empty. Add a backend first, such as "
                                                     "with add_cpu_backend.")
                                       : "No backend of the registry can be used on this machine." + reasons);
}

/// Who serves what.
struct Routing {
    std::vector<ServedBackend> backends;
    std::vector<ResolvedRoute> routes;  ///< By ascending `max_batch`; the last takes everything.

    /// Looks up the backends that options name. Throws `Error`: as `pick_backend`, and `invalid_argument` for routes
    /// that do not ascend and for a backend without buckets.
    Routing(const BackendRegistry& registry, const ServiceOptions& options) {
        const std::size_t common = add(pick_backend(registry, options.backend, options.resources));
        Index above = 0;
        for (const Route& route : options.routes) {
            if (route.max_batch <= above) {
                throw Error(ErrorCode::invalid_argument,
                            "A route for requests of at most " + std::to_string(route.max_batch) + " series follows " +
                                (above == 0 ? "the start" : "one of " + std::to_string(above)) +
                                "; max_batch is at least 1 and ascends. Put the routes in order.");
            }
            const std::size_t backend =
                route.backend.empty() ? common : add(pick_backend(registry, route.backend, options.resources));
            routes.push_back({above, route.max_batch, backend, route.mode});
            above = route.max_batch;
        }
        routes.push_back({above, std::numeric_limits<Index>::max(), common, {}});
    }

    /// The routes in a mode, which those take that have none of their own; the environment goes before both. Throws
    /// `Error` (`invalid_argument`) when a backend does not have its mode.
    [[nodiscard]] std::vector<ResolvedRoute> routes_in(Mode wanted) const {
        std::vector<ResolvedRoute> result = routes;
        for (ResolvedRoute& route : result) {
            route.mode = effective_mode(route.own_mode.value_or(wanted));
            require_mode(*backends[route.backend].backend, route.mode);
        }
        return result;
    }

    /// The route of a request of so many series.
    [[nodiscard]] const ResolvedRoute& of(Index batch) const noexcept {
        std::size_t which = 0;
        while (which + 1 < routes.size() && batch > routes[which].max_batch) {
            ++which;
        }
        return routes[which];
    }

    /// The route by which requests of a bucket's own size come, or the first to a backend that has it; `backend` names
    /// it, or is empty. Throws `Error` (`invalid_argument`) when there is none.
    [[nodiscard]] const ResolvedRoute& to(const Bucket& bucket, std::string_view backend) const {
        const auto leads_there = [&](const ResolvedRoute& route) {
            const ServedBackend& served = backends[route.backend];
            return (backend.empty() || served.name == backend) &&
                   std::find(served.buckets.begin(), served.buckets.end(), bucket) != served.buckets.end();
        };
        if (const ResolvedRoute& usual = of(bucket.batch); leads_there(usual)) {
            return usual;
        }
        const auto found = std::find_if(routes.begin(), routes.end(), leads_there);
        if (found == routes.end()) {
            throw Error(ErrorCode::invalid_argument, "No route of this service leads to a backend " +
                                                         io::in_quotes(backend) + " that has the size " +
                                                         to_string(bucket) + ". Name another backend, or none.");
        }
        return *found;
    }

private:
    std::size_t add(std::shared_ptr<const Backend> backend) {
        for (std::size_t i = 0; i < backends.size(); ++i) {
            if (backends[i].backend == backend) {
                return i;
            }
        }
        backends.emplace_back(std::move(backend));
        if (backends.back().buckets.empty()) {
            throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(backends.back().name) +
                                                         " has no compiled sizes. Compile it with at least one.");
        }
        return backends.size() - 1;
    }
};

}  // namespace totograph::serve::detail
