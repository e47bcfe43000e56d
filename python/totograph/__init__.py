# SPDX-License-Identifier: Apache-2.0
"""Forecasts of time series with Toto, by packages that were compiled ahead.

    import totograph as tg
    model = tg.load("checkpoint/")  # compiles a package the first time; or name one
    f = model.forecast(series, horizon=96, quantiles=[0.1, 0.5, 0.9])

`series` is `[steps]`, `[variates, steps]` or `[batch, variates, steps]`, NaN where nothing was observed. Results have
the same axes, with the horizon in place of the steps.
"""

from ._device import DeviceForecast
from ._forecast import Forecast
from ._header import PackageHeader, read_header
from ._load import demo_checkpoint, load
from ._model import Model

__all__ = ["DeviceForecast", "Forecast", "Model", "PackageHeader", "demo_checkpoint", "load", "read_header"]
