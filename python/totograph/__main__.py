# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from . import demo_checkpoint, load
from ._table import read_table


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m totograph", description="Forecasts with Toto.")
    commands = parser.add_subparsers(dest="command", required=True)
    forecast = commands.add_parser("forecast", help="forecast the columns of a CSV file, and print a CSV of quantiles")
    forecast.add_argument("file", type=Path, help="a header, a row for each step, a column for each variate; a column of "
                          "times is recognized, and empty fields are gaps")
    forecast.add_argument("--horizon", type=int, default=24, help="steps to forecast (default: 24)")
    forecast.add_argument("--quantiles", type=float, nargs="+", default=[0.1, 0.5, 0.9], metavar="LEVEL")
    forecast.add_argument("--checkpoint", type=Path, help="a folder (default: the small model that comes with totograph)")
    forecast.add_argument("--package", type=Path, help="a package, or a folder of some (default: as `totograph.load` "
                          "finds it, or compile one)")
    forecast.add_argument("--seed", type=int, default=0)
    forecast.add_argument("--threads", type=int, default=0, help="(default: all processors)")
    forecast.add_argument("-o", "--output", type=Path, help="(default: standard output)")
    return parser


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"The file '{error.filename}' cannot be opened: {error.strerror}."
    if isinstance(error, OSError) and error.strerror:  # of an open file, which it does not name
        return f"The output cannot be written: {error.strerror}."
    return str(error) or "There is not enough memory for this."  # of which Python says nothing


def _number(value: float, level: float) -> str:
    """As few digits as tell the float32 that was forecast. Beside a level, which large numbers have: twelve digits; of
    counters, which are large beside what they change by, all."""
    if level == 0:
        return str(np.float32(value)).removesuffix(".0")
    return f"{value:.12g}" if abs(value) < 1e9 else repr(float(value))


def main(arguments: list[str] | None = None) -> int:
    given = _arguments().parse_args(arguments)
    try:
        if not 0 <= given.threads < 2**31:
            raise ValueError(f"The number of threads (--threads) cannot be {given.threads}; expected 0, for all processors, "
                             f"to {2**31 - 1}.")
        if given.output and given.output.exists() and given.output.samefile(given.file):
            raise ValueError(f"The output (--output) cannot be '{given.output}', for that is the file to forecast. Name "
                             "another one.")
        table = read_table(given.file)
        for note in table.notes:
            print(f"totograph: {note}", file=sys.stderr, flush=True)
        model = load(given.checkpoint or demo_checkpoint(), given.package, threads=given.threads)
        levels = table.levels()
        series = table.values - levels
        made = model.forecast(series, given.horizon, given.quantiles, seed=given.seed, extend=True)
        quantiles, times = made.quantiles + levels, table.times_ahead(given.horizon)
        where = given.output if given.output else 1
        with open(where, "w", newline="", encoding="utf-8", closefd=bool(given.output)) as file:  # as tables are read
            writer = csv.writer(file)
            writer.writerow(["time", "variate", *(f"{level:g}" for level in given.quantiles)])
            for step, time in enumerate(times):
                for variate, name in enumerate(table.names):
                    writer.writerow([time, name, *(_number(value, levels[variate, 0])
                                           for value in quantiles[:, variate, step])])
    except (OSError, ValueError, RuntimeError, MemoryError, OverflowError) as error:
        print(f"totograph: {_sentence(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
