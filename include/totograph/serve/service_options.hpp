// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// Who serves requests of at most so many series: hybrid serving, such as small requests on the CPU and large ones on a
/// device.
struct Route {
    /// Series of the largest request that goes this way. Absent: the largest batch up to which this route's backend is
    /// faster on this machine than that of the next route which serves anything, measured when a service is made
    /// (`measure_crossover`) and kept in `io::cache_folder()` for later ones; always below the next `max_batch` that is
    /// named.
    std::optional<Index> max_batch{};
    std::string backend{};       ///< Empty: that of `ServiceOptions`.
    std::optional<Mode> mode{};  ///< Absent: that of `ServiceOptions`.
};

/// What is decided when a service is made.
struct ServiceOptions {
    /// Empty: the first of the registry that is available. `TOTOGRAPH_BACKEND` and `TOTOGRAPH_PRECISION` go before it,
    /// and before those of routes.
    std::string backend{};
    /// Whether these count; not for the service inside of a package, whose names are its own.
    bool reads_backend_of_environment = true;
    /// How forecasts are run, unless the environment says otherwise (`effective_mode`).
    Mode mode = Mode::max_autotune;
    /// Whether it may; not where the caller has asked it already, as the service around a package has.
    bool reads_mode_of_environment = true;
    /// By ascending `max_batch`: the first that holds a request's series serves it; what is beyond the last goes to
    /// `backend` in `mode`. The environment goes before the modes of routes as well.
    std::vector<Route> routes{};
    BackendResources resources{};
    /// How many requests the stance `eager_then_capture` serves in mode `eager` before it builds what they need, at
    /// least 1.
    int capture_after = 2;
    /// Where forecasts are counted: one for several services, or empty, and the service has its own.
    std::shared_ptr<Metrics> metrics{};
};

/// What a warm-up does.
struct WarmUpOptions {
    int forecasts = 2;              ///< Forecasts that each bucket makes once it is built.
    bool include_eager = false;     ///< Build mode `eager` as well, for the stances that fall back on it.
    std::vector<Bucket> buckets{};  ///< Which buckets; empty: all.
};

}  // namespace totograph::serve
