// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace totograph::io {

/// What a column of text says in each row, as numbers: the same where the text is.
using LabelNumbers = std::vector<std::size_t>;

/// The fewest columns of labels that, with the times, tell as many rows apart as all of them do: one of them where that
/// is enough, else those that none can be left out of. Positions in `labels`, in their order; `given` are among them.
/// Columns that say hardly anything twice, such as remarks, name no series, and count only where the others are not
/// enough.
std::vector<std::size_t> fewest_labels(const std::vector<std::int64_t>& times, const std::vector<LabelNumbers>& labels,
                                       const std::vector<std::size_t>& given = {});

/// The same without columns that say hardly anything twice, such as the numbers of rows, though given ones stay. No
/// more than `given` where none is left that tells rows apart, and where the series would have fewer than two rows on
/// the average: then rows are named, not series.
std::vector<std::size_t> labels_of_series(const std::vector<std::int64_t>& times,
                                          const std::vector<LabelNumbers>& labels,
                                          const std::vector<std::size_t>& given = {});

namespace detail {

/// Numbers pairs, so that the same ones get the same number, from 0.
LabelNumbers number_pairs(const LabelNumbers& first, const LabelNumbers& second);

/// One more than the largest.
std::size_t count_numbers(const LabelNumbers& numbers);

/// The columns that are not given and do not say the same in all rows, those that say the fewest things first.
std::vector<std::size_t> vaguest_first(const std::vector<LabelNumbers>& labels, const std::vector<std::size_t>& given);

/// Whether a column says what it says twice on the average.
bool names_series(const LabelNumbers& labels);

LabelNumbers number_times(const std::vector<std::int64_t>& times);

/// How many rows some columns of labels tell apart, with what the rows are told apart by already.
std::size_t told_apart(LabelNumbers rows, const std::vector<LabelNumbers>& labels,
                       const std::vector<std::size_t>& chosen);

}  // namespace detail

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/series_labels.hpp>
#endif
