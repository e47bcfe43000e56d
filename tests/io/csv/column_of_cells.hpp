// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>

namespace column_of_cells {

/// What the cells of a column say of it.
inline totograph::io::ColumnProfile profile_of(const std::vector<std::string>& cells) {
    using namespace totograph::io;
    const GapWords gaps;
    const ColumnProfiler profiler(gaps);
    ColumnProfile profile;
    for (const std::string& cell : cells) {
        profiler.add(profile, CsvField{cell, false, 1}, true);
    }
    return profile;
}

}  // namespace column_of_cells
