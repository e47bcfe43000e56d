# SPDX-License-Identifier: Apache-2.0
"""Tables of series in files: a row for each step, a column for each variate, and perhaps one of times."""

from __future__ import annotations

import csv
import math
from collections import Counter
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Sequence

import numpy as np
import numpy.typing as npt

from ._epoch import DateInDigits, Epoch, date_in_digits_of, epoch_of, is_clock_name, is_even
from ._time_step import find_time_step
from ._timestamp import time_of

#: As in C++ (`totograph::io::GapWords`), and the empty field and "?".
GAPS = frozenset("na nan -nan +nan n/a #n/a <na> null nil none - -- \\n nat inf -inf +inf infinity -infinity +infinity undefined "
                 "missing \u2013 \u2014 \u221e -\u221e ?".split()) | {""}


@dataclass(frozen=True)
class Table:
    names: tuple[str, ...]
    values: npt.NDArray[np.float64]  #: `[variates, steps]`, NaN where the file has none.
    times: tuple[datetime, ...]  #: Of the rows, ascending; empty where the file has none.
    notes: tuple[str, ...] = ()  #: Sentences on what was done with the rows of the file.
    spelling: Epoch | DateInDigits | None = None  #: Of the times in the file, where they are numbers.

    def levels(self) -> npt.NDArray[np.float64]:
        """What to take off the values of each variate before they become float32, `[variates, 1]`: their mean where float32
        would keep less than four digits of their range, as of a counter near 1e9 that goes up by 1; else 0. Forecasts move
        along: adding the levels to them undoes it."""
        levels = np.zeros((len(self.values), 1))
        for level, row in zip(levels, self.values):
            known = row[~np.isnan(row)]
            largest = np.abs(known).max(initial=0)
            if 0 < largest < np.finfo(np.float32).max and 1e4 * np.spacing(np.float32(largest)) > np.ptp(known):
                level[0] = known.mean()
        return levels

    def times_ahead(self, steps: int) -> list[str]:
        """Of the steps after the table: times where it has them, as far apart as its rows are, or most of them; else
        numbers of rows. Raises `ValueError` for times that nothing can tell."""
        step = find_time_step(self.times)
        if step is None:
            rows = self.values.shape[1]
            return [str(rows + i) for i in range(steps)]
        ahead: list[str] = []
        try:
            for i in range(steps):
                time = step.later(self.times[-1], i + 1)
                ahead.append(self.spelling.text(time) if self.spelling else str(time))
        except (OverflowError, ValueError):
            instead = f"forecast at most {len(ahead)} steps" if ahead else "leave out their column"
            raise ValueError(f"The time of step {len(ahead) + 1} of {steps} after {self.times[-1]} lies beyond the year "
                             f"{MAXYEAR}, the last that can be told. Correct the times, or {instead}.") from None
        return ahead


def _number(text: str) -> float | None:
    if text.strip().lower() in GAPS:
        return math.nan
    try:
        return float(text) if "_" not in text else None  # which Python takes for a digit
    except ValueError:
        return None


def read_table(path: Path) -> Table:
    """Reads a CSV file with a header. Rows with times are put in their order, repeated ones are dropped, and missing ones
    become gaps, each with a note. Raises `FileNotFoundError`, and `ValueError` for what is no such table."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = _without_blank_lines(list(csv.reader(file)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"'{path}' is no CSV file: {error}.") from None
    if len(rows) < 2:
        raise ValueError(f"'{path}' has no rows below its header.")
    header, rows = rows[0], rows[1:]
    _check_separator(f"'{path}'", header, rows[0])
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"'{path}': row {number} has {len(row)} fields, and the header has {len(header)}.")
    if not _is_header(header, rows[0]):
        raise ValueError(f"'{path}' has no header: its first row begins with '{header[0][:40]}'. Expected the names of the "
                         "columns; write them in a row above it.")
    given, renamed = _unique_names(header)
    columns: list[_Column] = []
    times: list[datetime | None] = []
    stamps: list[str] = []
    for i, name in enumerate(given):
        texts = [row[i] for row in rows]
        numbers = [_number(text) for text in texts]
        told = [one for one in numbers if one is not None]
        if len(told) == len(numbers):
            _check_range(f"'{path}'", name, texts, told)
            if not all(math.isnan(one) for one in told):
                columns.append(_Column(name, texts, told, is_clock_name(name) or i == 0 and not header[0].strip()))
            continue
        found = _times_of(f"'{path}'", name, texts, numbers)
        if times:
            raise ValueError(f"'{path}': the column '{name}' has times, and an earlier one has them as well. Leave out one "
                             "of the two.")
        times, stamps = found, texts
    columns, clock, notes = _without_clocks(columns, bool(times))
    if clock is not None:
        times, stamps = clock.times(), clock.texts
    notes = renamed + notes
    if not columns:
        raise ValueError(f"'{path}' has no column of numbers{' beside its times' if times else ''}.")
    names, values = tuple(one.name for one in columns), np.array([one.numbers for one in columns], np.float64)
    notes += _below_range(names, values)
    if not times:
        return Table(names, values, (), notes)
    return _Rows(f"'{path}'", names, values, times, stamps).table(notes, clock.spelling if clock is not None else None)


def _without_blank_lines(rows: list[list[str]]) -> list[list[str]]:
    """In a single column a blank line is an empty field, but before the header and at the end."""
    told = [number for number, row in enumerate(rows) if row]
    if told and len(rows[told[0]]) == 1:
        return [row or [""] for row in rows[told[0] : told[-1] + 1]]
    return [row for row in rows if row]


def _check_separator(file: str, header: Sequence[str], first: Sequence[str]) -> None:
    other = next((one for one in "\t;|" if one in header[0] and one in ",".join(first)), None)
    if len(header) == 1 and other is not None:
        raise ValueError(f"{file} has {'tabs' if other == chr(9) else repr(other)} between its fields, as in "
                         f"'{header[0][:40]}'. Expected commas, and points before decimals; save it so. The program "
                         "'forecast' reads it as it is.")


def _below_range(names: Sequence[str], values: npt.NDArray[np.float64]) -> tuple[str, ...]:
    """A note on variates whose values float32 cannot hold."""
    largest = np.nanmax(np.abs(values), axis=1, initial=0)
    below = [f"'{name}'" for name, one in zip(names, largest) if 0 < one < np.finfo(np.float32).tiny]
    if not below:
        return ()
    shown = ", ".join(below[:12]) + (f" and {len(below) - 12} others" if len(below) > 12 else "")
    return (f"The values of {shown} are below 1.2e-38, where 32-bit floats, which models read, lose digits and then become 0: "
            "forecasts are poor. Multiply the values by a power of ten.",)


def _check_range(file: str, name: str, texts: Sequence[str], numbers: Sequence[float]) -> None:
    most = float(np.finfo(np.float32).max)
    row = next((row for row, number in enumerate(numbers) if abs(number) > most), None)
    if row is not None:
        raise ValueError(f"{file}: '{texts[row][:40]}' in column '{name}', row {row + 2}, is beyond the range of a float, "
                         "about 3.4e38. Leave the field blank where nothing was observed.")


def _is_header(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a row has names; numbers are some where they count the columns, as in tables of pandas without others,
    and times alone where below are gaps and numbers without units."""
    is_text = any(_number(cell) is None and time_of(cell) is None for cell in first)
    below = [_number(cell) for cell in second]
    numbers = [number for number in below if number is not None]
    are_times_over_numbers = (
        len(numbers) == len(below) and not all(map(math.isnan, numbers)) and all(map(time_of, first))
    )
    counts = [cell.strip() for cell in first] == [str(i) for i in range(len(first))]
    return is_text or are_times_over_numbers or counts or not first[0].strip() and bool(second[0].strip())


def _unique_names(given: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names, each once, and notes: one that is blank becomes `column_<number>`, one that was there before gets a number."""
    names: dict[str, None] = {}
    reserved = set(given)
    numbers: Counter[str] = Counter()
    notes: list[str] = []
    for i, name in enumerate(given):
        base = name if name.strip() else "column"
        new = name if name.strip() else f"column_{i + 1}"
        while new in names or new != name and new in reserved:
            numbers[base] += 1
            new = f"{base}_{numbers[base] + 1}"
        if new != name and name.strip() and not notes:
            notes.append(f"Several columns are called '{name}': repeated names get a number, as '{new}' did.")
        names[new] = None
    return list(names), tuple(notes)


@dataclass(frozen=True, eq=False)
class _Column:
    name: str
    texts: list[str]
    numbers: Sequence[float]  #: NaN at gaps.
    may_be_clock: bool  #: Whether it is called like a clock, or is the first one and has no name.

    @cached_property
    def spelling(self) -> Epoch | DateInDigits | None:
        """How it spells times; None where it has others than times."""
        epoch, dates = epoch_of(self.texts, self.numbers), date_in_digits_of(self.texts, self.numbers)
        return dates if dates and (self.may_be_clock or epoch) else epoch

    def times(self) -> list[datetime | None]:
        assert self.spelling is not None
        return [None if math.isnan(number) else self.spelling.time(text)
                for text, number in zip(self.texts, self.numbers)]

    def is_constant(self) -> bool:
        return len({number for number in self.numbers if not math.isnan(number)}) == 1

    def counts_rows(self) -> bool:
        return self.numbers[0] in (0, 1) and all(b == a + 1 for a, b in zip(self.numbers, self.numbers[1:]))


def _without_clocks(columns: list[_Column], has_times: bool) -> tuple[list[_Column], _Column | None, tuple[str, ...]]:
    """The columns that are series, that of times in numbers which is the clock, where there is no other, and notes."""
    named = [one for one in columns if one.spelling and one.may_be_clock]
    clock = None
    if not has_times:
        others = [one for one in columns if one.spelling and is_even(one.numbers) and len(columns) > 1]
        clock = next((one for one in (*named, *others) if not one.is_constant()), None)
    notes = []
    if clock is not None:
        held = "epoch times" if isinstance(clock.spelling, Epoch) else "dates"
        notes.append(f"Column '{clock.name}' holds {held}: it is taken as the clock.")
    further = [one for one in named if one is not clock and (has_times or clock or one.is_constant())]
    for one in further:
        notes.append(f"Column '{one.name}' " + ("holds further times" if has_times or clock else
                                                "has one time in all rows") + " and is left out.")
    # The index of a table in pandas.
    counters = [one for one in columns if one.may_be_clock and not is_clock_name(one.name) and one.counts_rows()]
    notes += [f"Column '{one.name}' without a name counts the rows and is left out." for one in counters]
    left_out = (clock, *further, *counters)
    return [one for one in columns if one not in left_out], clock, tuple(notes)


def _times_of(file: str, name: str, texts: Sequence[str], numbers: Sequence[float | None]) -> list[datetime | None]:
    """The times in a column, in which something is no number; None where a field is a gap."""
    found = [time_of(text) for text in texts]
    untold = [row for row, time in enumerate(found) if time is None]
    for row in untold:
        if numbers[row] is None:
            raise ValueError(f"{file}: '{texts[row][:40]}' in column '{name}', row {row + 2}, is neither a number nor a "
                             "time. Leave out columns that are no series.")
    for row in untold:
        if numbers[row] == numbers[row]:  # not NaN
            time = next(one for one, time in enumerate(found) if time is not None)
            raise ValueError(f"{file}: column '{name}' has a number, '{texts[row][:40]}' in row {row + 2}, and a time, "
                             f"'{texts[time][:40]}' in row {time + 2}. Expected numbers alone, or times alone.")
    return found


def _rows_text(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


class _Rows:
    """The rows of a file with times, which become those of a table: in the order of time, each time once, and gaps for
    those that are missing."""

    def __init__(self, file: str, names: tuple[str, ...], values: npt.NDArray[np.float64],
                 times: Sequence[datetime | None], stamps: Sequence[str]) -> None:
        self._file, self._names, self._values, self._stamps = file, names, values, stamps
        self._notes: list[str] = []
        self._times = {row: time for row, time in enumerate(times) if time is not None}
        if len(self._times) < len(times):
            lost = len(times) - len(self._times)
            self._tell(f"has {_rows_text(lost)} without a time", "it is left out" if lost == 1 else "they are left out")
        zoned = [time.tzinfo is not None for time in self._times.values()]
        if any(zoned) and not all(zoned):
            self._tell(f"has {_rows_text(len(zoned) - sum(zoned))} whose time has no zone, and others whose time has one",
                       "a time without a zone is taken for UTC")
            self._times = {row: time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
                           for row, time in self._times.items()}

    def table(self, notes: tuple[str, ...], spelling: Epoch | DateInDigits | None) -> Table:
        rows = self._without_repeated(self._sorted())
        times = [self._times[row] for row in rows]
        values = self._values[:, rows]
        missing = self._missing(rows, times)
        if any(missing):
            places = np.arange(len(rows)) + np.cumsum(missing)
            filled = np.full((len(values), len(rows) + sum(missing)), np.nan)
            filled[:, places] = values
            values, times = filled, self._filled(times, missing)
        return Table(self._names, values, tuple(times), notes + tuple(self._notes), spelling)

    def _filled(self, times: Sequence[datetime], missing: Sequence[int]) -> list[datetime]:
        step = find_time_step(times)
        assert step is not None
        filled: list[datetime] = []
        for before, time, count in zip((times[0], *times), times, missing):
            try:
                filled.extend(step.later(before, i + 1) for i in range(count))
            except OverflowError:  # on a clock far ahead of that of the next row
                raise ValueError(f"The file {self._file} lacks rows behind {before} whose times lie beyond the year "
                                 f"{MAXYEAR}, the last that can be told. Correct the times, or leave out their "
                                 "column.") from None
            filled.append(time)
        return filled

    def _tell(self, what: str, done: str) -> None:
        self._notes.append(f"The file {self._file} {what}: {done}.")

    def _sorted(self) -> list[int]:
        rows, times = list(self._times), self._times
        pairs = list(zip(rows, rows[1:]))
        early = next(((a, b) for a, b in pairs if times[b] < times[a]), None)
        if early is None:
            return rows
        if all(times[b] <= times[a] for a, b in pairs):
            self._tell("has its newest row first", "the rows are turned round")
        else:
            before, after = (self._stamps[row] for row in early)
            self._tell(f"has rows that are not in the order of time ('{after}' comes after '{before}')", "they are sorted")
        return sorted(rows, key=times.__getitem__)

    def _without_repeated(self, rows: Sequence[int]) -> list[int]:
        kept: list[int] = []
        repeated: list[int] = []
        for row in rows:
            if not kept or self._times[row] != self._times[kept[-1]]:
                kept.append(row)
                continue
            first = kept[-1]
            a, b = self._values[:, first], self._values[:, row]
            differs = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
            if differs.size:
                one = int(differs[0])
                raise ValueError(f"{self._file}: the rows {first + 2} and {row + 2} have the same time, "
                                 f"'{self._stamps[row]}', and other values: {a[one]:g} and {b[one]:g} in column "
                                 f"'{self._names[one]}'. A time should be there once. Leave out one of the rows; where "
                                 "rows are of several series, give each series a column.")
            repeated.append(row)
        if repeated:
            self._tell(f"has {_rows_text(len(repeated))} with the time and the values of another one, such as "
                       f"'{self._stamps[repeated[0]]}'", "the first row of each time is kept")
        return kept

    def _missing(self, rows: Sequence[int], times: Sequence[datetime]) -> list[int]:
        """How many rows are missing before each."""
        step = find_time_step(times)
        if step is None:
            return [0] * len(rows)
        if not step.is_even:
            self._tell("has rows at uneven intervals of time", "each is taken as one step, and the times ahead are as far "
                       f"apart as most rows are, {step.later(times[0], 1) - times[0]}")
            return [0] * len(rows)
        missing = [0, *(step.missing(a, b) for a, b in zip(times, times[1:]))]
        count = sum(missing)
        if count == 0:
            return missing
        behind = self._stamps[rows[next(i for i, one in enumerate(missing) if one > 0) - 1]]
        # A wrong time must not take all memory.
        most = min(max(20 * len(rows), 1000), 2**28 // len(self._names))
        if count > most:
            raise ValueError(f"The file {self._file} lacks {count} rows between its times, beginning behind '{behind}', of "
                             f"at most {most} that become gaps; one of the times may be wrong. Correct it, or leave out "
                             "the column of times to take the rows as they stand.")
        self._tell(f"lacks {_rows_text(count)} between its times, the first behind '{behind}'",
                   "it becomes a gap" if count == 1 else "they become gaps")
        return missing
