// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/text.hpp>

// Forecasts that are kept in a file, and the file, which may be somebody else's.

namespace totograph::serve {

/// Forecasts together with what they were made from, to compare later builds, modes and devices with.
struct DriftSet {
    /// A request and its forecast.
    struct Case {
        std::string name;
        StressRequest request;
        /// `[batch, variates, horizon, samples]`, or with an axis of levels; without the last axis for a mean.
        std::vector<float> forecast;
        std::vector<double> levels{};  ///< Of a forecast of quantiles.

        /// The forecast as a view of this object's values.
        [[nodiscard]] Forecast view() const {
            const Bucket& sizes = request.sizes;
            return {forecast, sizes.batch, sizes.variates, sizes.horizon, sizes.samples, 0, levels};
        }
    };

    std::string build;  ///< `to_string(BuildIdentity)` of the program that made the forecasts.
    std::string backend;
    std::string mode;
    std::vector<Case> cases;
};

namespace detail {

inline constexpr std::string_view drift_format = "totograph forecasts 1";

std::vector<Index> forecast_shape(const DriftSet::Case& one);

}  // namespace detail

/// Writes a set as a safetensors file: for the case of number n the tensors `n.values`, `n.observed` (1 or 0) and
/// `n.forecast`, and in the metadata `n.name`, `n.seed` and, for quantiles, `n.levels` (as `0.1 0.5 0.9`), beside
/// `format`, `build`, `backend`, `mode` and `cases`. Throws `Error` as `io::write_safetensors` does.
void save_forecasts(const DriftSet& set, const std::filesystem::path& path);

namespace detail {

[[noreturn]] inline void reject_forecasts(const std::filesystem::path& path, const std::string& why) {
    throw Error(ErrorCode::invalid_file, "The file " + io::in_quotes(path.string(), io::longest_quote) +
                                             " holds no recorded forecasts: " + why +
                                             ". Record them anew with save_forecasts.");
}

/// A tensor with all its values, of 3 axes or as many as may be. Asks for no more memory than the file has bytes for.
std::vector<float> read_tensor(const io::SafetensorsFile& file, const std::string& tensor, std::size_t most_axes,
                               std::vector<Index>& shape);

/// The metadata of a safetensors file whose header was checked before.
std::map<std::string, std::string> safetensors_metadata(const std::filesystem::path& path);

/// A whole number of the metadata.
std::uint64_t read_number(const std::filesystem::path& path, const std::map<std::string, std::string>& metadata,
                          const std::string& key);

/// The levels of a case whose forecast has so many axes; none for samples and means.
std::vector<double> read_levels(const std::filesystem::path& path, const std::map<std::string, std::string>& metadata,
                                const std::string& key, const std::vector<Index>& shape);

DriftSet::Case read_case(const io::SafetensorsFile& file, std::size_t index,
                         const std::map<std::string, std::string>& metadata);

}  // namespace detail

/// Reads what `save_forecasts` wrote. Throws `Error` (`file_not_found`, `invalid_file`, `tensor_mismatch`) for anything
/// else.
DriftSet load_forecasts(const std::filesystem::path& path);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/impl/drift_file.hpp>
#endif
