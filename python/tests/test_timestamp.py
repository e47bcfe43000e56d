# SPDX-License-Identifier: Apache-2.0
"""Spellings of times: those that the programs in C++ read as well, and those that they and Python read apart."""
import csv
from datetime import datetime, timezone
from pathlib import Path

import pytest

from totograph._month_names import MONTHS
from totograph._timestamp import time_of

with (Path(__file__).parents[2] / "tests" / "data" / "timestamps.csv").open(newline="", encoding="utf-8") as file:
    SPELLINGS = [(row["spelling"], row["instant"]) for row in csv.DictReader(file)]


def instant_of(text):
    time = time_of(text)
    if time is None:
        return "none"
    return (time if time.tzinfo is None else time.astimezone(timezone.utc).replace(tzinfo=None)).isoformat()


@pytest.mark.parametrize("spelling, instant", SPELLINGS)
def test_times_are_read_as_the_programs_read_them(spelling, instant):
    assert instant_of(spelling) == instant
    assert instant_of(f" {spelling} ") == instant


def test_each_name_of_a_month_is_one_that_the_programs_read():
    """Of which a test in C++ finds each in the same rows."""
    named = {spelling.split()[1]: int(instant[5:7]) for spelling, instant in SPELLINGS
             if spelling.startswith("5 ") and instant.startswith("2024-")}
    assert named == MONTHS


@pytest.mark.parametrize("name", MONTHS)
def test_names_of_months_are_read_in_any_letters(name):
    for spelled in (name, name.upper(), name.title()):
        for text in (f"5 {spelled} 2024", f"05. {spelled}. 24", f"5 de {spelled} de 2024"):
            assert time_of(text) == datetime(2024, MONTHS[name], 5)
        assert time_of(f"5 {spelled}x 2024") is None


def test_zones_are_kept():
    assert str(time_of("20240101T220000+0130")) == "2024-01-01 22:00:00+01:30"
    assert str(time_of("Mon, 01 Jan 2024 22:00:00 -0000")) == "2024-01-01 22:00:00+00:00"
    assert str(time_of("20240101T220000 UTC")) == "2024-01-01 22:00:00+00:00"
    assert time_of("Mon, 01 Jan 2024 22:00:00").tzinfo is None


def test_what_python_alone_reads():
    assert time_of("2024-01-01T22") == time_of("2024-01-01 22") == datetime(2024, 1, 1, 22)
    assert time_of("0001-01-01") == datetime.min
    assert time_of("9999-12-31T23:59:59") == datetime(9999, 12, 31, 23, 59, 59)
    assert time_of("9999-12-31T24:00") is None
    assert time_of("0000-01-01") is None
    assert time_of("2024-01-01T22:00:00.123456789") == datetime(2024, 1, 1, 22, 0, 0, 123456)  # millionths


@pytest.mark.parametrize("text", ["2024-1-5", "2024/01/05", "5.1.2024", "1/5/2024", "2024-01", "2024-01-05 10:00 AM",
                                  "05-Jan-2024", "Jan 5, 2024", "12-Mär-24", "Mai 2024", "févr. 2024", "2024 Jan",
                                  "2024-Q1"])
def test_what_the_programs_alone_read(text):
    assert time_of(text) is None
