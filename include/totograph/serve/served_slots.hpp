// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/background_captures.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/stance.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve::detail {

/// The slots that a service's routes lead to: builds them when requests need them, ahead, or in the background; knows
/// whether all that was warmed up is there. One thread at a time may use it, but for `is_ready()`.
class ServedSlots {
public:
    /// Builds nothing that stays. `metrics` must outlive this object, which counts there whatever `options` name.
    /// Throws what the constructor of `ForecastService` documents.
    ServedSlots(const BackendRegistry& registry, const ServiceOptions& options, Metrics& metrics);
    ServedSlots(const ServedSlots&) = delete;
    ServedSlots& operator=(const ServedSlots&) = delete;
    /// Waits for what is built in the background, and frees all slots.
    ~ServedSlots();

    /// Builds and runs the buckets that routes reach, as `ForecastService::warm_up` says, and throws what it documents.
    /// `finish` is called when all is built and nothing is ready yet; if it throws, nothing becomes so.
    WarmUpReport warm_up(
        const WarmUpOptions& options, const std::function<void()>& finish = [] {});

    /// What serves a request: what is there, or what is built for it, by this thread's stance. It stays until its
    /// bucket is released. Counts recaptures, fallbacks and failures, but no forecast. Allocates nothing when it is
    /// there. Throws `Error`: `no_bucket` when no bucket serves the request, which is counted, `recapture` when the
    /// stance forbids to build, and what checking the request and building meet.
    /// @param values  where those of the series are
    Slot& slot_for(const Series& series, const ForecastOptions& options, ValuesOn values = ValuesOn::host);

    /// Frees what serves a bucket, in all modes and backends. Throws `Error` (`no_bucket`) when it is none of
    /// `buckets()`.
    void release(const Bucket& bucket);

    /// Changes the mode of all routes that have none of their own, unless the environment says otherwise, and frees
    /// nothing. Throws `Error` (`invalid_argument`), and changes nothing, when a backend does not have it.
    void set_mode(Mode mode);

    /// Whether the last warm-up succeeded, and everything that was warmed up and not released since is built in the
    /// mode that serves it now. Any thread may ask at any time.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_.load(std::memory_order_relaxed); }

    /// Who serves what, with what is built of it.
    [[nodiscard]] const Routing& routing() const noexcept { return routing_; }

    /// The buckets of all backends that routes name, each once. Never change.
    [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

    /// Throws `Error` (`no_bucket`) that lists `buckets()` when this is none of them.
    void require_bucket(const Bucket& bucket) const;

    /// The bucket that serves requests of these sizes: of the backend that so many series go to, the cheapest that
    /// holds them; nothing when none does.
    [[nodiscard]] std::optional<Bucket> bucket_of(const Bucket& sizes) const;

    /// Bytes that everything built holds beside the weights. Throws what a forecaster throws that cannot tell.
    [[nodiscard]] std::size_t memory_bytes() const;

    /// Values of a result that fills the bucket whose results are largest.
    [[nodiscard]] std::size_t largest_result() const;

private:
    /// After everything that being ready depends on, for threads that may not look at it themselves.
    void update_ready() noexcept;

    /// The cheapest bucket that holds a request; counts those that none holds.
    std::size_t bucket_for(const ServedBackend& served, const Series& series, const ForecastOptions& options);

    /// What serves a request by this thread's stance, when that is not what serves it as a rule, or is not there.
    Slot& find_or_build(std::size_t backend, std::size_t which, Mode mode, const Series& series,
                        const ForecastOptions& options, ValuesOn values);

    /// Counts a recapture. Throws when the stance forbids it.
    static void recapture(const ServedBackend& served, std::size_t which, Mode mode, Stance stance,
                          ForecastCounters& counters);

    Routing routing_;
    Metrics& metrics_;
    Builder builder_;
    BackgroundCaptures captures_;  // behind what it uses
    std::vector<Bucket> buckets_;
    bool samples_by_default_ = false;
    bool is_warm_ = false;   ///< The last warm-up succeeded.
    bool was_warm_ = false;  ///< One did: from then on, needing what is not built is a recapture.
    std::atomic<bool> is_ready_{false};
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/served_slots.hpp>
#endif
