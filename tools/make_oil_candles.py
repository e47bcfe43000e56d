#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes examples/data/oil_candles.csv: weekly candles of the daily oil prices of the U.S. Energy Information
Administration, which are in the public domain.

    python3 tools/make_oil_candles.py wti-daily.csv brent-daily.csv OUT.csv

Each input has columns Date and Price, as github.com/datasets/oil-prices keeps them. A candle is what a week's daily
prices were: the first, the highest, the lowest and the last. The times are Mondays.
"""
import argparse
import csv
import datetime
import pathlib

FIRST = datetime.date(2016, 1, 4)


def weeks(path: pathlib.Path) -> dict[datetime.date, list[str]]:
    """The prices of each whole week, by its Monday."""
    result: dict[datetime.date, list[str]] = {}
    last = FIRST
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            day = datetime.date.fromisoformat(row["Date"])
            if day >= FIRST and row["Price"]:
                last = day
                result.setdefault(day - datetime.timedelta(days=day.weekday()), []).append(row["Price"])
    if last.weekday() < 4:
        del result[last - datetime.timedelta(days=last.weekday())]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wti", type=pathlib.Path)
    parser.add_argument("brent", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    with open(arguments.out, "w", newline="", encoding="ascii") as file:
        file.write("week,symbol,open,high,low,close\n")
        for symbol, path in (("WTI", arguments.wti), ("Brent", arguments.brent)):
            for monday, prices in weeks(path).items():
                high = max(prices, key=float)
                low = min(prices, key=float)
                file.write(f"{monday},{symbol},{prices[0]},{high},{low},{prices[-1]}\n")


if __name__ == "__main__":
    main()
