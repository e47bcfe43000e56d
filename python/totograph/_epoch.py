# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers that are times: seconds, or thousandths, millionths or billionths of one, since the beginning of
1970. They are told from others as the programs in C++ tell them (`totograph::io::counting`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Sequence

_BEGINNING = datetime(1970, 1, 1, tzinfo=timezone.utc)
CLOCK_NAMES = frozenset(
    "time times timestamp timestamps datetime date dates when clock epoch epochtime epochms unix unixtime timeunix timems ts "
    "t ds utctime timeutc createdat eventtime sampletime period timestampms unixtimestamp xvalue row index step day month "
    "year datum zeit".split())


def is_clock_name(name: str) -> bool:
    return "".join(letter for letter in name.lower() if letter.isascii() and letter.isalnum()) in CLOCK_NAMES


@dataclass(frozen=True)
class Epoch:
    """How a column spells its times."""

    power: int  #: A second has 1000 ** power units.
    decimals: int

    def time(self, text: str) -> datetime:
        return _BEGINNING + timedelta(microseconds=int(Decimal(text.strip()) * 10**6 / 1000**self.power))

    def text(self, time: datetime) -> str:
        microseconds = (time - _BEGINNING) // timedelta(microseconds=1)
        return f"{Decimal(microseconds) * 1000**self.power / 10**6:.{self.decimals}f}"


def epoch_of(texts: Sequence[str], numbers: Sequence[float]) -> Epoch | None:
    """How a column of numbers spells its times, NaN where it has none; None where not all of them may be times, or fewer
    than two."""
    powers = {_power_of(number) for number in numbers if not math.isnan(number)}
    power = powers.pop() if len(powers) == 1 else None
    if power is None or sum(not math.isnan(number) for number in numbers) < 2:
        return None
    decimals = max(-_exponent_of(text) for text, number in zip(texts, numbers) if not math.isnan(number))
    return Epoch(power, max(decimals, 0))


def is_even(numbers: Sequence[float]) -> bool:
    """Whether numbers come at equal intervals, in order, but for a few: as counts of events hardly ever do."""
    values = sorted({number for number in numbers if not math.isnan(number)})
    apart = sorted(b - a for a, b in zip(values, values[1:]))
    if not apart:
        return False
    median = apart[len(apart) // 2]
    alike = sum(abs(one - median) <= median / 1000 for one in apart)
    return 2 * alike >= len(apart) and alike >= min(len(apart), 3)


def _power_of(number: float) -> int | None:
    return next((power for power in range(4) if 1e9 <= number / 1000**power < 4e9), None)


def _exponent_of(text: str) -> int:
    exponent = Decimal(text.strip()).as_tuple().exponent
    assert isinstance(exponent, int)  # the numbers are finite
    return exponent
