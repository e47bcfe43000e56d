# SPDX-License-Identifier: Apache-2.0
"""Times as they are spelled in tables: those of ISO 8601, with marks or without, its weeks, and those of mail, with
names of months in several languages. They are read as the programs in C++ read them
(`totograph::io::parse_timestamp`), which know further ones."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone

from ._month_names import MONTHS

#: What all versions of Python read, most times, and in a tenth of the time.
_USUAL = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{6})?)?(?:Z|[+-]\d\d:[0-5]\d)?)?", re.ASCII)
_SPELLING = re.compile(r"""
    (?: (?P<year>\d{4}) (?P<dash>-?) (?P<month>\d\d) (?P=dash) (?P<day>\d\d)
      | (?P<year_of_week>\d{4}) (?P<week_dash>-?) W (?P<week>\d\d) (?: (?P=week_dash) (?P<weekday>[1-7]) )?
      | (?: (?i:mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?) ,?[ ] )?
        (?P<day_of_mail>\d\d?) (?: (?<=\b1)(?:er|ER) )? \.? [ ] (?: (?i:de)[ ] )?
        (?P<month_of_mail>[A-Za-zÀ-žЀ-џ]{3,}) \.? [ ] (?: (?i:de)[ ] )? (?P<year_of_mail>\d{4}|\d\d) )
    (?: (?P<between>T|,?[ ]) (?P<hour>\d\d|\d(?=:))
        (?: (?P<colon>:?) (?P<minute>[0-5]\d)
            (?: (?P=colon) (?P<second>[0-5]\d|60) (?: [.,] (?P<fraction>\d{1,9}) )? )? )?
        (?: [ ]? (?: (?P<utc>Z|UTC|GMT)
                   | (?P<sign>[+-]) (?P<zone_hour>[01]\d|2[0-3]) (?: :? (?P<zone_minute>[0-5]\d) )? ) )? )?
    """, re.VERBOSE | re.ASCII)


def time_of(text: str) -> datetime | None:
    """The time that a text spells, to the millionth of a second; None of another text."""
    plain = text.strip()
    if _USUAL.fullmatch(plain):
        try:
            return datetime.fromisoformat(plain.replace("Z", "+00:00"))
        except ValueError:  # perhaps for hour 24 or second 60
            pass
    found = _SPELLING.fullmatch(plain)
    if found is None or not _belong_together(found):
        return None
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    fraction = (found["fraction"] or "").rstrip("0")
    if hour > 24 or hour == 24 and (minute or second or fraction):  # the end of the day
        return None
    try:
        midnight = datetime(*_date_of(found), tzinfo=_zone_of(found))
        # Not by `datetime`, which takes no hour 24 and no second 60.
        return midnight + timedelta(hours=hour, minutes=minute, seconds=second,
                                    microseconds=int(fraction.ljust(6, "0")[:6]))
    except (OverflowError, ValueError):
        return None


def _belong_together(found: re.Match[str]) -> bool:
    """Whether the time of day is one that stands behind such a date."""
    if found["dash"] == "":  # in digits alone the date is a number, and behind a blank the hour is another one
        return found["between"] == "T" or found["between"] == " " and found["minute"] is not None
    if found["week"] is not None:
        is_product = found["week_dash"] == "" and not 1900 <= int(found["year_of_week"]) <= 2100  # "1800W10"
        if is_product or found["weekday"] is None and found["hour"] is not None:
            return False
    is_hour_of_iso = found["dash"] is not None and found["minute"] is None
    return found["hour"] is None or found["colon"] == ":" or is_hour_of_iso


def _date_of(found: re.Match[str]) -> tuple[int, int, int]:
    if found["week"] is not None:
        day = date.fromisocalendar(int(found["year_of_week"]), int(found["week"]), int(found["weekday"] or 1))
        return day.year, day.month, day.day
    if found["year"] is not None:
        return int(found["year"]), int(found["month"]), int(found["day"])
    year = int(found["year_of_mail"])
    if len(found["year_of_mail"]) == 2:
        year += 2000 if year < 69 else 1900
    # Month 0 of another word is one that `datetime` refuses.
    return year, MONTHS.get(found["month_of_mail"].replace("İ", "i").lower(), 0), int(found["day_of_mail"])


def _zone_of(found: re.Match[str]) -> timezone | None:
    if found["sign"] is None:
        return timezone.utc if found["utc"] is not None else None
    offset = timedelta(hours=int(found["zone_hour"]), minutes=int(found["zone_minute"] or 0))
    return timezone(-offset if found["sign"] == "-" else offset)
