// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/serve/metrics/snapshot.hpp>

namespace totograph::serve {

/// A snapshot as a JSON object, UTF-8, its keys always in this order (bytes of names that are no UTF-8 are replaced):
///
/// - `since_seconds`, `resets`, `requests_without_bucket`: of the `Snapshot`;
/// - `entries`: a list, by backend, bucket and mode, of objects with
///   - `backend`, `bucket` (an object: `batch`, `variates`, `context`, `horizon`, `samples`, `exogenous`), `mode`;
///   - `forecasts`, `not_finite`, `failures`, `builds`, `captures`, `replays`;
///   - `recaptures`: an object with a count for each reason, `not_warmed_up`, `released`, `mode_changed`;
///   - `eager_fallbacks`, `graph_breaks` (always 0), `build_seconds`, `bytes_held`;
///   - `latency`: an object with `count`, `sum_seconds`, `min_seconds`, `p50_seconds`, `p90_seconds`, `p99_seconds`,
///     `max_seconds`; without forecasts, all but the first two are null;
/// - `caches`: a list of objects with `name`, `hits`, `misses`, `ignored`, `last_reason`;
/// - `accuracy`: a list of objects with `group`, `scored`, `missed`, `window`, `banded`, `mae`, `rmse`, `bias`,
///   `coverage`, of which the last four are null where nothing was scored.
///
/// What they mean, `ForecastCounts`, `LatencySummary`, `CacheCounts` and `AccuracyEntry` tell.
std::string json_text(const Snapshot& snapshot);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/snapshot_json.hpp>
#endif
