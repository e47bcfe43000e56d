# SPDX-License-Identifier: Apache-2.0
"""Tables in files: columns and their names, times and what is missing among them."""
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from totograph._epoch import CLOCK_NAMES, is_clock_name
from totograph._table import GAPS, Table, read_table


def table_of(tmp_path, *rows, header="time,load"):
    file = tmp_path / "data.csv"
    file.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return read_table(file)


def table_of_times(tmp_path, *times):
    """Of rows whose values are numbered from 0."""
    return table_of(tmp_path, *(f"{time},{row}" for row, time in enumerate(times)))


def test_levels_are_means_where_float32_has_too_few_digits():
    rows = [[1e9, np.nan, 1e9 + 1], [np.nan] * 3, [-3e38, 3e38, 0], [1e300] * 3, [370, 371, 372], [0, 0, 0], [-1e6, -1e6, -1e6 - 3]]
    levels = Table(tuple("abcdefg"), np.array(rows), ()).levels()
    assert levels.ravel().tolist() == [1e9 + 0.5, 0, 0, 0, 0, 0, -1e6 - 1]


def test_rows_of_one_time_differ_though_float32_has_no_digits_for_it(tmp_path):
    with pytest.raises(ValueError, match="have the same time"):
        table_of(tmp_path, "2026-01-01,8000000001", "2026-01-01,8000000002", "2026-01-02,3")


def test_times_go_on():
    def ahead(*times, steps=2):
        found = tuple(datetime.fromisoformat(time) for time in times)
        return Table(("a",), np.zeros((1, len(times)), np.float32), found).times_ahead(steps)

    assert ahead("2026-01-01T00:00", "2026-01-01T06:00", "2026-01-01T12:00") == ["2026-01-01 18:00:00", "2026-01-02 00:00:00"]
    assert ahead("2026-10-01", "2026-11-01", "2026-12-01")[1] == "2027-02-01 00:00:00"
    assert ahead("2026-01-31", "2026-02-28", "2026-03-31") == ["2026-04-30 00:00:00", "2026-05-31 00:00:00"]
    assert ahead("2024-03-29", "2024-04-30", "2024-05-31") == ["2024-06-28 00:00:00", "2024-07-31 00:00:00"]  # workdays
    assert ahead("2024-04-01", "2024-05-01", "2024-06-03")[1] == "2024-08-01 00:00:00"
    # Berlin's months, on its clock and on that of UTC.
    assert ahead("2024-02-29T00:00:00+01:00", "2024-03-31T00:00:00+01:00", "2024-04-30T00:00:00+02:00")[0] == (
        "2024-05-31 00:00:00+02:00")
    assert ahead("2024-01-31T23:00:00+00:00", "2024-02-29T23:00:00+00:00", "2024-03-31T22:00:00+00:00")[0] == (
        "2024-04-30 22:00:00+00:00")
    # The last days there begin on the days before them elsewhere.
    assert ahead("2024-01-30T23:00:00+00:00", "2024-02-28T23:00:00+00:00", "2024-03-30T23:00:00+00:00")[0] == (
        "2024-04-29 23:00:00+00:00")
    # Two days of each month.
    assert ahead("2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29") == ["2024-03-15 00:00:00", "2024-03-31 00:00:00"]
    assert ahead("2024-01-15", "2024-01-30", "2024-02-15", "2024-02-29")[1] == "2024-03-30 00:00:00"
    assert ahead("2024-11-05", "2024-11-20", "2024-12-05", "2024-12-20")[0] == "2025-01-05 00:00:00"
    assert ahead("2024-01-15", "2024-01-31", "2024-03-15", "2024-03-31")[0] == "2024-04-15 00:00:00"  # two are missing
    assert ahead("2023-02-01", "2023-02-15", "2023-03-01", "2023-03-15")[0] == "2023-03-29 00:00:00"  # every second week
    assert ahead("2024-01-15T09:30", "2024-01-31T09:30", "2024-02-15T09:30", "2024-02-29T09:30") == [
        "2024-03-15 09:30:00", "2024-03-31 09:30:00"]
    assert ahead("2024-03-01T00:00+01:00", "2024-03-15T00:00+01:00", "2024-04-01T00:00+02:00", "2024-04-15T00:00+02:00")[0] == (
        "2024-05-01 00:00:00+02:00")
    # The 15th and the last day there.
    assert ahead("2024-01-14T23:00+00:00", "2024-01-30T23:00+00:00", "2024-02-14T23:00+00:00", "2024-02-28T23:00+00:00",
                 "2024-03-14T23:00+00:00", steps=3) == [
        "2024-03-30 23:00:00+00:00", "2024-04-14 23:00:00+00:00", "2024-04-29 23:00:00+00:00"]
    # A last day, and a day before one: every 15 days.
    assert ahead("2024-01-15", "2024-01-31", "2024-02-15", "2024-02-28")[0] == "2024-03-14 00:00:00"
    # Not even: as far apart as most are.
    assert ahead("2026-01-01", "2026-01-02", "2026-01-05", "2026-01-15", "2026-01-16", "2026-01-25", "2026-01-29") == [
        "2026-01-30 00:00:00", "2026-01-31 00:00:00"]
    assert ahead("2026-01-01") == ["1", "2"]
    assert ahead() == ["0", "1"]


def test_epoch_times_are_the_clock(tmp_path):
    taken = "Column '{}' holds epoch times: it is taken as the clock."
    hours = table_of(tmp_path, "1577836800,1", "1577840400,2", "1577844000,3")
    assert (hours.names, hours.values.tolist(), hours.notes) == (("load",), [[1, 2, 3]], (taken.format("time"),))
    assert hours.times_ahead(2) == ["1577847600", "1577851200"]
    # In thousandths, newest first, one missing; by its even steps where the name does not tell.
    odd = table_of(tmp_path, "6,1577851200500", "5,1577847600500", "4,1577844000500", "3,1577840400500",
                   "1,1577833200500", header="load,stempel")
    assert (odd.names, odd.notes[0]) == (("load",), taken.format("stempel"))
    np.testing.assert_array_equal(odd.values, [[1, np.nan, 3, 4, 5, 6]])
    assert odd.times_ahead(1) == ["1577854800500"]
    assert table_of(tmp_path, "1577836800.25,1", "1577836801.25,2", header="Time (UTC),a").times_ahead(1) == ["1577836802.25"]
    nanoseconds = table_of(tmp_path, "1577836800000000000,1", "1577836801000000000,2", header="ts,a")
    assert nanoseconds.times_ahead(1) == ["1577836802000000000"]


def test_times_without_marks_and_those_of_mail_are_times(tmp_path):
    for times, then in [(("20240101T220000Z", "20240101T230000Z"), "2024-01-02 00:00:00+00:00"),
                        (("20240101T2200", "20240101T2300"), "2024-01-02 00:00:00"),
                        (("20240101T22", "20240101T23"), "2024-01-02 00:00:00"),
                        (("20240101 22:00", "20240101 23:00"), "2024-01-02 00:00:00"),
                        (("20240101T220000.5", "20240101T230000.5"), "2024-01-02 00:00:00.500000"),
                        (("20240101T220000+0100", "20240101T230000+0100"), "2024-01-02 00:00:00+01:00"),
                        (("20240101T2300", "20240101T2400"), "2024-01-02 01:00:00")]:
        assert table_of_times(tmp_path, *times).times_ahead(1) == [then]
    mail = ('"Mon, 01 Jan 2024 22:00:00 +0000",1', '"Mon, 01 Jan 2024 23:00:00 +0000",2')
    assert table_of(tmp_path, *mail).times_ahead(1) == ["2024-01-02 00:00:00+00:00"]
    mail = ('"Mon, 01 Jan 24 22:00",1', '"Mon, 01 Jan 24 23:00",2')
    assert table_of(tmp_path, *mail).times_ahead(1) == ["2024-01-02 00:00:00"]
    assert table_of_times(tmp_path, "1er févr. 2024", "1 mars 2024").times_ahead(1) == ["2024-04-01 00:00:00"]
    with pytest.raises(ValueError, match="row 2 has 3 fields"):
        table_of(tmp_path, "Mon, 01 Jan 2024 22:00,1", "Mon, 01 Jan 2024 23:00,2")
    for text in ("20241301T2200", "20240101T2500", "20240101 22", '"Foo, 01 Jan 2024 22:00:00 +0000"',
                 '"Mon, 01 Foo 2024 22:00:00 +0000"', "foo 2024", "5 foo 2024", "jui 2024", "5 jui 2024",
                 '"Fri, 30 Feb 2024 22:00:00 GMT"'):
        with pytest.raises(ValueError, match="is neither a number nor a time"):
            table_of(tmp_path, f"{text},1", f"{text},2")


def test_dates_in_digits_are_the_clock(tmp_path):
    taken = "Column '{}' holds dates: it is taken as the clock."
    days = table_of(tmp_path, "20240228,1", "20240229,2", "20240302,3", header="date,load")
    assert (days.names, days.notes[0]) == (("load",), taken.format("date"))
    np.testing.assert_array_equal(days.values, [[1, 2, np.nan, 3]])
    assert days.times_ahead(2) == ["20240303", "20240304"]
    assert table_of(tmp_path, "202411,1", "202412,2", header="month,load").times_ahead(2) == ["202501", "202502"]
    # Not epoch times, which these could be as well; 24 is the end of the day.
    hours = table_of(tmp_path, "2024123122,1", "2024123123,2", "2024123124,3")
    assert (hours.notes, hours.times_ahead(1)) == ((taken.format("time"),), ["2025010101"])
    assert table_of(tmp_path, "202401052359,1", "202401060000,2").times_ahead(1) == ["202401060001"]
    # By another name they are numbers, and so are those among which one is no date.
    assert table_of(tmp_path, "20240228,1", "20240229,2", header="number,load").names == ("number", "load")
    assert table_of(tmp_path, "20240229,1", "20240230,2").names == ("time", "load")
    both = table_of(tmp_path, "2024-01-01,20240101,1", "2024-01-02,20240102,2", header="date,day,load")
    assert (both.names, both.notes) == (("load",), ("Column 'day' holds further times and is left out.",))


def test_an_index_without_a_name_is_no_series(tmp_path):
    note = "Column 'column_1' without a name counts the rows and is left out."
    table = table_of(tmp_path, "0,7", "1,8", header=",load")
    assert (table.names, table.values.tolist(), table.notes) == (("load",), [[7, 8]], (note,))
    assert table_of(tmp_path, "0,5", "2,6", header=",load").names == ("column_1", "load")
    assert table_of(tmp_path, "0,2024-01-01,5", "1,2024-01-02,6", header=",time,load").names == ("load",)
    assert table_of(tmp_path, "2024-01-01,5", "2024-01-02,6", header=",load").times_ahead(1) == ["2024-01-03 00:00:00"]


def test_a_row_of_values_is_no_header(tmp_path):
    for header in ("7.5,8", "2024-01-01,5", "5,NaN"):
        with pytest.raises(ValueError, match=f"has no header: its first row begins with '{header.split(',')[0]}'"):
            table_of(tmp_path, "2024-01-02,6", header=header)
    # Times above numbers.
    assert table_of(tmp_path, "5,6", "7,8", header="1 mars 2024,1 avril 2024").names == ("1 mars 2024", "1 avril 2024")
    for row in ("2024-01-03,2024-01-04", "NaN,NaN"):
        with pytest.raises(ValueError, match="has no header"):
            table_of(tmp_path, row, row, header="2024-01-01,2024-01-02")
    # As pandas calls columns without names, and years beside an index.
    assert table_of(tmp_path, "5,6", "7,8", header="0,1").names == ("0", "1")
    assert table_of(tmp_path, "5,6", "7,8", header=",2001").names == ("column_1", "2001")


def test_a_blank_line_is_a_gap_in_a_single_column_alone(tmp_path):
    np.testing.assert_array_equal(table_of(tmp_path, "1", "", "3", "", header="\nload").values, [[1, np.nan, 3]])
    assert table_of(tmp_path, "1,2", "", "3,4", header="a,b").values.tolist() == [[1, 3], [2, 4]]


def test_repeated_names_get_a_number(tmp_path):
    table = table_of(tmp_path, "1,2,3", "2,3,4", header="load,load,load_2")
    assert table.names == ("load", "load_3", "load_2")
    assert table.notes == ("Several columns are called 'load': repeated names get a number, as 'load_3' did.",)
    many = table_of(tmp_path, ",".join("1" * 6000), ",".join("2" * 6000), header=",".join(["load"] * 4000 + [" "] * 2000))
    assert many.names == ("load", *(f"load_{i}" for i in range(2, 4001)), *(f"column_{i}" for i in range(4001, 6001)))


def test_values_that_float32_cannot_hold_are_told(tmp_path):
    table = table_of(tmp_path, "1e-39,1e-40,0,1,,1e-45", "-1.1e-38,1e-30,0,1e-40,,", header="a,b,c,d,e,f")
    assert [note.split(" are below 1.2e-38")[0] for note in table.notes] == ["The values of 'a', 'f'"]
    assert table_of(tmp_path, "1e-37", "0", header="a").notes == ()


def test_words_for_gaps_are_those_of_the_programs(tmp_path):
    source = (Path(__file__).parents[2] / "include" / "totograph" / "io" / "csv" / "impl" / "gap_words.hpp").read_text()
    words = re.findall(r'"([^"]+)"', source.split("words_{", 1)[1].split("} {", 1)[0])
    assert GAPS == {word.encode("latin1").decode("unicode_escape").encode("latin1").decode() for word in words} | {"", "?"}
    np.testing.assert_array_equal(table_of(tmp_path, "1,2", "inf,3", "N/A,-", header="a,b").values,
                                  [[1, np.nan, np.nan], [2, 3, np.nan]])


def test_names_of_clocks_are_those_of_the_programs():
    source = (Path(__file__).parents[2] / "include" / "totograph" / "io" / "csv" / "impl" / "profile.hpp").read_text(
        encoding="utf-8")
    names = source.split("bool is_clock_name", 1)[1].split("return", 1)[0]
    assert CLOCK_NAMES == set(re.findall(r'"([^"]+)"', names))
    for name in ("Fecha-Hora", "日時", "ДАТА", "Time"):
        assert is_clock_name(name)
    assert not is_clock_name("販売")


def test_numbers_that_are_no_clock_stay_series(tmp_path):
    counts = table_of(tmp_path, "1577836800,1", "1577840455,2", "1577849000,3", "1577849001,4", header="bytes,load")
    assert (counts.names, counts.notes) == (("bytes", "load"), ())
    assert table_of(tmp_path, "1577836800", "1577840400", header="bytes").names == ("bytes",)
    assert table_of(tmp_path, "1,2", "2,3").names == ("time", "load")
    # The programs take these for days of a spreadsheet.
    assert table_of(tmp_path, "45292.041666666664,1", "45292.083333333336,2").names == ("time", "load")


def test_further_epoch_times_are_left_out(tmp_path):
    both = table_of(tmp_path, "2020-01-01,1577836800,1", "2020-01-02,1577923200,2", header="date,epoch,load")
    assert (both.names, both.notes) == (("load",), ("Column 'epoch' holds further times and is left out.",))
    still = table_of(tmp_path, "1577836800,1", "1577836800,2")
    assert (still.names, still.times) == (("load",), ())
    assert still.notes == ("Column 'time' has one time in all rows and is left out.",)
    with pytest.raises(ValueError, match="no column of numbers beside its times"):
        table_of(tmp_path, "1577836800", "1577840400", header="time")


def test_rows_are_put_in_the_order_of_time(tmp_path):
    newest_first = table_of_times(tmp_path, "2024-01-03", "2024-01-02", "2024-01-01")
    assert newest_first.values.tolist() == [[2, 1, 0]]
    assert newest_first.times_ahead(2) == ["2024-01-04 00:00:00", "2024-01-05 00:00:00"]
    assert newest_first.notes == (f"The file '{tmp_path / 'data.csv'}' has its newest row first: the rows are turned "
                                  "round.",)
    mixed = table_of_times(tmp_path, "2024-01-01", "2024-01-03", "2024-01-02", "2024-01-04")
    assert mixed.values.tolist() == [[0, 2, 1, 3]]
    (note,) = mixed.notes
    assert "('2024-01-02' comes after '2024-01-03'): they are sorted." in note
    assert table_of_times(tmp_path, "2024-01-01", "2024-01-02", "2024-01-03").notes == ()


def test_repeated_rows_are_dropped_or_refused(tmp_path):
    table = table_of(tmp_path, "2024-01-01,1,", "2024-01-03,3,5", "2024-01-02,2,", "2024-01-02,2,", "2024-01-03,3,5",
                     header="time,load,heat")
    np.testing.assert_array_equal(table.values, [[1, 2, 3], [np.nan, np.nan, 5]])
    assert "has 2 rows with the time and the values of another one, such as '2024-01-02'" in table.notes[1]
    with pytest.raises(ValueError, match=r"rows 3 and 5 have the same time, '2024-01-02', and other values: 2 and 7 in "
                       "column 'load'.*Leave out one"):
        table_of(tmp_path, "2024-01-01,1", "2024-01-02,2", "2024-01-03,3", "2024-01-02,7")


def test_times_of_a_rounded_step_do_not_drift(tmp_path):
    frames = [f"{1577836800 + frame / 30:.3f}" for frame in range(601)]
    ahead = table_of_times(tmp_path, *frames[:301]).times_ahead(3000)
    assert ahead[:300] == frames[301:] and ahead[-1] == "1577836910.000"  # as rounded as the rows are
    without = table_of_times(tmp_path, *frames[:100], *frames[140:301])
    assert without.times_ahead(3000) == ahead
    assert [frames.index(f"{time.timestamp():.3f}") for time in without.times[95:145]] == list(range(95, 145))
    for lost in (60, 600):
        frames = [f"{1577836800 + frame / 30:.3f}" for frame in range(1201)]
        filled = table_of_times(tmp_path, *frames[:100], *frames[100 + lost :])
        assert [f"{time.timestamp():.3f}" for time in filled.times] == frames
        assert filled.times_ahead(3000)[-1] == "1577836940.000"
    # A clock that was set once is no rounding.
    days = [1577836800 + 86400 * day - (3600 if day > 20 else 0) for day in range(60)]
    assert table_of_times(tmp_path, *days).times_ahead(30)[-1] == str(days[-1] + 30 * 86400)


def test_missing_rows_become_gaps(tmp_path):
    table = table_of_times(tmp_path, "2024-01-01", "2024-01-02", "2024-01-05", "2024-01-06", "2024-01-08")
    np.testing.assert_array_equal(table.values, [[0, 1, np.nan, np.nan, 2, 3, np.nan, 4]])
    assert [time.day for time in table.times] == [1, 2, 3, 4, 5, 6, 7, 8]
    (note,) = table.notes
    assert "lacks 3 rows between its times, the first behind '2024-01-02': they become gaps." in note
    assert table.times_ahead(1) == ["2024-01-09 00:00:00"]
    months = table_of_times(tmp_path, "2024-01-31", "2024-02-29", "2024-05-31")
    assert [str(time.date()) for time in months.times[2:4]] == ["2024-03-31", "2024-04-30"]
    assert np.isnan(months.values[0, 2:4]).all()
    # A recorder that is a little late lacks no row.
    late = table_of_times(tmp_path, "2024-01-01T00:00:00", "2024-01-01T01:00:00", "2024-01-01T02:00:00",
                          "2024-01-01T03:00:09", "2024-01-01T05:00:00")
    np.testing.assert_array_equal(late.values, [[0, 1, 2, 3, np.nan, 4]])


def test_a_wrong_time_does_not_take_all_memory(tmp_path):
    days = [f"2024-01-{day:02}" for day in range(1, 4)]
    assert table_of_times(tmp_path, *days, "2026-09-30").values.shape == (1, 1004)  # 1000 gaps
    with pytest.raises(ValueError, match="lacks 1001 rows between its times, beginning behind '2024-01-03', of at most "
                       "1000 .* Correct it, or leave out the column of times"):
        table_of_times(tmp_path, *days, "2026-10-01")
    hours = [f"2024-01-{1 + hour // 24:02}T{hour % 24:02}:00" for hour in range(99)]
    with pytest.raises(ValueError, match="of at most 2000 "):  # 20 of each row
        table_of_times(tmp_path, *hours, "2024-06-01T00:00")


def test_uneven_rows_are_left_as_they_are(tmp_path):
    table = table_of_times(tmp_path, "2026-01-01", "2026-01-02", "2026-01-05", "2026-01-15", "2026-01-16", "2026-01-25")
    assert table.values.tolist() == [[0, 1, 2, 3, 4, 5]]
    (note,) = table.notes
    assert "uneven intervals of time: each is taken as one step, and the times ahead" in note and "1 day, 0:00:00." in note
    assert table.times_ahead(1) == ["2026-01-26 00:00:00"]


def test_times_without_a_zone_are_of_utc_where_others_have_one(tmp_path):
    table = table_of_times(tmp_path, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00", "2024-01-01T04:00:00+02:00")
    assert table.times_ahead(1) == ["2024-01-01 05:00:00+02:00"]
    (note,) = table.notes
    assert "has 1 row whose time has no zone" in note and "is taken for UTC" in note


def test_rows_without_a_time_are_left_out(tmp_path):
    table = table_of_times(tmp_path, "2024-01-01", "", "2024-01-02")
    assert table.values.tolist() == [[0, 2]]
    (note,) = table.notes
    assert "has 1 row without a time: it is left out." in note


def test_times_beyond_the_last_year_are_told(tmp_path):
    months = Table(("a",), np.zeros((1, 2), np.float32), (datetime(9999, 9, 1), datetime(9999, 10, 1)))
    with pytest.raises(ValueError, match="The time of step 3 of 4 .* forecast at most 2 steps"):
        months.times_ahead(4)
    # Clocks of other zones, on the first and the last day that there are.
    assert len(table_of_times(tmp_path, "0001-01-01T00:00:00", "0001-01-02T00:00:00-05:00").times) == 2
    assert len(table_of_times(tmp_path, "9999-12-30T23:00:00-12:00", "9999-12-31T23:00:00-12:00").times) == 2
    with pytest.raises(ValueError, match="lacks rows behind 9999-12-31 23:59.*beyond the year 9999.* Correct the times"):
        table_of_times(tmp_path, "9999-12-31T22:58+12:00", "9999-12-31T23:00+12:00", "9999-12-31T23:59+12:00",
                       "9999-12-31T23:00-12:00", "9999-12-31T23:59-12:00")
