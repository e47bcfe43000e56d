# SPDX-License-Identifier: Apache-2.0
"""How far apart rows are in time, found as the programs in C++ find it (`totograph::io::find_time_step`)."""

from __future__ import annotations

import math
from calendar import monthrange
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Sequence

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_MIDNIGHT = time()
_FIRST_WORKDAY, _LAST_WORKDAY = 0, -1  # in place of a day of the month
_DAY_BEFORE_LAST = -2  # -3 is the day before it, and so on


@dataclass(frozen=True)
class Interval:
    """Rows that are equally far apart; or are not even, and most often as far."""

    length: timedelta
    is_even: bool
    #: Where times are rounded, so that a step is `length` or this much beside it by turns (33 and 34 ms at 30 a second),
    #: how many of these a step is longer than `length` on average.
    turns_a_step: float = 0.0
    turn: timedelta = timedelta()
    #: Row n of such times is `first` + n * `length`, and n * `turns_a_step` + `phase` turns, to the nearest whole number.
    first: datetime | None = None
    phase: float = 0.0

    def later(self, after: datetime, count: int) -> datetime:
        if self.first is None:
            return after + count * self.length
        # From the first row on, for this one is rounded.
        place = math.floor((after - self.first) / (self.length + self.turns_a_step * self.turn) + 0.5) + count
        return self.first + place * self.length + math.floor(place * self.turns_a_step + self.phase + 0.5) * self.turn

    def missing(self, before: datetime, after: datetime) -> int:
        """Rows that are missing between two; a recorder may be early or late."""
        mean = 1 + self.turns_a_step * (self.turn / self.length)  # in `length`
        return max(math.floor((after - before) / self.length / mean + 0.5) - 1, 0)


@dataclass(frozen=True)
class Months:
    """Rows that are whole months apart: on a day of the month, or the last of a month that lacks it, or so many days before
    the last, or on a workday."""

    count: int
    day: int
    time_of_day: timedelta
    zone: tzinfo | None
    is_even: bool = True

    def later(self, after: datetime, count: int) -> datetime:
        found = _on_clock(after, self.zone, self.time_of_day)
        year, month = divmod(_month_of(found) + count * self.count, 12)
        first, last = date(year, month + 1, 1), monthrange(year, month + 1)[1]
        if self.day > 0:
            day = first.replace(day=min(self.day, last))
        elif self.day < _LAST_WORKDAY:
            day = first.replace(day=max(last + 1 + self.day, 1))
        else:
            step = -_DAY if self.day == _LAST_WORKDAY else _DAY
            day = first.replace(day=last) if self.day == _LAST_WORKDAY else first
            while day.weekday() > 4:
                day += step
        return datetime.combine(day, _MIDNIGHT, self.zone) + self.time_of_day

    def missing(self, before: datetime, after: datetime) -> int:
        a, b = (_month_of(_on_clock(one, self.zone, self.time_of_day)) for one in (before, after))
        return (b - a) // self.count - 1


@dataclass(frozen=True)
class HalfMonths:
    """Rows that come twice in a month, each time on a day of its own, such as the 15th and the last one."""

    first: Months
    second: Months  #: On a later day.
    is_even: bool = True

    def later(self, after: datetime, count: int) -> datetime:
        months, half = divmod(self._place(after) + count, 2)
        rule = self.second if half else self.first
        return rule.later(after, months - self._place(after) // 2)

    def missing(self, before: datetime, after: datetime) -> int:
        return self._place(after) - self._place(before) - 1

    def _place(self, one: datetime) -> int:
        """The number of its half of a month, counted through the years."""
        found = _on_clock(one, self.first.zone, self.first.time_of_day)
        assert found is not None
        return 2 * _month_of(found) + (found.day > self.first.day)


def find_time_step(times: Sequence[datetime]) -> Interval | Months | HalfMonths | None:
    """Of times in ascending order; None of fewer than two. Whole months where all agree on them, or two days of each, else
    the most frequent interval of those within a tenth of the median one, when half of all are. Where they are not, the step
    is not even, and the most frequent interval of all."""
    if len(times) < 2:
        return None
    calendar = _months_between(times) or _half_months_between(times)
    if calendar is not None:
        return calendar
    apart = sorted(b - a for a, b in zip(times, times[1:]))
    median = apart[(len(apart) - 1) // 2]
    alike = [one for one in apart if abs(one - median) <= median / 10]
    is_even = 2 * len(alike) >= len(apart)
    counts = Counter(alike if is_even else apart)
    length = max(counts, key=lambda one: (counts[one], -abs(one - median)))
    return _rounded(times, length, counts) if is_even else Interval(length, is_even)


def _rounded(times: Sequence[datetime], length: timedelta, alike: Counter[timedelta]) -> Interval:
    """An even interval; a rounded one where two come by turns and all times are those of one step, each rounded."""
    if len(alike) != 2 or min(alike.values()) < 4:  # one is a clock that was set, as where daylight saving begins
        return Interval(length, True)
    turn = max(alike) - min(alike)
    usual = sum(one.total_seconds() * count for one, count in alike.items()) / sum(alike.values())
    steps = [0]  # from the first row; those of a long gap are many
    for a, b in zip(times, times[1:]):
        steps.append(steps[-1] + math.floor((b - a).total_seconds() / usual + 0.5))
    seconds = (times[-1] - times[0]).total_seconds() / steps[-1]
    most = 1.000001 * turn.total_seconds()
    if any(abs((time - times[0]).total_seconds() - step * seconds) > most for time, step in zip(times, steps)):
        return Interval(length, True)
    # The rounding of all rows tells more than that of the first and the last one: the line through them, by least squares.
    turns = [(time - times[0] - step * length) / turn for time, step in zip(times, steps)]
    middle, level = sum(steps) / len(steps), sum(turns) / len(turns)
    across = sum((step - middle) * (one - level) for step, one in zip(steps, turns))
    rise = across / sum((step - middle) ** 2 for step in steps)
    return Interval(length, True, rise, turn, times[0], level - rise * middle)


def _months_between(times: Sequence[datetime]) -> Months | None:
    zone = times[-1].tzinfo
    dates: list[date] = []
    try:
        newest = times[-1]
        time_of_day = newest - newest.replace(hour=0, minute=0, second=0, microsecond=0)
        for one in times:
            found = _on_clock(one, zone, time_of_day)
            if found is None or dates and _month_of(found) <= _month_of(dates[-1]):
                return None
            dates.append(found)
    except OverflowError:  # a clock of another zone, near the year 1 or 9999
        return None
    day = _day_of_month(dates)
    apart = [_month_of(b) - _month_of(a) for a, b in zip(dates, dates[1:])]
    shortest = min(apart)
    if day is None or any(one % shortest for one in apart):
        return None
    return Months(shortest, day, time_of_day, zone)


def _half_months_between(times: Sequence[datetime]) -> HalfMonths | None:
    apart = [b - a for a, b in zip(times, times[1:])]
    are_fortnights = all(abs(one - 14 * _DAY) <= _HOUR for one in apart)
    if len(times) < 4 or min(apart) < 12 * _DAY or are_fortnights:
        return None
    zone, newest = times[-1].tzinfo, times[-1]
    time_of_day = newest - newest.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        found = [_on_clock(one, zone, time_of_day) for one in times]
    except OverflowError:  # as above
        return None
    dates = [one for one in found if one is not None]
    if len(dates) < len(times):
        return None
    first = min(one.day for one in dates)
    second = _second_day([one for one in dates if one.day != first])
    if second is None or first >= (min(second, 28) if second > 0 else 27):  # in the shortest month
        return None
    halves = HalfMonths(Months(1, first, time_of_day, zone), Months(1, second, time_of_day, zone))
    return halves if min(halves.missing(a, b) for a, b in zip(times, times[1:])) == 0 else None


def _second_day(dates: Sequence[date]) -> int | None:
    """The day of the month that all dates are, as `Months` has it; None of other dates."""
    largest = max((one.day for one in dates), default=0)
    left = [monthrange(one.year, one.month)[1] - one.day for one in dates]
    if dates and all(one.day == min(largest, one.day + more) for one, more in zip(dates, left)):
        return 31 if not any(left) else largest
    # As where a zone's last days are told on another clock.
    return _DAY_BEFORE_LAST if dates and all(more == 1 for more in left) else None


def _month_of(day: date | None) -> int:
    assert day is not None
    return day.year * 12 + day.month - 1


def _on_clock(one: datetime, zone: tzinfo | None, time_of_day: timedelta) -> date | None:
    """The day of a row that comes at a time of day; it may be an hour off, where daylight saving moves the clock."""
    wall = one if zone is None else one.astimezone(zone)
    day = wall.date()
    distance = wall.replace(tzinfo=None) - datetime.combine(day, _MIDNIGHT) - time_of_day
    if abs(distance) > _DAY / 2:
        day, distance = (day + _DAY, distance - _DAY) if distance > _DAY / 2 else (day - _DAY, distance + _DAY)
    return day if abs(distance) <= _HOUR else None


def _day_of_month(dates: Sequence[date]) -> int | None:
    """The day of the month, counted from its beginning or its end, or the workday, that all dates are."""
    days = [one.day for one in dates]
    last = [monthrange(one.year, one.month)[1] for one in dates]
    largest = max(days)
    if all(day == min(largest, most) for day, most in zip(days, last)):
        return 31 if days == last and min(days) != largest else largest
    left = {most - day for day, most in zip(days, last)}
    if len(dates) >= 3 and len(left) == 1:  # as where a zone's last days are told on another clock
        return -1 - left.pop()
    is_early = all(day <= 5 for day in days)
    is_late = all(day + 5 > most for day, most in zip(days, last))
    if len(dates) < 3 or is_early == is_late or any(one.weekday() > 4 for one in dates):
        return None
    return _FIRST_WORKDAY if is_early else _LAST_WORKDAY
