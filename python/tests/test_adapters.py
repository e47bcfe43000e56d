# SPDX-License-Identifier: Apache-2.0
"""What stands in for other packages, against what they compute (tests/data/README.md)."""
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

import totograph as tg
from totograph._forecast import extrapolated_quantile
from totograph.toto2 import Toto2Model
from totograph.toto_ts import MaskedTimeseries, TotoForecaster

DATA = Path(__file__).parents[2] / "tests" / "data"
TOTO2_PACKAGE = os.environ.get("TOTOGRAPH_TEST_TOTO2", "")


def tensors(folder):
    data = (DATA / folder / "io.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    found = {}
    for name, one in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in one["data_offsets"])
            found[name] = np.frombuffer(data[begin:end], np.float32).reshape(one["shape"])
    return found


@pytest.fixture(scope="module")
def toto1():
    return tg.load(os.environ["TOTOGRAPH_TEST_CHECKPOINT"], os.environ["TOTOGRAPH_TEST_PACKAGE"])


@pytest.fixture(scope="module")
def toto2():
    if not Path(TOTO2_PACKAGE).is_file():
        pytest.skip("the test package/build makes the package of Toto 2.0")
    return tg.load(DATA / "toto2" / "levels", TOTO2_PACKAGE)


def test_toto_forecaster_forecasts_what_toto_ts_does(toto1):
    case = tensors("demo_model")
    inputs = MaskedTimeseries(case["series"], case["padding_mask"] > 0, case["id_mask"])
    made = TotoForecaster(toto1).forecast(inputs, prediction_length=32)
    # f32 by two programs: as in tests/models/toto1/test_demo_model.cpp, against the largest value of a row.
    largest = np.abs(case["mean_kv"]).max(axis=-1, keepdims=True)
    assert (np.abs(made.mean - case["mean_kv"]) <= 2e-5 * largest).all()
    assert made.samples is None
    with pytest.raises(ValueError, match="ask for num_samples"):
        made.median
    # Without its gap or its groups it is another forecast.
    for other in (inputs._replace(padding_mask=np.ones_like(case["padding_mask"], bool)),
                  inputs._replace(id_mask=np.zeros_like(case["id_mask"]))):
        changed = TotoForecaster(toto1).forecast(other, prediction_length=32).mean
        assert (np.abs(changed - case["mean_kv"]) > 1e-3 * largest).any()


def test_toto_forecaster_samples(toto1):
    case = tensors("demo_model")
    inputs = MaskedTimeseries(case["series"][0], case["padding_mask"][0] > 0, case["id_mask"][0, :, :1])
    made = TotoForecaster(toto1).forecast(inputs, 32, num_samples=200, samples_per_batch=50, seed=3)
    assert made.samples.shape == (1, 3, 32, 200)
    np.testing.assert_allclose(made.mean, made.samples.mean(-1), rtol=1e-5)
    np.testing.assert_allclose(made.std, made.samples.std(-1, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(made.quantile([0.1, 0.5])[1], made.median)
    # The first patch is drawn from one distribution, whose mean the forecast of the mean has: 5 standard errors.
    mean = TotoForecaster(toto1).forecast(inputs, 32).mean
    assert (np.abs(made.mean - mean)[..., :16] < 5 * made.std[..., :16] / np.sqrt(200)).mean() > 0.95


def test_toto_forecaster_refuses_what_it_cannot(toto1):
    case = tensors("demo_model")
    inputs = MaskedTimeseries(case["series"], case["padding_mask"] > 0, case["id_mask"])
    with pytest.raises(ValueError, match="KV cache"):
        TotoForecaster(toto1).forecast(inputs, 8, use_kv_cache=False)
    ids = case["id_mask"].copy()
    ids[0, 0, :5] = 7
    with pytest.raises(ValueError, match="changes its group"):
        TotoForecaster(toto1).forecast(inputs._replace(id_mask=ids), 8)
    with pytest.raises(ValueError, match="0 exogenous variates, and the known future 1"):
        TotoForecaster(toto1).forecast(inputs, 8, future_exogenous_variables=np.zeros((1, 1, 8)))
    with pytest.raises(ValueError, match="use totograph.toto_ts"):
        Toto2Model(toto1)


def inputs_of(case):
    return {"target": case["target"], "target_mask": case["target_mask"] > 0, "series_ids": case["series_ids"]}


def test_toto2_model_forecasts_what_toto_2_does(toto2):
    case = tensors("toto2/levels")
    quantiles = Toto2Model(toto2).forecast(inputs_of(case), 20, has_missing_values=False)
    assert quantiles.shape == case["quantiles"].shape == (9, 1, 6, 20)
    # f32 by two programs, of series whose levels differ by 1e5: against the largest value of a row.
    largest = np.abs(case["quantiles"]).max(axis=(0, 3), keepdims=True)
    assert (np.abs(quantiles - case["quantiles"]) <= 1e-4 * largest).all()
    without_batch = Toto2Model(toto2).forecast({name: one[0] for name, one in inputs_of(case).items()}, 20)
    np.testing.assert_array_equal(without_batch, quantiles[:, 0])


def test_toto2_model_takes_the_newest_patch_for_observed_as_toto_2_does(toto2):
    inputs = inputs_of(tensors("toto2/levels"))
    filled = {**inputs, "target": inputs["target"].copy(), "target_mask": inputs["target_mask"].copy()}
    filled["target"][..., -5:] = 0
    filled["target_mask"][..., -5:] = False
    quantiles = Toto2Model(toto2).forecast(filled, 20)
    for mask, same in ((inputs["target_mask"], True), (np.roll(filled["target_mask"], -toto2.patch_size, axis=-1), False)):
        other = Toto2Model(toto2).forecast({**filled, "target_mask": mask}, 20)
        assert np.array_equal(other, quantiles) == same  # the patch before it has gaps


def test_toto2_model_refuses_what_it_was_not_compiled_for(toto2):
    inputs = inputs_of(tensors("toto2/levels"))
    whole = Toto2Model(toto2).forecast(inputs, 20)
    for block in (24, 768, 0, None):  # one pass
        np.testing.assert_array_equal(Toto2Model(toto2).forecast(inputs, 20, decode_block_size=block), whole)
    for block in (16, 20):
        with pytest.raises(ValueError, match=f"whole patches of 8; found {block}"):
            Toto2Model(toto2).forecast(inputs, 20, decode_block_size=block)
    for argument in ({"scaler_fallback_min_obs": 0}, {"quantile_real_cap_k": 0}):
        with pytest.raises(ValueError, match="leave these arguments out"):
            Toto2Model(toto2).forecast(inputs, 20, **argument)
    inputs["target_mask"] = inputs["target_mask"].copy()
    inputs["target_mask"][0, 0, 5] = False
    with pytest.raises(ValueError, match="Values are missing"):
        Toto2Model(toto2).forecast(inputs, 20, has_missing_values=False)
    with pytest.raises(ValueError, match="use totograph.toto2"):
        TotoForecaster(toto2)


def test_toto2_model_draws_samples_and_has_no_standard_deviation(toto2):
    made = toto2.forecast(tensors("toto2/levels")["target"], 8)
    assert made.samples(16, seed=1).shape == (1, 6, 8, 16)
    with pytest.raises(ValueError, match="say how many"):
        made.samples()


class OfQuantiles:
    """A forecast of 10, 12 and 20 at the levels 0.1, 0.5 and 0.9."""

    def quantile(self, level):
        if not 0.1 - 1e-9 <= level <= 0.9 + 1e-9:
            raise ValueError("beyond")
        return np.interp([level], [0.1, 0.5, 0.9], [10, 12, 20]).astype(np.float32)


def test_quantiles_beyond_the_outer_levels_lie_on_the_outer_lines():
    levels = (0.1, 0.5, 0.9)
    found = [extrapolated_quantile(OfQuantiles(), levels, level)[0] for level in (0, 0.05, 0.1 - 1e-12, 0.3, 0.95, 1)]
    np.testing.assert_allclose(found, [9.5, 9.75, 10, 11, 21, 22], rtol=1e-6)
    for level in (-0.1, 1.5):
        with pytest.raises(ValueError, match="beyond"):
            extrapolated_quantile(OfQuantiles(), levels, level)
    with pytest.raises(ValueError, match="beyond"):
        extrapolated_quantile(OfQuantiles(), levels[:1], 0.95)  # one level makes no line


def test_quantiles_beyond_the_outer_levels_are_those_of_samples(toto2):
    made = toto2.forecast(tensors("toto2/levels")["target"], 8)
    drawn = made.samples(4000, seed=1)
    spread = np.ptp(drawn, axis=-1)
    for level in (0.05, 0.95):
        found = extrapolated_quantile(made, toto2.levels, level)
        assert found.shape == (1, 6, 8)
        assert (np.abs(found - np.quantile(drawn, level, axis=-1)) <= 0.03 * spread).all()


def gluonts_data(variates):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("gluonts")
    values = np.sin(0.3 * np.arange(200)).astype(np.float32)
    target = values[:100] if variates == 1 else np.stack([values[i : i + 100] for i in range(variates)])
    return [{"target": target, "start": pandas.Period("2026-01-01", freq="h"), "item_id": "one"}], target


@pytest.mark.parametrize("variates", [1, 2])
def test_gluonts_evaluates_a_predictor(toto1, variates):
    data, target = gluonts_data(variates)
    from gluonts.evaluation import Evaluator, MultivariateEvaluator, make_evaluation_predictions
    from totograph.gluonts import TotographPredictor

    predictor = TotographPredictor(toto1, prediction_length=8, context_length=60, num_samples=16)
    made, series = (list(one) for one in make_evaluation_predictions(data, predictor, num_samples=24))
    assert made[0].samples.shape == ((24, 8) if variates == 1 else (24, 8, 2))  # what the call says goes before
    made = list(predictor.predict([{**data[0], "target": data[0]["target"][..., :-8]}]))
    assert made[0].samples.shape == ((16, 8) if variates == 1 else (16, 8, 2))
    assert made[0].item_id == "one" and str(made[0].start_date) == "2026-01-04 20:00"
    expected = toto1.forecast(np.atleast_2d(target)[:, 32:92], 8, samples=16).samples()
    np.testing.assert_array_equal(made[0].samples.reshape(16, 8, variates), expected.transpose(2, 1, 0))
    evaluator = (Evaluator if variates == 1 else MultivariateEvaluator)(quantiles=[0.1, 0.5, 0.9], num_workers=0)
    metrics, _ = evaluator(series, made)
    # A sine of one period in 21 steps: it forecasts better than the last season does.
    assert 0 < metrics["mean_wQuantileLoss"] < 1


def test_gluonts_draws_apart_for_each_entry(toto1):
    data, target = gluonts_data(1)
    from totograph.gluonts import TotographPredictor

    made = [one.samples for one in TotographPredictor(toto1, prediction_length=8, seed=5).predict(data * 2)]
    for seed, samples in enumerate(made, start=5):  # of entries that are alike otherwise
        np.testing.assert_array_equal(samples, toto1.forecast(target, 8, seed=seed, extend=True).samples().T)
    assert not np.array_equal(*made)
    with pytest.raises(ValueError, match="context_length cannot be 0"):
        TotographPredictor(toto1, prediction_length=8, context_length=0)


def test_gluonts_gets_quantiles_of_a_model_of_them(toto2):
    data, _ = gluonts_data(1)
    from totograph.gluonts import TotographPredictor

    made = next(TotographPredictor(toto2, prediction_length=8).predict(data))
    expected = toto2.forecast(data[0]["target"], 8, toto2.levels)
    np.testing.assert_array_equal(made.quantile(0.9), expected.quantiles[8])
    np.testing.assert_array_equal(made.quantile(0.5), expected.median)
    with pytest.warns(UserWarning, match="num_samples=100 is not read"):
        next(TotographPredictor(toto2, prediction_length=8).predict(data, num_samples=100))
    drawing = TotographPredictor(toto2, prediction_length=8, num_samples=5)
    drawn = toto2.forecast(data[0]["target"], 8)
    np.testing.assert_array_equal(next(drawing.predict(data)).samples, drawn.samples(5).T)
    np.testing.assert_array_equal(next(drawing.predict(data, num_samples=7)).samples, drawn.samples(7).T)
    future = np.zeros((1, 103), np.float32)
    with pytest.raises(ValueError, match="103 steps; expected 100 of the target and 8 ahead"):
        next(TotographPredictor(toto2, prediction_length=8).predict([{**data[0], "feat_dynamic_real": future}]))


def sktime_data(steps, name="load"):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("sktime")
    index = pandas.period_range("2026-01-01", periods=steps, freq="h")
    return pandas.Series(np.sin(0.3 * np.arange(steps)).astype(np.float32), index, name=name)


def test_sktime_forecaster_forecasts_what_the_model_does(toto1):
    y = sktime_data(60)
    from totograph.sktime import TotographForecaster

    forecaster = TotographForecaster(toto1, context_length=48, seed=3).fit(y, fh=[1, 4, 8])
    expected = toto1.forecast(y.to_numpy()[12:], 8, [0.1, 0.9], seed=3)
    found = forecaster.predict()
    assert found.name == "load" and [str(one) for one in found.index] == [
        "2026-01-03 12:00", "2026-01-03 15:00", "2026-01-03 19:00"]
    np.testing.assert_array_equal(found.to_numpy(), expected.median[[0, 3, 7]])
    quantiles = forecaster.predict_quantiles(alpha=[0.1, 0.9])
    assert list(quantiles.columns) == [("load", 0.1), ("load", 0.9)]
    np.testing.assert_array_equal(quantiles.to_numpy(), expected.quantiles[:, [0, 3, 7]].T)
    # sktime makes a level of 0.09999999999999998 of the coverage.
    np.testing.assert_allclose(forecaster.predict_interval(coverage=0.8).to_numpy(), quantiles.to_numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="context_length cannot be 0"):
        TotographForecaster(toto1, context_length=0).fit(y)
    with pytest.raises(NotImplementedError, match="in-sample"):
        forecaster.predict(fh=[-1])
    first = TotographForecaster(toto1, context_length=48, seed=3).fit(y[:55], fh=[1, 4, 8])
    np.testing.assert_array_equal(first.update(y[55:]).predict().to_numpy(), found.to_numpy())


def test_sktime_forecaster_takes_columns_gaps_and_what_is_known(toto1):
    y = sktime_data(60).to_frame()
    from totograph.sktime import TotographForecaster

    y["heat"] = y["load"] * 2 + 1
    y.loc[y.index[50], "heat"] = np.nan
    X = sktime_data(80, "price").to_frame()
    forecaster = TotographForecaster(toto1).fit(y, X=X[:60])
    history = np.stack([y["load"], y["heat"], X["price"][:60]]).astype(np.float32)
    known = toto1.forecast(history, 20, [0.5], future=X["price"].to_numpy()[None, 60:])
    found = forecaster.predict(fh=range(1, 21), X=X[60:])
    assert list(found.columns) == ["load", "heat"]
    np.testing.assert_array_equal(found.to_numpy().T, known.median[:2])
    unknown = forecaster.predict(fh=range(1, 21))
    np.testing.assert_array_equal(unknown.to_numpy().T, toto1.forecast(history, 20).median[:2])
    with pytest.raises(ValueError, match="known for 5 steps after the history; expected 20"):
        forecaster.predict(fh=range(1, 21), X=X[60:65])


def test_sktime_forecaster_takes_what_is_known_beyond_the_history(toto1):
    y = sktime_data(60)
    from totograph.sktime import TotographForecaster

    X = (sktime_data(90, "price") * 3 + 1).to_frame()
    fh = range(1, 21)
    history = np.stack([y, X["price"][:60]]).astype(np.float32)
    expected = toto1.forecast(history, 20).median[0]
    known = toto1.forecast(history, 20, future=X["price"].to_numpy()[None, 60:80]).median[0]
    assert np.abs(known - expected)[16:].max() > 1e-4  # from the second patch on it counts
    all_at_once = TotographForecaster(toto1).fit(y, X=X)
    in_parts = TotographForecaster(toto1).fit(y[:48], X=X[:70]).update(y[48:], X=X[48:])
    for forecaster in (all_at_once, in_parts):
        found = forecaster.predict(fh=fh)
        assert str(found.index[0]) == "2026-01-03 12:00"
        np.testing.assert_array_equal(found.to_numpy(), expected)
        for longer in (X, X[60:]):
            np.testing.assert_array_equal(forecaster.predict(fh=fh, X=longer).to_numpy(), known)


def test_sktime_forecaster_finds_what_is_known_by_its_name_and_time(toto1):
    y = sktime_data(60)
    from totograph.sktime import TotographForecaster

    X = (sktime_data(90, "price") * 3 + 1).to_frame()
    X["rain"] = np.cos(np.arange(90, dtype=np.float32))
    fh = range(1, 21)
    forecaster = TotographForecaster(toto1).fit(y, X=X[:60])
    expected = forecaster.predict(fh=fh, X=X[60:]).to_numpy()
    np.testing.assert_array_equal(forecaster.predict(fh=fh, X=X[60:][["rain", "price"]]).to_numpy(), expected)
    with pytest.raises(ValueError, match=r"has the columns \['price'\]; expected .* lacks \['rain'\]"):
        forecaster.predict(fh=fh, X=X[60:][["price"]])
    with pytest.raises(ValueError, match="expected all 20 steps after the history"):
        forecaster.predict(fh=fh, X=X[60:].drop(X.index[63]))
    np.testing.assert_array_equal(forecaster.predict(fh=[1, 20], X=X[60:80]).to_numpy(), expected[[0, 19]])


def test_sktime_forecaster_gives_the_interval_that_sktime_asks_for_by_itself(toto2):
    y = sktime_data(100)
    from totograph.sktime import TotographForecaster

    forecaster = TotographForecaster(toto2).fit(y, fh=[1, 8])
    made = toto2.forecast(y.to_numpy(), 8)
    found = forecaster.predict_interval()  # a coverage of 0.9, beyond the model's 0.1 to 0.9
    assert list(found.columns) == [("load", 0.9, "lower"), ("load", 0.9, "upper")]
    for column, (outer, inner) in enumerate(((0.1, 0.2), (0.9, 0.8))):
        expected = 1.5 * made.quantile(outer) - 0.5 * made.quantile(inner)
        np.testing.assert_allclose(found.to_numpy()[:, column], expected[[0, 7]], rtol=1e-5)
    within = forecaster.predict_quantiles(alpha=[0.1, 0.45]).to_numpy()
    np.testing.assert_array_equal(within, toto2.forecast(y.to_numpy(), 8, [0.1, 0.45]).quantiles[:, [0, 7]].T)


def test_sktime_evaluates_a_forecaster(toto1):
    y = sktime_data(120)
    from sktime.forecasting.model_evaluation import evaluate
    from sktime.forecasting.model_selection import ExpandingWindowSplitter
    from sktime.forecasting.naive import NaiveForecaster
    from sktime.performance_metrics.forecasting import MeanAbsoluteError
    from totograph.sktime import TotographForecaster

    splitter = ExpandingWindowSplitter(initial_window=64, fh=range(1, 9), step_length=24)
    ours, naive = (evaluate(one, splitter, y, scoring=MeanAbsoluteError())["test_MeanAbsoluteError"]
                   for one in (TotographForecaster(toto1), NaiveForecaster()))
    # A sine: it forecasts better than the last value does.
    assert len(ours) == 3 and ours.mean() < 0.5 * naive.mean()
