# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    import pandas

_SAME_LEVEL = 1e-9  # as `Forecast::quantile` in C++ has it


class Forecast(_native.Forecast):
    """A result, which `Model.forecast` makes. `lead` stands for the axes of the series before its steps: none,
    `[variates]` or `[batch, variates]`."""

    __slots__ = ()

    def to_pandas(self, index: Any = None) -> pandas.DataFrame:
        """The quantiles as a table: a row for each step, with `index`, and columns of variate and level. For one
        series, not for a batch."""
        import pandas

        if self.batch != 1:
            raise ValueError(f"A table holds one series, and this forecast is of {self.batch}; take them one by one.")
        quantiles = self.quantiles
        levels, variates = len(quantiles), 1 if quantiles.ndim == 2 else quantiles.shape[-2]
        names = range(variates) if self.names is None else self.names
        columns = pandas.MultiIndex.from_product([names, self.levels], names=["variate", "level"])
        table = quantiles.reshape(levels, variates, self.horizon).transpose(2, 1, 0)
        return pandas.DataFrame(table.reshape(self.horizon, variates * levels), index=index, columns=columns)


def extrapolated_quantile(forecast: _native.Forecast, known: Sequence[float], level: float) -> npt.NDArray[np.float32]:
    """The quantile function from which `samples` draws, of a forecast of quantiles at the levels `known`: beyond the outer
    ones, of which `Forecast.quantile` says nothing, the lines through the outer two go on."""
    if len(known) < 2 or known[0] - _SAME_LEVEL <= level <= known[-1] + _SAME_LEVEL or not 0 <= level <= 1:
        return forecast.quantile(level)
    outer, inner = (known[0], known[1]) if level < known[0] else (known[-1], known[-2])
    at_outer, at_inner = (forecast.quantile(one).astype(np.float64) for one in (outer, inner))
    slope = (at_outer - at_inner) / (outer - inner)
    return (at_outer + (level - outer) * slope).astype(np.float32)
