# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes as c
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import numpy.typing as npt

from ._interface import Library, address_of, threads, totograph_forecast_facts

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float32]
_FLOAT32 = np.dtype(np.float32)
_HALF = np.array([0.5])
_HALF_AT = address_of(_HALF)


class Forecast:
    """A result. `lead` below stands for the axes of the series before its steps: none, `[variates]` or
    `[batch, variates]`."""

    __slots__ = ("_library", "_handle", "_rank", "_levels", "_names", "_known_facts", "_known_shape")

    def __init__(
        self,
        library: Library,
        handle: int,
        rank: int,
        levels: Sequence[float],
        names: Sequence[Any] | None,
        shape: tuple[int, ...] | None,
    ):
        self._library = library
        self._handle = handle
        self._rank = rank
        self._levels = levels
        self._names = names
        self._known_facts: totograph_forecast_facts | None = None
        self._known_shape = shape

    def __del__(self) -> None:
        self._library.forecast_release(self._handle)

    @property
    def _facts(self) -> totograph_forecast_facts:
        facts = self._known_facts
        if facts is None:
            facts = totograph_forecast_facts()
            self._library.call("forecast_describe", self._handle, c.addressof(facts))
            self._known_facts = facts  # when it is filled: another thread may look meanwhile
        return facts

    @property
    def horizon(self) -> int:
        """Steps that were forecast."""
        return int(self._facts.horizon)

    @property
    def context(self) -> int:
        """Steps of history that it was made from, the newest ones."""
        return int(self._facts.context)

    @property
    def is_finite(self) -> bool:
        """Whether the model gave a finite number for each value; otherwise nothing here is worth using."""
        return bool(self._facts.not_finite == 0)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of `quantiles`, as they were asked for."""
        return tuple(float(level) for level in self._levels)

    @property
    def quantiles(self) -> Floats:
        """The quantiles that were asked for: `[levels, *lead, horizon]`."""
        return self._quantiles(self._levels)

    @property
    def median(self) -> Floats:
        """`[*lead, horizon]`."""
        return self._filled("forecast_quantiles", _HALF_AT, 1)

    def quantile(self, level: float) -> Floats:
        """A quantile: `[*lead, horizon]`."""
        values: Floats = self._quantiles([level])[0]
        return values

    @property
    def mean(self) -> Floats:
        """The mean, of the model or of the samples: `[*lead, horizon]`."""
        return self._filled("forecast_mean")

    @property
    def stddev(self) -> Floats:
        """The standard deviation of the samples, with n - 1: `[*lead, horizon]`."""
        return self._filled("forecast_stddev")

    def samples(self, count: int | None = None, seed: int = 0) -> Floats:
        """Samples: `[*lead, horizon, count]`. Those of a model that samples are there already; of one that forecasts
        quantiles, `count` are drawn with the seed, each step by itself."""
        if count is None:
            if self._facts.samples == 0:
                raise ValueError("This forecast has no samples of its own; say how many are to be drawn.")
            count = int(self._facts.samples)
        result = np.empty((*self._shape(), count), np.float32)
        self._library.call("forecast_samples", self._handle, count, seed, address_of(result), None)
        return result

    def to_pandas(self, index: Any = None) -> pandas.DataFrame:
        """The quantiles as a table: a row for each step, with `index`, and columns of variate and level. For one
        series, not for a batch."""
        import pandas

        if self._facts.batch != 1:
            raise ValueError(
                f"A table holds one series, and this forecast is of {self._facts.batch}; take them one by one."
            )
        quantiles = self._quantiles(self._levels).reshape(len(self._levels), -1, self.horizon)
        names = range(quantiles.shape[1]) if self._names is None else self._names
        columns = pandas.MultiIndex.from_product([names, self.levels], names=["variate", "level"])
        table = quantiles.transpose(2, 1, 0).reshape(self.horizon, -1)
        return pandas.DataFrame(table, index=index, columns=columns)

    def _shape(self) -> tuple[int, ...]:
        """Of one number a step: `[*lead, horizon]`."""
        shape = self._known_shape
        if shape is None:
            facts = self._facts
            shape = self._known_shape = (facts.batch, facts.variates, facts.horizon)[3 - self._rank :]
        return shape

    def _quantiles(self, levels: Sequence[float]) -> Floats:
        wanted = np.array(levels, np.float64)
        result = np.empty((len(wanted), *self._shape()), np.float32)
        self._library.call("forecast_quantiles", self._handle, address_of(wanted), len(wanted), address_of(result), None)
        return result

    def _filled(self, function: str, *levels: int) -> Floats:
        """What a function writes for each step; the levels' address and number, of a function that takes them."""
        result = np.empty(self._known_shape or self._shape(), _FLOAT32)
        library = self._library
        status = library.functions[function](self._handle, *levels, address_of(result), None, threads.scratch.error_at)
        if status != 0:
            library.fail(status)
        return result
