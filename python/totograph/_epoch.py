# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers that are times: seconds, or thousandths, millionths or billionths of one, since the beginning of
1970; or dates in digits alone. They are told from others as the programs in C++ tell them (`totograph::io::counting`,
`parse_date_in_digits`)."""

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
    "year datum zeit zeitpunkt zeitstempel fecha fechahora horodatage datahora tijd tijdstip tidspunkt tarih zaman "
    "日期 时间 時間 日時 日付 時刻 年月日 날짜 시간 일시 дата время".split())


def is_clock_name(name: str) -> bool:
    small = name.lower()
    plain = "".join(letter for letter in small if letter.isascii() and letter.isalnum())
    return small in CLOCK_NAMES or plain in CLOCK_NAMES


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


@dataclass(frozen=True)
class DateInDigits:
    """How a column spells its times: a year of four digits, a month, and so many further parts."""

    length: int

    def time(self, text: str) -> datetime:
        digits = text.strip().ljust(8, "0") if self.length > 6 else text.strip() + "01"
        date = datetime(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
        hours, minutes, seconds = (int(digits[i : i + 2] or 0) for i in (8, 10, 12))
        if minutes > 59 or seconds > 59 or 3600 * hours + 60 * minutes + seconds > 86400:
            raise ValueError(f"'{text}' is no time.")
        return date + timedelta(hours=hours, minutes=minutes, seconds=seconds)  # hour 24 is the end of the day

    def text(self, time: datetime) -> str:
        return f"{time.year:04}{time.month:02}{time.day:02}{time.hour:02}{time.minute:02}{time.second:02}"[: self.length]


def date_in_digits_of(texts: Sequence[str], numbers: Sequence[float]) -> DateInDigits | None:
    """How a column of numbers spells its dates in digits, NaN where it has none; None where not all of them are dates of
    the years 1900 to 2100 and of one length, or fewer than two."""
    told = [text.strip() for text, number in zip(texts, numbers) if not math.isnan(number)]
    spelling = DateInDigits(len(told[0])) if told else None
    if spelling is None or len(told) < 2 or spelling.length not in (6, 8, 10, 12, 14):
        return None
    for text in told:
        if len(text) != spelling.length or not (text.isascii() and text.isdigit()) or not 1900 <= int(text[:4]) <= 2100:
            return None
        try:
            spelling.time(text)
        except ValueError:
            return None
    return spelling


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
