# SPDX-License-Identifier: Apache-2.0
"""Forecasts of time series with Toto, by packages that were compiled ahead.

    import totograph as tg
    model = tg.load("checkpoint/", package="demo.so")
    f = model.forecast(series, horizon=96, quantiles=[0.1, 0.5, 0.9])

`series` is `[steps]`, `[variates, steps]` or `[batch, variates, steps]`, NaN where nothing was observed. Results have
the same axes, with the horizon in place of the steps.
"""

from ._forecast import Forecast
from ._header import PackageHeader, read_header
from ._model import Model, load

__all__ = ["Forecast", "Model", "PackageHeader", "load", "read_header"]
