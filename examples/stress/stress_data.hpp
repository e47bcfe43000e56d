// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/core/bucket.hpp>
#include <totograph/core/error.hpp>
#include <totograph/io/csv.hpp>
#include <totograph/serve/stress/data.hpp>
#include <totograph/serve/stress/plan.hpp>

#include "options.hpp"

namespace examples {

/// The files that the command line names, or the bundled one at `bundled`.
inline std::vector<totograph::serve::StressData> read_data(const Options& options,
                                                           const std::filesystem::path& bundled) {
    std::vector<std::filesystem::path> files = options.inputs;
    std::error_code ignored;
    if (files.empty()) {
        if (!std::filesystem::exists(bundled, ignored)) {
            throw totograph::Error(totograph::ErrorCode::file_not_found,
                                   "The bundled metrics are not at '" + bundled.string() + "'. Name a CSV file.");
        }
        files.push_back(bundled);
    }
    totograph::io::CsvOptions csv{.separator = options.separator, .columns = options.columns};
    if (!options.timestamp.empty()) {
        csv.timestamp = options.timestamp;
    }
    std::vector<totograph::serve::StressData> data;
    for (const std::filesystem::path& file : files) {
        std::string name = file.filename().string();
        for (const auto& other : data) {
            name = other.name == name ? file.string() : name;
        }
        data.push_back({name, totograph::io::read_csv(file, csv)});
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
            detail::reject("--buckets names number " + std::to_string(number) + ", but there are " +
                           std::to_string(buckets.size()) + "; --list counts them.");
        }
        chosen.push_back(buckets[static_cast<std::size_t>(number - 1)]);
    }
    return chosen;
}

/// The sizes of the requests: those that the command line names, in all combinations that a bucket holds and with the
/// first bucket's where it names none; along an axis; or as the level plans.
inline std::vector<totograph::Bucket> request_sizes(const Options& options,
                                                    const std::vector<totograph::Bucket>& buckets) {
    using totograph::Bucket;
    if (options.task == Task::vary) {
        return totograph::serve::plan_axis(buckets, options.axis);
    }
    if (!options.names_sizes()) {
        return totograph::serve::plan_stress(buckets, options.level);
    }
    Bucket first = buckets.front();
    first.exogenous = 0;
    std::vector<Bucket> plan{first};
    const auto cross = [&](const std::vector<std::int64_t>& values, totograph::Index Bucket::*size) {
        std::vector<Bucket> more;
        for (const Bucket& each : plan) {
            for (const std::int64_t value : values) {
                more.push_back(each);
                more.back().*size = value;
            }
        }
        plan = values.empty() ? plan : more;
    };
    cross(options.batches, &Bucket::batch);
    cross(options.variates, &Bucket::variates);
    cross(options.contexts, &Bucket::context);
    cross(options.horizons, &Bucket::horizon);
    cross(options.samples, &Bucket::samples);
    const auto is_held = [&](const Bucket& sizes) {
        return std::any_of(buckets.begin(), buckets.end(), [&](const Bucket& bucket) { return bucket.holds(sizes); });
    };
    if (std::none_of(plan.begin(), plan.end(), is_held)) {
        throw totograph::Error(
            totograph::ErrorCode::no_bucket,
            "No bucket holds requests of " + to_string(plan.front()) + "; --list names the buckets. Ask for less.");
    }
    return plan;
}

/// The buckets that serve requests of these sizes: the first that holds each.
inline std::vector<totograph::Bucket> needed_buckets(const std::vector<totograph::Bucket>& sizes,
                                                     const std::vector<totograph::Bucket>& buckets) {
    std::vector<totograph::Bucket> needed;
    for (const totograph::Bucket& each : sizes) {
        const auto found = std::find_if(buckets.begin(), buckets.end(),
                                        [&](const totograph::Bucket& bucket) { return bucket.holds(each); });
        if (found != buckets.end() && std::find(needed.begin(), needed.end(), *found) == needed.end()) {
            needed.push_back(*found);
        }
    }
    return needed;
}

}  // namespace examples
