// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/drift_file.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/levels_text.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE std::vector<Index> forecast_shape(const DriftSet::Case& one) {
    const Bucket& sizes = one.request.sizes;
    std::vector<Index> shape{sizes.batch, sizes.variates, sizes.horizon};
    if (sizes.samples > 0 || !one.levels.empty()) {
        shape.push_back(sizes.samples > 0 ? sizes.samples : static_cast<Index>(one.levels.size()));
    }
    return shape;
}

}  // namespace detail

TOTOGRAPH_INLINE void save_forecasts(const DriftSet& set, const std::filesystem::path& path) {
    std::vector<io::TensorToWrite> tensors;
    std::vector<std::vector<float>> observed;
    observed.reserve(set.cases.size());
    std::map<std::string, std::string> metadata{{"format", std::string(detail::drift_format)},
                                                {"build", set.build},
                                                {"backend", set.backend},
                                                {"mode", set.mode},
                                                {"cases", std::to_string(set.cases.size())}};
    for (std::size_t i = 0; i < set.cases.size(); ++i) {
        const DriftSet::Case& one = set.cases[i];
        const Bucket& sizes = one.request.sizes;
        const std::vector<Index> shape{sizes.batch, sizes.variates, sizes.context};
        observed.emplace_back(one.request.observed.begin(), one.request.observed.end());
        const std::string number = std::to_string(i) + ".";
        tensors.push_back({.name = number + "values", .shape = shape, .values = one.request.values});
        tensors.push_back({.name = number + "observed", .dtype = DType::bf16, .shape = shape, .values = observed[i]});
        tensors.push_back({.name = number + "forecast", .shape = detail::forecast_shape(one), .values = one.forecast});
        metadata[number + "name"] = one.name;
        metadata[number + "seed"] = std::to_string(one.request.seed);
        if (!one.levels.empty()) {
            metadata[number + "levels"] = detail::levels_text(one.levels);
        }
    }
    io::write_safetensors(path, tensors, metadata);
}

namespace detail {

TOTOGRAPH_INLINE std::vector<float> read_tensor(const io::SafetensorsFile& file, const std::string& tensor,
                                                std::size_t most_axes, std::vector<Index>& shape) {
    const io::TensorInfo* const info = file.find(tensor);
    if (info == nullptr || info->shape.size() < 3 || info->shape.size() > most_axes) {
        reject_forecasts(file.path(), "the tensor " + io::in_quotes(tensor) + " is missing or has another rank");
    }
    if (!info->dtype || !io::converts_to_float(*info->dtype)) {
        reject_forecasts(file.path(),
                         "the tensor " + io::in_quotes(tensor) + " has the dtype " + io::in_quotes(info->dtype_name));
    }
    shape.assign(info->shape.begin(), info->shape.end());
    // The header was checked: for a dtype that is known, these are as many as the shape says.
    std::vector<float> values((info->end - info->begin) / size_in_bytes(*info->dtype));
    file.copy_to_float(*info, values);
    return values;
}

TOTOGRAPH_INLINE std::map<std::string, std::string> safetensors_metadata(const std::filesystem::path& path) {
    const std::string head = io::read_safetensors_head(io::RandomAccessFile(path));
    std::uint64_t size = 0;
    if (head.size() >= sizeof size) {
        std::memcpy(&size, head.data(), sizeof size);
    }
    if (size == 0 || size != head.size() - sizeof size) {
        reject_forecasts(path, "it was changed while it was read");
    }
    const std::string_view header = std::string_view(head).substr(sizeof size);
    const io::JsonValue document =
        io::parse_json(header, "The header of " + io::in_quotes(path.string(), io::longest_quote));
    std::map<std::string, std::string> metadata;
    if (const io::JsonValue* const found = document.find("__metadata__"); found != nullptr) {
        for (const io::JsonValue& entry : found->items()) {
            metadata[entry.name()] = entry.string() != nullptr ? *entry.string() : "";
        }
    }
    return metadata;
}

TOTOGRAPH_INLINE std::uint64_t read_number(const std::filesystem::path& path,
                                           const std::map<std::string, std::string>& metadata, const std::string& key) {
    const auto found = metadata.find(key);
    std::uint64_t number = 0;
    if (found != metadata.end()) {
        const std::string& text = found->second;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (!text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size()) {
            return number;
        }
    }
    reject_forecasts(path, "its metadata has no whole number " + io::in_quotes(key));
}

TOTOGRAPH_INLINE std::vector<double> read_levels(const std::filesystem::path& path,
                                                 const std::map<std::string, std::string>& metadata,
                                                 const std::string& key, const std::vector<Index>& shape) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
        return {};
    }
    auto levels = parse_levels(found->second);
    if (!levels || shape.size() != 4 || static_cast<Index>(levels->size()) != shape[3]) {
        reject_forecasts(path, io::in_quotes(key) + " of its metadata are not the levels of its quantiles");
    }
    return *std::move(levels);
}

TOTOGRAPH_INLINE DriftSet::Case read_case(const io::SafetensorsFile& file, std::size_t index,
                                          const std::map<std::string, std::string>& metadata) {
    const std::string number = std::to_string(index) + ".";
    const auto case_name = metadata.find(number + "name");
    DriftSet::Case one;
    one.name = case_name == metadata.end() ? "case " + std::to_string(index) : case_name->second;
    one.request.seed = read_number(file.path(), metadata, number + "seed");
    std::vector<Index> shape;
    one.request.values = read_tensor(file, number + "values", 3, shape);
    std::vector<Index> observed_shape;
    for (const float value : read_tensor(file, number + "observed", 3, observed_shape)) {
        one.request.observed.push_back(value != 0 ? 1 : 0);
    }
    std::vector<Index> result;
    one.forecast = read_tensor(file, number + "forecast", 4, result);
    const bool agrees = observed_shape == shape && result[0] == shape[0] && result[1] == shape[1] &&
                        !one.forecast.empty() && !one.request.values.empty();
    if (!agrees) {
        reject_forecasts(file.path(), "the shapes of case " + std::to_string(index) + " contradict each other");
    }
    one.levels = read_levels(file.path(), metadata, number + "levels", result);
    one.request.sizes = {.batch = shape[0],
                         .variates = shape[1],
                         .context = shape[2],
                         .horizon = result[2],
                         .samples = result.size() == 4 && one.levels.empty() ? result[3] : 0};
    const auto context = static_cast<std::size_t>(shape[2]);
    for (std::size_t from = 0; from < one.request.values.size(); from += context) {
        one.request.scales.push_back(
            series_scale(std::span(one.request.values).subspan(from, context),
                         std::span<const std::uint8_t>(one.request.observed).subspan(from, context)));
    }
    return one;
}

}  // namespace detail

TOTOGRAPH_INLINE DriftSet load_forecasts(const std::filesystem::path& path) {
    const io::SafetensorsFile file(path);
    auto metadata = detail::safetensors_metadata(path);
    if (metadata["format"] != detail::drift_format) {
        detail::reject_forecasts(path, "its format is " + io::in_quotes(metadata["format"]) + ", expected '" +
                                           std::string(detail::drift_format) + "'");
    }
    DriftSet set{metadata["build"], metadata["backend"], metadata["mode"], {}};
    const std::uint64_t cases = detail::read_number(path, metadata, "cases");
    for (std::uint64_t i = 0; i < cases; ++i) {
        set.cases.push_back(detail::read_case(file, set.cases.size(), metadata));
    }
    if (set.cases.empty()) {
        detail::reject_forecasts(path, "it has no case");
    }
    return set;
}

}  // namespace totograph::serve
