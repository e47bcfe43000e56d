#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes examples/data/climate.csv from the data sets co2 and elnino of statsmodels, both in the public domain.

    python3 tools/make_climate_data.py FOLDER OUT.csv

FOLDER is statsmodels/datasets, as the Debian package python3-statsmodels or the one on PyPI installs it. Needs no
packages: it reads the two CSV files and imports nothing of statsmodels.
"""
import argparse
import collections
import csv
import pathlib

FIRST_YEAR = 1959  # the carbon dioxide of 1958 begins in March and lacks two more months
LAST_YEAR = 2001   # it ends with December


def monthly_co2(path: pathlib.Path) -> dict[tuple[int, int], str]:
    """Means of the weekly values whose day lies in the month, to 0.01 ppm; nothing for a month without any."""
    weeks = collections.defaultdict(list)
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            if row["co2"]:
                day = row["date"]
                weeks[int(day[:4]), int(day[4:6])].append(float(row["co2"]))
    return {month: f"{sum(values) / len(values):.2f}" for month, values in weeks.items()}


def monthly_sea_surface(path: pathlib.Path) -> dict[tuple[int, int], str]:
    """The table's values as they are: a row a year, twelve columns behind the year's."""
    with open(path, newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]
    return {(int(row[0]), month): f"{float(row[month]):.2f}" for row in rows for month in range(1, 13)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    co2 = monthly_co2(arguments.folder / "co2/co2.csv")
    sea = monthly_sea_surface(arguments.folder / "elnino/elnino.csv")
    with open(arguments.out, "w", newline="", encoding="ascii") as file:
        file.write("month,co2_ppm,sea_surface_celsius\n")
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            for month in range(1, 13):
                file.write(f"{year}-{month:02}-01,{co2.get((year, month), '')},{sea[year, month]}\n")


if __name__ == "__main__":
    main()
