// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/routing.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>
#include <totograph/serve/tuning/route_crossover.hpp>

namespace totograph::serve::detail {

/// Throws an `Error` (`invalid_argument`) with the precisions that backends of a registry have.
[[noreturn]] inline void refuse_precision(const BackendRegistry& registry, std::string_view name,
                                          std::string_view precision) {
    std::string list;
    for (const auto& backend : registry.all()) {
        list += (list.empty() ? "" : ", ") + io::in_quotes(backend->name()) + ": " +
                (backend->precision().empty() ? "not told" : std::string(backend->precision()));
    }
    throw Error(ErrorCode::invalid_argument,
                "TOTOGRAPH_PRECISION is " + io::in_quotes(precision, 100) + ", which " +
                    (name.empty() ? std::string("no backend has") : "the backend " + io::in_quotes(name) + " has not") +
                    " (" + list + "). Name the precision of one of these, or none.");
}

TOTOGRAPH_INLINE std::shared_ptr<const Backend> pick_backend(const BackendRegistry& registry, std::string_view name,
                                                             const BackendResources& resources,
                                                             std::string_view precision) {
    const auto has_precision = [&](const Backend& backend) {
        return precision.empty() || backend.precision() == precision;
    };
    std::string reasons;
    const auto is_available = [&](const Backend& backend) {
        const std::string reason = backend.unavailable(resources);
        reasons += reason.empty() ? "" : " " + io::in_quotes(backend.name()) + ": " + reason;
        return reason.empty();
    };
    if (!name.empty()) {
        auto backend = registry.get(name);
        if (!has_precision(*backend)) {
            refuse_precision(registry, name, precision);
        }
        if (is_available(*backend)) {
            return backend;
        }
        throw Error(ErrorCode::device_failure,
                    "A backend cannot be used on this machine." + reasons + " Remedy this, or pick another backend.");
    }
    bool has_any = precision.empty();
    for (const auto& backend : registry.all()) {
        if (has_precision(*backend)) {
            has_any = true;
            if (is_available(*backend)) {
                return backend;
            }
        }
    }
    if (!has_any) {
        refuse_precision(registry, name, precision);
    }
    throw Error(ErrorCode::device_failure,
                registry.all().empty() ? std::string("The registry of backends is empty. Add a backend first, such as "
                                                     "with add_cpu_backend.")
                                       : "No backend of the registry can be used on this machine." + reasons);
}

TOTOGRAPH_INLINE std::vector<Index> route_limits(std::span<const Route> routes, const MeasureRoute& measured) {
    std::vector<Index> limits(routes.size(), 0);
    std::vector<Index> above(routes.size(), 0);
    Index named = 0;
    for (std::size_t i = 0; i < routes.size(); ++i) {
        above[i] = named;
        if (const std::optional<Index> most = routes[i].max_batch) {
            if (*most <= named) {
                throw Error(ErrorCode::invalid_argument,
                            "A route for requests of at most " + std::to_string(*most) + " series follows " +
                                (named == 0 ? "the start" : "one of " + std::to_string(named)) +
                                "; max_batch is at least 1 and ascends. Put the routes in order.");
            }
            limits[i] = named = *most;
        }
    }
    for (std::size_t i = routes.size(); i-- > 0;) {
        for (std::size_t behind = i + 1; !routes[i].max_batch && limits[i] == 0 && behind <= routes.size(); ++behind) {
            const bool is_last = behind == routes.size();
            if (!is_last && limits[behind] == 0) {
                continue;  // nothing goes there
            }
            Index most = measured(i, behind);
            if (!is_last && most >= limits[behind]) {
                if (!routes[behind].max_batch) {
                    limits[behind] = 0;  // this one is faster for all that would go there
                    continue;
                }
                most = limits[behind] - 1;
            }
            if (most <= above[i]) {
                break;  // it is never the faster one
            }
            limits[i] = most;
        }
    }
    return limits;
}

TOTOGRAPH_INLINE Routing::Routing(const BackendRegistry& registry, const ServiceOptions& options)
    : reads_mode_of_environment_(options.reads_mode_of_environment) {
    const BackendOfEnvironment forced =
        options.reads_backend_of_environment ? backend_of_environment() : BackendOfEnvironment();
    const std::size_t common = add(
        pick_backend(registry, forced.decides() ? forced.name : options.backend, options.resources, forced.precision));
    std::vector<std::size_t> of_routes;
    for (const Route& route : options.routes) {
        of_routes.push_back(route.backend.empty() || forced.decides()
                                ? common
                                : add(pick_backend(registry, route.backend, options.resources)));
    }
    of_routes.push_back(common);
    for (std::size_t i = 0; i < options.routes.size(); ++i) {
        if (!options.routes[i].max_batch && of_routes[i] == of_routes[i + 1] && !forced.decides()) {
            throw Error(ErrorCode::invalid_argument,
                        "A route without max_batch leads to the backend " + io::in_quotes(backends[of_routes[i]].name) +
                            ", as does what follows it, so that none of the two is the faster one. Name max_batch.");
        }
    }
    const std::vector<Index> limits = route_limits(options.routes, [&](std::size_t route, std::size_t behind) {
        // Where the environment names one backend for all, there is nothing to choose.
        return of_routes[route] == of_routes[behind] ? 0 : measured(options, route, behind, of_routes);
    });
    Index above = 0;
    for (std::size_t i = 0; i < options.routes.size(); ++i) {
        if (limits[i] > 0) {
            routes.push_back({above, limits[i], of_routes[i], options.routes[i].mode});
            above = limits[i];
        }
    }
    routes.push_back({above, std::numeric_limits<Index>::max(), common, {}});
}

TOTOGRAPH_INLINE Index Routing::measured(const ServiceOptions& options, std::size_t route, std::size_t behind,
                                         const std::vector<std::size_t>& of_routes) const {
    const ServedBackend& small = backends[of_routes[route]];
    const ServedBackend& large = backends[of_routes[behind]];
    const bool is_last = behind == options.routes.size();
    const Mode first = mode_for(options.routes[route].mode.value_or(options.mode));
    const Mode second = mode_for(is_last ? options.mode : options.routes[behind].mode.value_or(options.mode));
    require_mode(*small.backend, first);
    require_mode(*large.backend, second);
    BackendTimer of_small(small.backend, first, options.resources);
    BackendTimer of_large(large.backend, second, options.resources);
    return known_crossover(of_small, of_large, options.resources, crossover_place());
}

TOTOGRAPH_INLINE std::vector<ResolvedRoute> Routing::routes_in(Mode wanted) const {
    std::vector<ResolvedRoute> result = routes;
    for (ResolvedRoute& route : result) {
        route.mode = mode_for(route.own_mode.value_or(wanted));
        require_mode(*backends[route.backend].backend, route.mode);
    }
    return result;
}

TOTOGRAPH_INLINE const ResolvedRoute& Routing::of(Index batch) const noexcept {
    std::size_t which = 0;
    while (which + 1 < routes.size() && batch > routes[which].max_batch) {
        ++which;
    }
    return routes[which];
}

TOTOGRAPH_INLINE const ResolvedRoute& Routing::to(const Bucket& bucket, std::string_view backend) const {
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

TOTOGRAPH_INLINE std::size_t Routing::add(std::shared_ptr<const Backend> backend) {
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

}  // namespace totograph::serve::detail
