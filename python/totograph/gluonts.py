# SPDX-License-Identifier: Apache-2.0
"""A predictor for GluonTS:

    from totograph.gluonts import TotographPredictor
    predictor = TotographPredictor(tg.load("checkpoint/"), prediction_length=24)
    forecasts, series = make_evaluation_predictions(dataset, predictor)
"""

from __future__ import annotations

import warnings
from typing import Any, Iterator, Sequence

import numpy as np
from gluonts.model.forecast import QuantileForecast, SampleForecast
from gluonts.model.predictor import RepresentablePredictor

from ._model import Model


class TotographPredictor(RepresentablePredictor):
    """Forecasts entries one after the other: `target`, `[steps]` or `[variates, steps]`, with NaN where values are
    missing; `feat_dynamic_real`, `[features, steps + prediction_length]`, whose future is known; and
    `past_feat_dynamic_real`, of which it is not. Models that sample give a `SampleForecast`, others a
    `QuantileForecast`.

    context_length: steps of history that are used, at most; None: all that the package takes.
    num_samples: of each `SampleForecast`, unless `predict` is told another number; None: as many as the package was
    compiled for. With a model that forecasts quantiles, it draws so many from them, each step by itself, and gives a
    `SampleForecast` as well.
    seed: of the first entry's samples; each further one of a call of `predict` has the next, so that they are drawn apart,
    and sums over entries are not too wide."""

    def __init__(
        self,
        model: Model,
        prediction_length: int,
        context_length: int | None = None,
        num_samples: int | None = None,
        quantiles: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        if context_length is not None and context_length < 1:  # 0 would be all of it
            raise ValueError(f"The context_length cannot be {context_length}; expected 1 or more, or None for all that the "
                             "package takes.")
        super().__init__(prediction_length=prediction_length)
        self.model = model
        self.context_length = context_length
        self.num_samples = num_samples
        self.seed = seed
        self.levels = tuple(quantiles or model.levels or (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))

    def predict_item(self, item: Any, num_samples: int | None = None, seed: int | None = None) -> Any:
        seed = self.seed if seed is None else seed
        num_samples = num_samples or self.num_samples
        target = np.asarray(item["target"], np.float32)
        steps = target.shape[-1]
        rows = [np.atleast_2d(target)]
        if item.get("past_feat_dynamic_real") is not None:
            rows.append(np.atleast_2d(np.asarray(item["past_feat_dynamic_real"], np.float32))[:, :steps])
        future = None
        if item.get("feat_dynamic_real") is not None:
            known = np.atleast_2d(np.asarray(item["feat_dynamic_real"], np.float32))
            rows.append(known[:, :steps])
            future = known[:, steps : steps + self.prediction_length]
            if future.shape[1] != self.prediction_length:
                raise ValueError(f"feat_dynamic_real has {known.shape[1]} steps; expected {steps} of the target and "
                                 f"{self.prediction_length} ahead.")
        series = np.concatenate(rows)
        if self.context_length is not None:
            series = series[:, -self.context_length :]
        samples = None if self.model.levels else num_samples
        made = self.model.forecast(series, self.prediction_length, self.levels, samples=samples, seed=seed, future=future,
                                   extend=True)
        start = item["start"] + steps
        wanted = slice(0, rows[0].shape[0])
        one = target.ndim == 1
        if self.model.levels and self.num_samples is None:
            quantiles = made.quantiles[:, wanted].transpose(0, 2, 1)  # GluonTS has the variates last
            return QuantileForecast(quantiles[..., 0] if one else quantiles, start,
                                    [str(level) for level in self.levels], item_id=item.get("item_id"))
        drawn = made.samples(num_samples if self.model.levels else None, seed)[wanted].transpose(2, 1, 0)
        return SampleForecast(drawn[..., 0] if one else drawn, start, item_id=item.get("item_id"))

    def predict(self, dataset: Any, num_samples: int | None = None, **_: Any) -> Iterator[Any]:
        """num_samples: in place of the predictor's. `make_evaluation_predictions` passes 100 where it is told nothing,
        so a model of quantiles gives these even so, with a warning; build the predictor with num_samples to draw."""
        if num_samples is not None and self.model.levels and self.num_samples is None:
            warnings.warn(f"The model forecasts quantiles, so num_samples={num_samples} is not read; give num_samples to "
                          "TotographPredictor to draw samples from them.", stacklevel=2)
        for number, item in enumerate(dataset):
            yield self.predict_item(item, num_samples, (self.seed + number) % 2**64)
