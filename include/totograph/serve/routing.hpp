// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
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

    /// Whether a bucket of the backend may have to serve a request that comes this way: it may be of fewer series, or
    /// of more, in parts. Of more series than a bucket has, `choose_bucket` prefers one that holds all else and as many
    /// series as come this way, or at least twice those of the bucket.
    [[nodiscard]] bool reaches(std::span<const Bucket> buckets, const Bucket& bucket) const noexcept {
        Bucket one = bucket;
        one.batch = 1;
        return above < bucket.batch || std::none_of(buckets.begin(), buckets.end(), [&](const Bucket& other) {
                   return other.batch > bucket.batch && other.holds(one) &&
                          (other.batch >= max_batch || other.batch / 2 >= bucket.batch);
               });
    }
};

/// What the environment says of the backend that serves everything; empty: as the program says.
struct BackendOfEnvironment {
    std::string name;       ///< `TOTOGRAPH_BACKEND`
    std::string precision;  ///< `TOTOGRAPH_PRECISION`: `Backend::precision()`

    [[nodiscard]] bool decides() const noexcept { return !name.empty() || !precision.empty(); }
};

/// This process's environment, as it is at the call.
inline BackendOfEnvironment backend_of_environment() {
    const auto value = [](const char* variable) {
        const char* const text = std::getenv(variable);
        return std::string(text == nullptr ? "" : text);
    };
    return {value("TOTOGRAPH_BACKEND"), value("TOTOGRAPH_PRECISION")};
}

/// The backend of a name, or the first that is available when the name is empty; of a precision, unless that is empty.
/// Throws `Error`: `invalid_argument` when there is none of this name or of this precision, `device_failure` with the
/// reason when it is not available.
std::shared_ptr<const Backend> pick_backend(const BackendRegistry& registry, std::string_view name,
                                            const BackendResources& resources, std::string_view precision = {});

/// Up to how many series a route is faster than one behind it, by their places; one beyond the last: what serves all
/// else.
using MeasureRoute = std::function<Index(std::size_t route, std::size_t behind)>;

/// The `max_batch` of each route; 0 of one that is never the faster one. Those that name none are measured from the
/// last to the first, each against the first one behind it that anything goes to, and end below one that names its own.
/// Throws `Error` (`invalid_argument`) for those that do not ascend, before anything is measured.
std::vector<Index> route_limits(std::span<const Route> routes, const MeasureRoute& measured);

/// Who serves what.
struct Routing {
    std::vector<ServedBackend> backends;
    std::vector<ResolvedRoute> routes;  ///< By ascending `max_batch`; the last takes everything.

    /// Looks up the backends that options name, or for all of them the one that the environment names. Throws `Error`:
    /// as `pick_backend`, `invalid_argument` for routes that do not ascend and for a backend without buckets, and what
    /// measuring a route without `max_batch` meets.
    Routing(const BackendRegistry& registry, const ServiceOptions& options);

    /// The routes in a mode, which those take that have none of their own; the environment goes before both, if it is
    /// asked. Throws `Error` (`invalid_argument`) when a backend does not have its mode.
    [[nodiscard]] std::vector<ResolvedRoute> routes_in(Mode wanted) const;

    /// The mode that counts when a program asks for `wanted`.
    [[nodiscard]] Mode mode_for(Mode wanted) const {
        return reads_mode_of_environment_ ? effective_mode(wanted) : wanted;
    }

    /// The route of a request of so many series.
    [[nodiscard]] const ResolvedRoute& of(Index batch) const noexcept;

    /// The route by which requests of a bucket's own size come, or the first to a backend that has it; `backend` names
    /// it, or is empty. Throws `Error` (`invalid_argument`) when there is none.
    [[nodiscard]] const ResolvedRoute& to(const Bucket& bucket, std::string_view backend) const;

private:
    std::size_t add(std::shared_ptr<const Backend> backend);
    /// Up to how many series a route is faster than one behind it.
    [[nodiscard]] Index measured(const ServiceOptions& options, std::size_t route, std::size_t behind,
                                 const std::vector<std::size_t>& of_routes) const;

    bool reads_mode_of_environment_;
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/routing.hpp>
#endif
