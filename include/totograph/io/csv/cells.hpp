// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>

namespace totograph::io {

/// Why a cell is no value.
enum class CellProblem { none, text, overflowing, unit };

/// A cell as a value: NaN at gaps.
struct CellValue {
    double value = std::numeric_limits<double>::quiet_NaN();
    CellProblem problem = CellProblem::none;
    bool is_word = false;  ///< A gap that a word spells, such as "null".
};

/// Reads the value of a cell (without blanks around it) in a column whose decimal mark and unit are known.
CellValue read_cell(std::string_view cell, DecimalMark mark, std::string_view unit, const GapWords& gaps);

/// The decimal mark of a column, by what it and the whole file tell; nothing where both are likely.
std::optional<DecimalMark> decide_mark(const MarkEvidence& column, const MarkEvidence& file, char separator);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/cells.hpp>
#endif
