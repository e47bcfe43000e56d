// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/time_step.hpp>

namespace totograph::io {

/// What becomes of rows that do not follow each other in time at equal intervals.
enum class RowPolicy {
    repair,        ///< They are sorted, those of a time that was there before are dropped, missing ones become gaps.
    strict,        ///< They are an error.
    as_they_stand  ///< They are taken as they are.
};

namespace detail {

inline std::string rows_text(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " row" : " rows");
}

/// Puts the rows of one table in the order of time.
class RowRepair {
public:
    RowRepair(Table& table, std::string_view file_name, RowPolicy policy)
        : table_(table), file_(in_quotes(file_name, longest_quote)), policy_(policy) {}

    /// All of it, gaps for missing rows too.
    void run();

    /// But for missing rows. Throws where rows of one time differ; `advice` is what to do about it, as a sentence.
    void put_in_order(std::string_view advice);

private:
    using Times = std::vector<std::int64_t>;

    [[nodiscard]] Times& times() { return table_.clock.times; }

    /// Tells what is done, and how to have it otherwise, or refuses the file because it would have to be.
    void tell(const std::string& what, const std::string& done, const std::string& otherwise = "");

    [[nodiscard]] std::string stamp(std::size_t row) const { return in_quotes(table_.timestamps[row]); }

    /// Keeps these rows, in this order.
    void keep(const std::vector<std::size_t>& rows);

    template <class Wanted>
    [[nodiscard]] std::vector<std::size_t> rows_where(const Wanted& wanted) {
        std::vector<std::size_t> rows;
        for (std::size_t row = 0; row < times().size(); ++row) {
            if (wanted(row)) {
                rows.push_back(row);
            }
        }
        return rows;
    }

    void drop_timeless();

    void sort();

    /// Later times are spelled as the latest one, whose zone may be that of another season.
    void spell_as_latest();

    void drop_repeated();

    /// The rows whose time is that of the one before.
    [[nodiscard]] std::vector<std::size_t> repeated() {
        return rows_where([&](std::size_t row) { return row > 0 && times()[row] == times()[row - 1]; });
    }

    /// Where half of the rows have values and no time, that is not theirs alone.
    void refuse_timeless() const;

    /// Three rows or more of one time are no history, whatever they say.
    void refuse_one_time() const;

    /// Where half of the rows differ from another one of their time, their clock is not what it was taken for.
    void refuse_repeated(const std::string& what, std::size_t different) const;

    void refuse_different(std::string_view advice);

    [[nodiscard]] bool is_same(std::size_t a, std::size_t b) const;

    /// How many rows are missing before a row.
    [[nodiscard]] std::int64_t missing_before(std::size_t row, const TimeStep& step);

    void fill();

    /// A wrong timestamp must not take all memory.
    [[nodiscard]] std::int64_t most_missing() const;

    void insert(const TimeStep& step, std::size_t count);

    Table& table_;
    std::string file_;
    RowPolicy policy_;
};

}  // namespace detail

/// Puts the rows of a table with a known clock in the order of time, drops those of a time that is there already (the
/// first is kept) and those without a time, and adds gaps for missing ones; a note in the table tells each thing that
/// was done. Tables without a clock stay as they are.
///
/// Throws `Error(invalid_file)` with the policy `strict` instead of doing any of it, where at least half of the rows
/// (and two) would be dropped though their values differ, or as many (and eight) have values and no time, where all of
/// three rows or more have one time, and where so many rows are missing that a time is probably wrong.
void make_regular(Table& table, std::string_view file_name, RowPolicy policy = RowPolicy::repair);

/// The same for rows of a market, which has none at night: missing ones stay missing. Rows of one time have to have the
/// same values; else it throws `Error(invalid_file)`, which ends with `advice`, a sentence.
void put_in_order(Table& table, std::string_view file_name, RowPolicy policy, std::string_view advice);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/regular_rows.hpp>
#endif
