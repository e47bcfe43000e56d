# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas


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
