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

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backend.hpp>
#include <totograph/serve/backend_registry.hpp>
#include <totograph/serve/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service_options.hpp>

// What a service holds, and who serves which requests.
namespace totograph::serve::detail {

/// What serves a bucket in one mode.
struct Slot {
    std::unique_ptr<BucketForecaster> forecaster;
    ForecastCounters* counters = nullptr;  ///< From when it was first needed.
    std::size_t bytes = 0;                 ///< That it was counted with.
    bool was_released = false;
};

/// A bucket of a backend.
struct Place {
    std::array<Slot, all_modes.size()> slots{};
    bool is_warm = false;  ///< It was warmed up and not released since: it is to be ready in every mode that is set.

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

    /// Sets the mode of routes that have none of their own; the environment goes before both. Changes nothing when it
    /// throws: `Error` (`invalid_argument`) when a backend does not have its mode.
    void set_mode(Mode wanted) {
        std::vector<Mode> modes;
        for (const ResolvedRoute& route : routes) {
            modes.push_back(effective_mode(route.own_mode.value_or(wanted)));
            require_mode(*backends[route.backend].backend, modes.back());
        }
        for (std::size_t i = 0; i < routes.size(); ++i) {
            routes[i].mode = modes[i];
        }
    }

    /// The route of a request of so many series.
    [[nodiscard]] const ResolvedRoute& of(Index batch) const noexcept {
        std::size_t which = 0;
        while (which + 1 < routes.size() && batch > routes[which].max_batch) {
            ++which;
        }
        return routes[which];
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
                                                         " has no buckets. Compile it with at least one.");
        }
        return backends.size() - 1;
    }
};

}  // namespace totograph::serve::detail
