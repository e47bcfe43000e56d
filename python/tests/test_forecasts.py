# SPDX-License-Identifier: Apache-2.0
"""Forecasts: their values, mistakes of callers, threads."""
import copy
import gc
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from support import CHECKPOINT, PACKAGE, waves

import totograph as tg


def test_forecasts_have_the_axes_of_their_series(model):
    for shape in [(48,), (2, 48), (3, 2, 48)]:
        f = model.forecast(waves(*shape), horizon=20, quantiles=[0.1, 0.5, 0.9], seed=7)
        assert f.quantiles.shape == (3, *shape[:-1], 20)
        assert f.median.shape == f.mean.shape == f.stddev.shape == (*shape[:-1], 20)
        assert f.samples().shape == (*shape[:-1], 20, 8)
        assert (f.horizon, f.context) == (20, 48)
        # NumPy computes them from the samples in another way.
        np.testing.assert_allclose(f.quantiles[0], np.quantile(f.samples(), 0.1, axis=-1), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(f.mean, f.samples().mean(-1), rtol=1e-5, atol=1e-5)


def test_forecasts_leave_nothing_behind(model):
    def spent(count):
        import tracemalloc

        tracemalloc.start()
        for _ in range(count):
            made = model.forecast(waves(2, 48), horizon=8, quantiles=[0.1, 0.9])
            made.quantiles, made.median, made.samples(), made.levels
            for wrong in ({"horizon": 1000}, {"horizon": 0}, {"seed": -1}):
                with pytest.raises(ValueError):
                    model.forecast(waves(2, 48), **wrong)
        del made
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size

    spent(20)
    assert spent(60) - spent(20) < 4000  # one object a forecast would be more


def test_only_a_model_makes_a_forecast(model):
    for make in (tg.Forecast, lambda: copy.copy(model.forecast(waves(48), horizon=8))):
        with pytest.raises(TypeError, match="made by Model.forecast|cannot pickle"):
            make()
    with pytest.raises(TypeError, match="Library"):
        type(model._service)(None, CHECKPOINT, None, 0, 0)


def test_a_forecast_is_let_go_with_what_it_is_part_of(model):
    levels = [0.5]
    made = model.forecast(waves(48), horizon=8, quantiles=levels)
    levels.append(made)  # a circle
    del made, levels
    gc.collect()
    assert not [one for one in gc.get_objects() if type(one) is tg.Forecast]


def test_levels_are_those_that_were_asked_for_whatever_becomes_of_them(model):
    levels = [0.1, 0.9]
    made = model.forecast(waves(48), horizon=8, quantiles=levels)
    expected = made.quantiles
    levels[:] = [0.5]
    np.testing.assert_array_equal(made.quantiles, expected)
    assert made.levels == (0.1, 0.9)
    made = model.forecast(waves(48), horizon=8, quantiles=(one for one in (0.1, 0.9)))
    for _ in range(2):
        np.testing.assert_array_equal(made.quantiles, expected)
    with pytest.raises(ZeroDivisionError):
        model.forecast(waves(48), horizon=8, quantiles=(1 / one for one in (2, 0)))
    with pytest.raises(TypeError):
        model.forecast(waves(48), horizon=8, quantiles=(float(one) for one in (0.5, None)))


def test_of_no_levels_there_are_no_quantiles(model):
    for shape in [(48,), (2, 48), (3, 2, 48)]:
        f = model.forecast(waves(*shape), horizon=20, quantiles=[], seed=7)
        assert f.quantiles.shape == (0, *shape[:-1], 20) and f.quantiles.dtype == np.float32
        assert f.levels == () and f.median.shape == (*shape[:-1], 20)


def test_a_forecast_tells_whether_it_is_finite(model):
    assert model.forecast(waves(48), horizon=8).is_finite


def test_same_seed_same_samples(model):
    series = waves(48)
    first = model.forecast(series, horizon=8, seed=7).samples()
    np.testing.assert_array_equal(model.forecast(series, horizon=8, seed=7).samples(), first)
    assert (model.forecast(series, horizon=8, seed=8).samples() != first).any()


def test_nan_is_a_gap(model):
    series = waves(48)
    series[40:44] = np.nan
    assert np.isfinite(model.forecast(series, horizon=8).median).all()
    with pytest.raises(ValueError, match="has no observed value"):
        model.forecast(np.full(48, np.nan), horizon=8)


def test_means_and_known_futures(model):
    assert model.forecast(waves(48), horizon=8, samples=0).mean.shape == (8,)
    series = waves(2, 48)
    known = model.forecast(series, horizon=32, future=np.full((1, 32), 3.0), seed=7).median[0]
    unknown = model.forecast(series, horizon=32, seed=7).median[0]
    # The model takes 16 steps at a time: from the second time on it sees what is known of the first.
    np.testing.assert_array_equal(known[:16], unknown[:16])
    assert (known[16:] != unknown[16:]).any()
    none = model.forecast(series, horizon=32, future=np.empty((0, 32)), seed=7).median[0]
    np.testing.assert_array_equal(none, unknown)


def test_mistakes_are_python_errors_with_a_sentence(model, tmp_path):
    with pytest.raises(ValueError, match="beyond the compiled|holds a request"):
        model.forecast(waves(48), horizon=1000)
    assert model.forecast(waves(48), horizon=40, extend=True).horizon == 40
    with pytest.raises(ValueError, match="the level must be between 0 and 1"):
        model.forecast(waves(48), quantiles=[1.5]).quantiles
    for levels in ["half", [0.1, "half"], 0.5]:
        with pytest.raises(ValueError, match="found (.half|.h.|0.5)"):
            model.forecast(waves(48), quantiles=levels).quantiles
    for wrong in [{"count": 0}, {"count": 8.0}, {"count": 8, "seed": -1}]:
        with pytest.raises(ValueError, match="count of samples"):
            model.forecast(waves(48)).samples(**wrong)
    with pytest.raises(ValueError, match="count must be|holds 8|samples"):
        model.forecast(waves(48)).samples(9)
    with pytest.raises(ValueError, match="has no samples"):
        model.forecast(waves(48), samples=0).stddev
    with pytest.raises(ValueError, match="axes"):
        model.forecast(np.zeros((1, 1, 1, 4)))
    for options in ({}, {"observed": True}, {"groups": [0]}, {"future": np.ones((1, 16))}):
        with pytest.raises(ValueError, match=r"has the axes .*; found the shape \(\)"):
            model.forecast(np.float32(3), 20, **options)
    with pytest.raises(ValueError, match="is of numbers"):
        model.forecast(["a", "b"])
    for wrong in [{"seed": -1}, {"seed": 2**64}, {"horizon": 24.0}]:
        with pytest.raises(ValueError, match="whole numbers"):
            model.forecast(waves(48), **wrong)
    for groups in [[0.5, 1.7], [2**40, 0], ["a", "b"], [1j, 0]]:
        with pytest.raises(ValueError, match="whole numbers of 32 bits"):
            model.forecast(waves(2, 48), groups=groups)
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        tg.load(tmp_path / "no_such_folder", PACKAGE)
    with pytest.raises(FileNotFoundError, match="No such file"):
        tg.load(CHECKPOINT, tmp_path / "none.so")
    with pytest.raises(ValueError, match="expected one of: eager"):
        tg.load(CHECKPOINT, PACKAGE, mode="fastest")


def test_threads_share_a_model_and_other_threads_run_meanwhile(model):
    model.warm_up()
    expected = model.forecast(waves(48), horizon=8, seed=7).samples()
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(model.forecast(waves(48), horizon=8, seed=7).samples()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        np.testing.assert_array_equal(result, expected)
    counted = json.loads(model.metrics())["entries"]
    assert sum(entry["forecasts"] for entry in counted) >= 9
    assert "totograph_" in model.metrics("prometheus")


def test_the_interpreters_lock_is_free_during_a_forecast(model):
    model.warm_up()
    thread = threading.Thread(target=lambda: model.forecast(waves(48), horizon=32, samples=2000))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.001)  # which comes back only with the lock
        ticks += 1
    assert ticks > 10  # a forecast that holds it lets one or two through


def test_times_in_a_table_are_no_series(model):
    pandas = pytest.importorskip("pandas")
    for times in (pandas.date_range("2020", periods=48), pandas.date_range("2020", periods=48, tz="UTC"),
                  pandas.to_timedelta(range(48), unit="h")):
        for given in (pandas.Series(times), pandas.DataFrame({"time": times, "value": waves(48)})):
            with pytest.raises(ValueError, match="is of numbers; found (datetime|timedelta)"):
                model.forecast(given, horizon=8)
    assert model.forecast(pandas.DataFrame({"value": waves(48)}, times), horizon=8).horizon == 8


def test_what_pandas_does_not_read_as_real_numbers_is_refused(model):
    pandas = pytest.importorskip("pandas")
    numbers = waves(48)
    for wrong in (pandas.Series(numbers + 1j), pandas.DataFrame({"a": numbers, "b": numbers + 1j}),
                  pandas.Series(pandas.period_range("2020", periods=48)), pandas.Series(["a"] * 48)):
        with pytest.raises(ValueError, match="A series is of numbers; found"):
            model.forecast(wrong, horizon=8)
    expected = model.forecast(numbers, horizon=8).median
    f = model.forecast(pandas.array(numbers), horizon=8)  # what a series has inside
    np.testing.assert_array_equal(f.median, expected)
    assert f.names is None


class ArrayOfOthers:
    """What xarray and Polars have of one kind: NumPy reads it, and `to_numpy` takes no arguments."""

    def __init__(self, values):
        self.values, self.ndim, self.dtype = values, values.ndim, values.dtype

    def to_numpy(self):
        return self.values

    def __array__(self, *arguments, **options):
        return self.values


class FrameOfOthers:
    """A table of Polars."""

    def __init__(self, **columns):
        self.of = columns

    @property
    def columns(self):
        return list(self.of)

    def __getitem__(self, name):
        return ArrayOfOthers(self.of[name])

    def to_numpy(self):
        return np.stack([column.astype(np.float64) for column in self.of.values()], axis=1)


def test_arrays_and_tables_of_other_libraries(model):
    series = waves(2, 48)
    expected = model.forecast(series, horizon=8).median
    np.testing.assert_array_equal(model.forecast(ArrayOfOthers(series), horizon=8).median, expected)
    table = FrameOfOthers(load=series[0], heat=series[1])
    f = model.forecast(table, horizon=8, observed=FrameOfOthers(load=np.ones(48), heat=np.ones(48)))
    np.testing.assert_array_equal(f.median, expected)
    assert f.names == ["load", "heat"]
    np.testing.assert_array_equal(
        model.forecast(series, horizon=8, observed=ArrayOfOthers(np.ones((2, 48), bool))).median, expected)
    for kind in ("M8[s]", "S3"):
        with pytest.raises(ValueError, match="A series is of numbers"):
            model.forecast(FrameOfOthers(load=series[0], other=np.arange(48).astype(kind)), horizon=8)


def test_numbers_that_are_too_large_or_none_are_told_in_a_sentence(model):
    for wrong in (-1, 2**31, 1.5, "2"):
        with pytest.raises(ValueError, match=f"The threads are a whole number, .* found {wrong!r}"):
            tg.load(CHECKPOINT, PACKAGE, threads=wrong)
        with pytest.raises(ValueError, match="forecasts of a warm-up are a whole number"):
            model.warm_up(wrong)


def test_pandas(model):
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2026-01-01", periods=48, freq="h")
    table = pandas.DataFrame({"load": waves(48), "heat": waves(48) + 1}, index=index)
    table.loc[index[40], "heat"] = None
    f = model.forecast(table, horizon=8, quantiles=[0.1, 0.9], seed=7)
    ahead = pandas.date_range(index[-1] + index.freq, periods=8, freq="h")
    answer = f.to_pandas(ahead)
    assert list(answer.columns) == [("load", 0.1), ("load", 0.9), ("heat", 0.1), ("heat", 0.9)]
    np.testing.assert_array_equal(answer[("heat", 0.9)], f.quantiles[1][1])
    assert answer.index[0] == pandas.Timestamp("2026-01-03")
    assert model.forecast(table, horizon=8, quantiles=[]).to_pandas(ahead).shape == (8, 0)
    masked = model.forecast(table, observed=table.notna(), horizon=8, quantiles=[0.1, 0.9], seed=7)
    np.testing.assert_array_equal(masked.quantiles, f.quantiles)
    np.testing.assert_array_equal(
        model.forecast(table["load"], horizon=8, seed=7).samples(), model.forecast(waves(48), horizon=8, seed=7).samples()
    )


def test_the_documents_lines_run(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    text = (Path(__file__).parents[2] / "docs" / "packages.md").read_text()
    lines = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "demo.so").symlink_to(PACKAGE)
    (tmp_path / "checkpoint").symlink_to(CHECKPOINT)
    monkeypatch.chdir(tmp_path)
    names = {"series": waves(2, 48)}
    exec(lines, names)
    assert names["f"].median.shape == (2, 24)
