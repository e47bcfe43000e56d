// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/time/clock.hpp>

namespace totograph::io {

/// Named series of equal length, with or without timestamps.
struct Table {
    std::string timestamp_name;                ///< Empty when there is no timestamp column.
    std::vector<std::string> timestamps;       ///< As the file spells them; empty when there is no timestamp column.
    std::vector<std::string> names;            ///< One for each column.
    std::vector<std::vector<double>> columns;  ///< NaN marks a gap.
    std::vector<std::string> units{};          ///< One for each column, "" without; may be empty when none has any.
    Clock clock{};                             ///< What the timestamps say.
    std::vector<std::string> notes{};          ///< Sentences about what the reader decided and repaired.

    [[nodiscard]] std::size_t rows() const noexcept {
        return columns.empty() ? timestamps.size() : columns.front().size();
    }

    /// The position of a column, or nothing.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/table.hpp>
#endif
