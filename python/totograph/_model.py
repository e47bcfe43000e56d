# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes as c
import json
import os
import weakref
from pathlib import Path
from typing import Any, Sequence

import numpy as np

from ._forecast import Forecast, pointer_to, strides_of
from ._header import PackageHeader, check_header, read_header
from ._interface import Library, totograph_request, totograph_series, totograph_service_options


class Model:
    """A checkpoint behind a package. Any number of threads may use it: they are served one after the other, and the
    interpreter's lock is free meanwhile."""

    def __init__(self, checkpoint: str | os.PathLike[str], header: PackageHeader, mode: str | None, threads: int):
        self._library = Library(header)
        model = self._library.make("model_open", os.fsencode(checkpoint))
        try:
            options = totograph_service_options(mode=None if mode is None else mode.encode(), threads=threads)
            self._service = self._library.make("service_create", model, options)
        finally:
            self._library.model_close(model)  # the service goes on
        self._destroy = weakref.finalize(self, self._library.service_destroy, self._service)

    @property
    def header(self) -> PackageHeader:
        """What the package says of itself."""
        return self._library.header

    def warm_up(self, forecasts: int = 1) -> None:
        """Builds all sizes ahead, and makes so many forecasts with each."""
        self._library.call("service_warm_up", self._service, forecasts)

    def metrics(self, format: str = "json") -> str:
        """Counters and latencies, as `json` or for `prometheus`."""
        text = self._library.make("service_metrics", self._service, format.encode())
        try:
            return c.string_at(text).decode()
        finally:
            self._library.text_free(text)

    def forecast(
        self,
        series: Any,
        horizon: int | None = None,
        quantiles: Sequence[float] = (0.1, 0.5, 0.9),
        *,
        samples: int | None = None,
        seed: int = 0,
        future: Any = None,
        extend: bool = False,
    ) -> Forecast:
        """Forecasts the steps after a series.

        series: `[steps]`, `[variates, steps]` or `[batch, variates, steps]`, the newest step last, NaN where nothing
        was observed; or a pandas Series, or a DataFrame with a column for each variate. float32 is read in place.
        horizon: steps to forecast; None: as many as the package's size that serves.
        samples: futures to sample, of a model that samples; 0 for its mean; None: as many as it was compiled for.
        future: `[*lead, steps ahead]`, the known future of the last variates, as many as it has.
        extend: whether a horizon beyond what was compiled goes on from medians; else it is an error.

        Raises `ValueError` with a sentence for what cannot be forecast."""
        names, values = _values_of(series)
        rank = values.ndim
        if not 1 <= rank <= 3:
            raise ValueError(
                "A series has the axes [steps], [variates, steps] or [batch, variates, steps]; "
                f"found the shape {values.shape}."
            )
        values = values.reshape((1,) * (3 - rank) + values.shape)
        if not any(values.strides):  # three zeros mean row-major to C
            values = np.ascontiguousarray(values)
        given = totograph_series(
            batch=values.shape[0], variates=values.shape[1], steps=values.shape[2],
            values=pointer_to(values, c.c_float), values_strides=strides_of(values), nan_is_gap=1,
        )
        if future is not None:
            _, known = _values_of(future)
            known = np.ascontiguousarray(known.reshape((1,) * (3 - known.ndim) + known.shape))
            if known.ndim != 3 or known.shape[0] != values.shape[0]:
                raise ValueError(f"The known future of a series of {values.shape} cannot have the shape {known.shape}.")
            given.exogenous = known.shape[1]
            given.future_steps = known.shape[2]
            given.future_exogenous = pointer_to(known, c.c_float)
        for name, number in (("horizon", horizon), ("samples", samples)):
            if number is not None and number < (1 if name == "horizon" else 0):
                raise ValueError(f"The {name} cannot be {number}.")
        request = totograph_request(
            horizon=horizon or 0, samples=0 if samples is None else (samples or -1), seed=seed, extend=int(extend)
        )
        handle = self._library.make("service_forecast", self._service, given, request)
        return Forecast(self._library, handle, rank, quantiles, names)


def _values_of(series: Any) -> tuple[Sequence[Any] | None, np.ndarray[Any, np.dtype[np.float32]]]:
    """The names of the variates, where they have any, and the values: float32, nothing copied that need not be."""
    if hasattr(series, "to_numpy"):
        array = series.to_numpy(dtype=np.float32, na_value=np.nan)
        return (list(series.columns), array.T) if array.ndim == 2 else ([series.name], array)
    array = np.asarray(series)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"A series is of numbers; found {array.dtype}.")
    array = array.astype(np.float32, copy=False)
    if array.dtype.byteorder not in "=|" or any(stride % array.itemsize for stride in array.strides):
        array = np.array(array, np.float32)
    return None, array


def load(
    checkpoint: str | os.PathLike[str],
    package: str | os.PathLike[str] | None = None,
    *,
    device: str = "cpu",
    mode: str | None = None,
    threads: int = 0,
) -> Model:
    """Opens a checkpoint, a folder with `config.json` and `model.safetensors`.

    package: a package, or a folder of packages, of which one is taken that has the model and runs on this machine.
    None: the folders of the environment variable TOTOGRAPH_PACKAGE_PATH, then the checkpoint's own.
    device: that the package was compiled for.
    mode: how forecasts are run, as TOTOGRAPH_MODE spells it; that variable goes before.
    threads: that a forecast may use; 0: all processors that the process may use.

    A package runs with all rights of this process: load what you trust. Raises `FileNotFoundError`, and `ValueError`
    for a package that cannot be used here, or is of another model than the checkpoint."""
    if package is not None and not Path(package).is_dir():
        return Model(checkpoint, read_header(package), mode, threads)
    folders = [Path(package)] if package is not None else _package_folders(checkpoint)
    try:
        config = json.loads((Path(checkpoint) / "config.json").read_text())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The checkpoint '{checkpoint}' has no config.json, by which its package is found. Name the package."
        ) from None
    reasons: list[str] = []
    for file in (file for folder in folders for file in sorted(folder.glob("*.so"), reverse=True)):
        try:
            header = read_header(file)
            if header.device != device or not header.fits(config):
                reasons.append(f"'{file}' has another model or device")
                continue
            check_header(header)
        except (OSError, ValueError) as error:
            reasons.append(str(error))
            continue
        return Model(checkpoint, header, mode, threads)
    where = ", ".join(f"'{folder}'" for folder in folders)
    raise FileNotFoundError(
        f"No package for the checkpoint '{checkpoint}' on {device} was found in {where}. "
        + " ".join(reasons + ["Build one with totograph_add_package, and name it or its folder."])
    )


def _package_folders(checkpoint: str | os.PathLike[str]) -> list[Path]:
    named = os.environ.get("TOTOGRAPH_PACKAGE_PATH", "")
    return [Path(folder) for folder in named.split(os.pathsep) if folder] + [Path(checkpoint)]
