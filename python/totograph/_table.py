# SPDX-License-Identifier: Apache-2.0
"""Tables of series in files: a row for each step, a column for each variate, and perhaps one of times."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

_GAPS = {"", "na", "nan", "null", "none", "?"}


@dataclass(frozen=True)
class Table:
    names: tuple[str, ...]
    values: npt.NDArray[np.float32]  #: `[variates, steps]`, NaN where the file has none.
    times: tuple[datetime, ...]  #: Of the rows; empty where the file has none.

    def times_ahead(self, steps: int) -> list[str]:
        """Of the steps after the table: times where it has them, equally far apart or monthly, else numbers of rows."""
        pairs = list(zip(self.times, self.times[1:]))
        apart = {b - a for a, b in pairs}
        if len(apart) == 1:
            step = apart.pop()
            return [str(self.times[-1] + step * (i + 1)) for i in range(steps)]
        months = {_months(b) - _months(a) if a.replace(year=1, month=1) == b.replace(year=1, month=1) else 0
                  for a, b in pairs}
        if len(months) == 1 and 0 not in months and self.times[-1].day <= 28:
            step_months = months.pop()
            ahead = [_months(self.times[-1]) + step_months * (i + 1) for i in range(steps)]
            return [str(self.times[-1].replace(year=one // 12, month=one % 12 + 1)) for one in ahead]
        rows = self.values.shape[1]
        return [str(rows + i) for i in range(steps)]


def _months(time: datetime) -> int:
    return time.year * 12 + time.month - 1


def _number(text: str) -> float | None:
    if text.strip().lower() in _GAPS:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None


def read_table(path: Path) -> Table:
    """Reads a CSV file with a header. Raises `FileNotFoundError`, and `ValueError` for what is no such table."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"'{path}' is no CSV file: {error}.") from None
    if len(rows) < 2:
        raise ValueError(f"'{path}' has no rows below its header.")
    header, rows = rows[0], rows[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"'{path}': row {number} has {len(row)} fields, and the header has {len(header)}.")
    names, columns = [], []
    times: tuple[datetime, ...] = ()
    for i, name in enumerate(header):
        numbers = [_number(row[i]) for row in rows]
        if None not in numbers:
            if not all(math.isnan(one) for one in numbers if one is not None):
                names.append(name)
                columns.append(np.array(numbers, np.float32))
            continue
        found = [_time(row[i]) for row in rows]
        if times or None in found:
            bad = next(row for row, one in enumerate(numbers, 2) if one is None)
            raise ValueError(f"'{path}': '{rows[bad - 2][i][:40]}' in column '{name}', row {bad}, is neither a number nor "
                             "a time. Leave out columns that are no series.")
        times = tuple(one for one in found if one is not None)
    if not columns:
        raise ValueError(f"'{path}' has no column of numbers.")
    return Table(tuple(names), np.stack(columns), times)
