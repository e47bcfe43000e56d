# SPDX-License-Identifier: Apache-2.0
"""The data that the demo model is measured on, cut into windows: a history, and the steps that followed it."""
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

import numpy as np
import pandas

LONGEST_HISTORY = 1024  # as in training

# Series that come with R: name, season, horizon. Chosen before anything was measured.
CLASSICAL = [
    ("AirPassengers", 12, 24),
    ("co2", 12, 24),
    ("nottem", 12, 24),
    ("UKDriverDeaths", 12, 24),
    ("sunspot.month", 12, 24),
    ("UKgas", 4, 8),
    ("lynx", 10, 10),
    ("EuStockMarkets", 1, 20),
]


class Window(NamedTuple):
    history: np.ndarray  # [variates, steps]
    future: np.ndarray  # [variates, horizon]


class DataSet(NamedTuple):
    name: str
    season: int
    horizon: int
    windows: list[Window]


def rolling(values: np.ndarray, horizon: int, ends: list[int]) -> list[Window]:
    """Windows whose history ends before the given steps; `values` is `[steps, variates]`."""
    return [Window(values[max(0, end - LONGEST_HISTORY) : end].T, values[end : end + horizon].T) for end in ends]


def evenly(first: int, last: int, count: int) -> list[int]:
    return sorted(set(np.linspace(first, last, count).round().astype(int).tolist()))


def ett(path: pathlib.Path) -> list[DataSet]:
    """Hourly: twenty windows over the last fifth of the file."""
    values = pandas.read_csv(path).iloc[:, 1:].to_numpy(np.float32)
    ends = evenly(len(values) * 4 // 5, len(values) - 96, 20)
    return [DataSet(f"ETTh1, {horizon} hours", 24, horizon, rolling(values, horizon, ends)) for horizon in (24, 96)]


def machine_metrics(path: pathlib.Path) -> DataSet:
    """Every second: twenty windows over the second half of the recording."""
    values = pandas.read_csv(path).iloc[:, 1:].to_numpy(np.float32)
    ends = evenly(len(values) // 2, len(values) - 60, 20)
    return DataSet("machine metrics, 60 s", 1, 60, rolling(values, 60, ends))


def classical() -> list[DataSet]:
    """The series that come with R: up to ten windows over the second half of each."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        names = ",".join(f"'{name}'" for name, _, _ in CLASSICAL)
        subprocess.run(["Rscript", "-e", f"for (n in c({names})) write.csv(as.matrix(get(n)), "
                        f"file.path('{folder}', n), row.names = FALSE)"], check=True)
        for name, season, horizon in CLASSICAL:
            values = pandas.read_csv(pathlib.Path(folder) / name).to_numpy(np.float32)
            count = min(10, (len(values) // 2 - horizon) // max(1, horizon // 2) + 1)
            ends = evenly(len(values) // 2, len(values) - horizon, max(2, count))
            result.append(DataSet(f"{name}, {horizon} steps", season, horizon, rolling(values, horizon, ends)))
    return result
