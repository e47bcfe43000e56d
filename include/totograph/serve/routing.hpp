// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
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
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/service_options.hpp>

// Which backend serves which requests.
namespace totograph::serve::detail {

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

/// The name of the backend that serves everything by the environment (`TOTOGRAPH_BACKEND`); empty: as the program says.
inline std::string backend_of_environment() {
    const char* const name = std::getenv("TOTOGRAPH_BACKEND");
    return name == nullptr ? "" : name;
}

/// Who serves what.
struct Routing {
    std::vector<ServedBackend> backends;
    std::vector<ResolvedRoute> routes;  ///< By ascending `max_batch`; the last takes everything.

    /// Looks up the backends that options name, or for all of them the one that the environment names. Throws `Error`:
    /// as `pick_backend`, and `invalid_argument` for routes that do not ascend and for a backend without buckets.
    Routing(const BackendRegistry& registry, const ServiceOptions& options) {
        const std::string forced = options.reads_backend_of_environment ? backend_of_environment() : "";
        const std::size_t common =
            add(pick_backend(registry, forced.empty() ? options.backend : forced, options.resources));
        Index above = 0;
        for (const Route& route : options.routes) {
            if (route.max_batch <= above) {
                throw Error(ErrorCode::invalid_argument,
                            "A route for requests of at most " + std::to_string(route.max_batch) + " series follows " +
                                (above == 0 ? "the start" : "one of " + std::to_string(above)) +
                                "; max_batch is at least 1 and ascends. Put the routes in order.");
            }
            const std::size_t backend = route.backend.empty() || !forced.empty()
                                            ? common
                                            : add(pick_backend(registry, route.backend, options.resources));
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
