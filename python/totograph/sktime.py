# SPDX-License-Identifier: Apache-2.0
"""A forecaster for sktime:

    from totograph.sktime import TotographForecaster
    forecaster = TotographForecaster(tg.load("checkpoint/"))
    forecaster.fit(y, fh=range(1, 25)).predict_quantiles(alpha=[0.1, 0.5, 0.9])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from ._forecast import Forecast, extrapolated_quantile
from ._model import Model


class TotographForecaster(BaseForecaster):
    """Forecasts the columns of `y` together, NaN where values are missing. `X` has exogenous columns; their future is
    known where it is given to `predict` for all steps up to the last that is asked for. `predict` gives medians. Fitting
    keeps the history, and trains nothing.

    A model of quantiles says nothing beyond its outer levels, which are 0.1 and 0.9 of Toto 2.0. There, as for the
    coverage of 0.9 that sktime asks for by itself, `predict_interval` and `predict_quantiles` follow the lines through
    its outer two levels on, from which `Forecast.samples` draws.

    context_length: steps of history that are used, at most; None: all that the package takes.
    samples: futures to sample, of a model that samples; None: as many as the package was compiled for."""

    _tags = {
        "y_inner_mtype": "pd.DataFrame",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": True,
        "capability:exogenous": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:missing_values": True,
        "capability:non_contiguous_X": False,
        "capability:update": True,
        "requires-fh-in-fit": False,
        "X-y-must-have-same-index": True,
    }

    def __init__(self, model: Model, context_length: int | None = None, samples: int | None = None, seed: int = 0) -> None:
        self.model = model
        self.context_length = context_length
        self.samples = samples
        self.seed = seed
        super().__init__()

    def _fit(self, y: Any, X: Any = None, fh: Any = None) -> TotographForecaster:
        if self.context_length is not None and self.context_length < 1:  # 0 would be all of it
            raise ValueError(f"The context_length cannot be {self.context_length}; expected 1 or more, or None for all that "
                             "the package takes.")
        history = y if X is None else pd.concat([y, X.loc[y.index]], axis=1)  # X may be longer
        self._history = history if self.context_length is None else history.iloc[-self.context_length :]
        self._exogenous = 0 if X is None else X.shape[1]
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> TotographForecaster:
        newer = y if X is None else pd.concat([y, X.loc[y.index]], axis=1)
        history = newer.combine_first(self._history)[self._history.columns]
        self._history = history if self.context_length is None else history.iloc[-self.context_length :]
        return self

    def _predict(self, fh: Any, X: Any = None) -> Any:
        made, steps = self._made(fh, X)
        return pd.DataFrame(self._targets(made.median)[:, steps].T, index=self._index(fh), columns=self._get_varnames())

    def _predict_quantiles(self, fh: Any, X: Any, alpha: list[float]) -> Any:
        made, steps = self._made(fh, X, alpha)
        known = self.model.levels
        quantiles = np.stack([extrapolated_quantile(made, known, level) for level in alpha]) if known else made.quantiles
        values = self._targets(quantiles)[..., steps].transpose(2, 1, 0)
        columns = pd.MultiIndex.from_product([self._get_varnames(), alpha])
        return pd.DataFrame(values.reshape(len(steps), -1), index=self._index(fh), columns=columns)

    def _made(self, fh: Any, X: Any, alpha: Any = (0.5,)) -> tuple[Forecast, npt.NDArray[np.int64]]:
        steps = np.asarray(fh.to_relative(self.cutoff).to_numpy(), np.int64) - 1
        horizon = int(steps.max()) + 1
        future = None
        if X is not None and self._exogenous:
            names = self._history.columns[-self._exogenous :]
            if missing := [name for name in names if name not in X.columns]:
                raise ValueError(f"X has the columns {list(X.columns)}; expected those of the history, of which it lacks "
                                 f"{missing}.")
            known = X.loc[X.index > self._history.index[-1], names]  # which may come in another order
            if len(known) < horizon:
                raise ValueError(f"X is known for {len(known)} steps after the history; expected {horizon}, up to the "
                                 "last step that is forecast.")
            if not known.index[steps].equals(self._index(fh)):
                raise ValueError(f"X is known at {list(known.index[:horizon])}; expected all {horizon} steps after the "
                                 "history, up to the last one that is forecast.")
            future = known.iloc[:horizon].to_numpy(np.float32).T
        made = self.model.forecast(self._history, horizon, alpha, future=future, seed=self.seed, extend=True,
                                   samples=None if self.model.levels else self.samples)
        return made, steps

    def _targets(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return values[..., : self._history.shape[1] - self._exogenous, :]

    def _index(self, fh: Any) -> Any:
        return fh.to_absolute_index(self.cutoff)
