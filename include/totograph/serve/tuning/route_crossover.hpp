// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>

// Up to how many series one backend is faster than another.
namespace totograph::serve {

/// The largest batch that is measured; beyond it, batches run in parts of the same sizes, on either side.
inline constexpr Index largest_measured_batch = 256;

/// Seconds of forecasts that a comparison may take; a single batch of one series may take more. What a larger batch
/// would take is foreseen as twice what the last one took.
inline constexpr double most_crossover_seconds = 5;

/// The sizes of the requests that two backends are compared by: those of the first bucket of `small`, with one series
/// and without exogenous variates, that `large` serves in one piece, too. Nothing where there is none.
std::optional<Bucket> common_request(const BackendTimer& small, const BackendTimer& large);

/// The largest batch of 1, 2, 4, ... up to `largest_measured_batch` up to which `small` takes no longer than `large`
/// for such requests, of those that `most_crossover_seconds` are enough for; 0 when it is slower from the first one on.
/// Throws `Error` as forecasting does.
Index measure_crossover(BackendTimer& small, BackendTimer& large, Bucket request);

namespace detail {

/// Where crossovers are kept, and what they are true of.
struct CrossoverPlace {
    io::CacheFolder folder;
    std::string identity;  ///< Version, compiler, processor.
};

/// The place of this process.
CrossoverPlace crossover_place();

/// What a crossover depends on beside its place: both backends, what they run on, their modes and programs.
std::string crossover_key(const BackendTimer& small, const BackendTimer& large, const Bucket& request,
                          const BackendResources& resources);

/// `measure_crossover`, or what the file says that it was on this machine. One at a time in a process, and beside no
/// other tuning; what is measured is kept where both backends tell what they run on. Throws `Error`: `invalid_argument`
/// where no request is served by both, and what forecasting meets.
Index known_crossover(BackendTimer& small, BackendTimer& large, const BackendResources& resources,
                      const CrossoverPlace& place);

}  // namespace detail

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/tuning/impl/route_crossover.hpp>
#endif
