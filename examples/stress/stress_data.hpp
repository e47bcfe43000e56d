// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/plan.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>

#include "../intake/read_input.hpp"
#include "options.hpp"

namespace examples {

/// The files that the command line names, or the bundled one at `bundled`. What was decided and repaired is told on
/// standard error.
inline std::vector<totograph::serve::StressData> read_data(const Options& options,
                                                           const std::filesystem::path& bundled) {
    std::vector<std::filesystem::path> files = options.inputs;
    std::error_code ignored;
    if (files.empty()) {
        if (!std::filesystem::exists(bundled, ignored)) {
            throw totograph::Error(totograph::ErrorCode::file_not_found,
                                   "The bundled metrics are not at " +
                                       totograph::io::in_quotes(bundled.string(), totograph::io::longest_quote) +
                                       ". Name a CSV file.");
        }
        files.push_back(bundled);
    }
    std::vector<totograph::serve::StressData> data;
    for (const std::filesystem::path& file : files) {
        std::string name = file.filename().string();
        for (const auto& other : data) {
            name = other.name == name ? file.string() : name;
        }
        data.push_back({name, read_table(read_input_text(file), file, options.intake, options.columns)});
        print_notes("stress", data.back().table.notes);
        const auto& columns = data.back().table.columns;
        const auto is_blank = [](const std::vector<double>& column) {
            return std::none_of(column.begin(), column.end(), [](double value) { return std::isfinite(value); });
        };
        if (std::all_of(columns.begin(), columns.end(), is_blank)) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The file " + totograph::io::in_quotes(file.string(), totograph::io::longest_quote) +
                                       " has no number in any column that is used.");
        }
    }
    return data;
}

/// The buckets that the command line numbers; without numbers all, or the first alone for a table.
inline std::vector<totograph::Bucket> chosen_buckets(const Options& options,
                                                     const std::vector<totograph::Bucket>& buckets) {
    if (options.buckets.empty()) {
        const bool is_table = options.task == Task::vary || options.task == Task::build_latency;
        return is_table ? std::vector<totograph::Bucket>{buckets.front()} : buckets;
    }
    std::vector<totograph::Bucket> chosen;
    for (const std::int64_t number : options.buckets) {
        if (number > static_cast<std::int64_t>(buckets.size())) {
            detail::reject("--sizes names number " + std::to_string(number) + ", but there are " +
                           std::to_string(buckets.size()) + "; --list counts them.");
        }
        chosen.push_back(buckets[static_cast<std::size_t>(number - 1)]);
    }
    return chosen;
}

/// The sizes of the requests that the command line names, in all combinations and with the first bucket's where it
/// names none; of a table, along its axis with the sizes of the bucket that has most of it. Nothing when it names none
/// and asks for no table. Throws `Error(no_bucket)` when no bucket holds any.
inline std::vector<totograph::Bucket> named_sizes(const Options& options,
                                                  const std::vector<totograph::Bucket>& buckets) {
    using totograph::Bucket;
    std::vector<Bucket> plan;
    if (options.task == Task::vary) {
        plan = totograph::serve::plan_axis(buckets, options.axis);
    } else if (options.names_sizes()) {
        plan = {buckets.front()};
        plan.front().exogenous = 0;
    } else {
        return {};
    }
    for (const auto& [values, size] : detail::sizes_of(options)) {
        if (values->empty()) {
            continue;
        }
        if (options.task == Task::vary && size == options.axis) {
            plan.resize(1);
        }
        std::vector<Bucket> more;
        for (const Bucket& each : plan) {
            for (const std::int64_t value : *values) {
                more.push_back(each);
                more.back().*size = value;
            }
        }
        plan = std::move(more);
    }
    const auto is_held = [&](const Bucket& sizes) {
        return std::any_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) { return bucket.holds(sizes); });
    };
    if (std::none_of(plan.begin(), plan.end(), is_held)) {
        throw totograph::Error(totograph::ErrorCode::no_bucket, "Nothing was compiled that holds requests of " +
                                                                    to_string(plan.front()) +
                                                                    "; --list names the compiled sizes. Ask for less.");
    }
    return plan;
}

}  // namespace examples
