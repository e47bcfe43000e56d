# SPDX-License-Identifier: Apache-2.0
"""In place of `toto.inference.forecaster` of `toto-ts`, for Toto 1.0:

    from totograph.toto_ts import MaskedTimeseries, TotoForecaster
    forecast = TotoForecaster(tg.load("checkpoint/")).forecast(inputs, prediction_length=96, num_samples=256)

What differs: samples are other draws from the same distributions, named by `seed`; `use_kv_cache=False` is an error;
`samples_per_batch` and the times of the inputs are not read, as the model does not read those times either; results are
NumPy arrays where the inputs are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._model import Model
from ._tensors import array_of, like


class MaskedTimeseries(NamedTuple):
    """As in `toto-ts`, whose own is taken as well. The batch may be left out everywhere."""

    series: Any  #: `[batch, variates, steps]`.
    padding_mask: Any  #: The same, true where the series is observed.
    id_mask: Any  #: `[batch, variates, steps or 1]`: variates of equal number see each other.
    timestamp_seconds: Any = None
    time_interval_seconds: Any = None
    num_exogenous_variables: int = 0  #: How many of the last variates are exogenous.


@dataclass
class Forecast:
    mean: Any  #: `[batch, variates, steps ahead]`; of a forecast of samples, theirs.
    samples: Any = None  #: `[batch, variates, steps ahead, samples]`; None of a forecast of the mean.

    def quantile(self, q: Any) -> Any:
        """`[batch, variates, steps ahead]`, and for several levels that axis first."""
        if self.samples is None:
            raise ValueError("A forecast of the mean has no quantiles; ask for num_samples.")
        levels = array_of(q, np.float64)
        return like(self.samples, np.quantile(array_of(self.samples, np.float32), levels, axis=-1).astype(np.float32))

    @property
    def median(self) -> Any:
        return self.quantile(0.5)

    @property
    def std(self) -> Any:
        if self.samples is None:
            raise ValueError("A forecast of the mean has no standard deviation; ask for num_samples.")
        return like(self.samples, array_of(self.samples, np.float32).std(axis=-1, ddof=1, dtype=np.float32))


class TotoForecaster:
    """Raises `ValueError` for a model that does not sample."""

    def __init__(self, model: Model):
        if model.levels:
            raise ValueError("TotoForecaster is of Toto 1.0, and this model forecasts quantiles; use totograph.toto2.")
        self.model = model

    def forecast(
        self,
        inputs: Any,
        prediction_length: int,
        num_samples: int | None = None,
        samples_per_batch: int = 10,
        use_kv_cache: bool = True,
        future_exogenous_variables: Any = None,
        *,
        seed: int = 0,
    ) -> Forecast:
        """Forecasts the mean, or samples. Raises `ValueError` for what cannot be forecast."""
        if not use_kv_cache:
            raise ValueError("Packages are compiled with a KV cache; leave out use_kv_cache.")
        series = array_of(inputs.series, np.float32)
        mask = array_of(inputs.padding_mask, np.bool_)
        ids = None if inputs.id_mask is None else array_of(inputs.id_mask, np.float32)
        future = None if future_exogenous_variables is None else array_of(future_exogenous_variables, np.float32)
        if series.ndim == 2:
            series, mask = series[None], mask[None]
            ids = ids[None] if ids is not None and ids.ndim == 2 else ids
        if ids is not None:
            if (ids != ids[..., :1]).any():
                raise ValueError("A variate changes its group on the way, which packages do not take.")
            ids = np.broadcast_to(ids[..., 0], series.shape[:2])
        if future is not None and future.ndim == 2:
            future = future[None]
        exogenous = int(inputs.num_exogenous_variables)
        if future is not None and future.shape[1] != exogenous:
            raise ValueError(f"The inputs have {exogenous} exogenous variates, and the known future {future.shape[1]}.")
        made = self.model.forecast(series, prediction_length, samples=num_samples or 0, seed=seed, future=future,
                                   extend=True, observed=mask, groups=ids)
        mean = like(inputs.series, made.mean)
        return Forecast(mean, None if num_samples is None else like(inputs.series, made.samples()))
