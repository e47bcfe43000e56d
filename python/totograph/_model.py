# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes as c
import os
import struct
import weakref
from pathlib import Path
from typing import Any, NoReturn, Sequence, Tuple, overload

import numpy as np
import numpy.typing as npt

from ._device import DeviceForecast, device_array, stream_address
from ._forecast import Forecast
from ._header import PackageHeader, read_header
from ._interface import (
    SERIES_ON_DEVICE,
    Library,
    address_of,
    pack_call,
    threads,
    totograph_bucket,
    totograph_device_forecast,
    totograph_model_facts,
    totograph_request,
    totograph_series,
    totograph_service_options,
)

_SERIES_SIZE = c.sizeof(totograph_series)
_REQUEST_SIZE = c.sizeof(totograph_request)


class Model:
    """A checkpoint behind a package. Any number of threads may use it: they are served one after the other, and the
    interpreter's lock is free meanwhile."""

    def __init__(self, checkpoint: str | os.PathLike[str], header: PackageHeader, mode: str | None, threads: int):
        self._library = Library(header)
        self._reopened_by = (os.path.abspath(checkpoint), os.path.abspath(header.path), mode, threads)
        model = self._library.make("model_open", os.fsencode(checkpoint))
        try:
            self._describe(model)
            options = totograph_service_options(mode=None if mode is None else mode.encode(), threads=threads)
            self._service = self._library.make("service_create", model, c.addressof(options))
        finally:
            self._library.model_close(model)  # the service goes on
        self._forecast = self._library.functions["service_forecast"]
        self._destroy = weakref.finalize(self, self._library.service_destroy, self._service)

    def _describe(self, model: int) -> None:
        facts = totograph_model_facts()
        self._library.call("model_describe", model, c.addressof(facts))
        self._patch_size = int(facts.patch_size)
        self._levels = tuple(facts.levels[i] for i in range(facts.level_count))
        buckets = []
        for which in range(facts.buckets):
            bucket = totograph_bucket()
            self._library.call("model_bucket", model, which, c.addressof(bucket))
            buckets.append({field[0]: int(getattr(bucket, field[0])) for field in bucket._fields_[1:]})
        self._buckets = tuple(buckets)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self  # for who copies what has one: it may be shared

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, self._reopened_by  # in another process

    @property
    def patch_size(self) -> int:
        """Steps that the model takes at a time."""
        return self._patch_size

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of the quantiles that it forecasts; empty for a model that samples."""
        return self._levels

    @property
    def buckets(self) -> tuple[dict[str, int], ...]:
        """The sizes that it is compiled for, the cheapest first: batch, variates, context, horizon, samples and
        exogenous."""
        return self._buckets

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

    @overload
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
        observed: Any = None,
        groups: Any = None,
        stream: None = None,
    ) -> Forecast: ...

    @overload
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
        observed: Any = None,
        groups: Any = None,
        stream: Any,
    ) -> DeviceForecast: ...

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
        observed: Any = None,
        groups: Any = None,
        stream: Any = None,
    ) -> Forecast | DeviceForecast:
        """Forecasts the steps after a series.

        series: `[steps]`, `[variates, steps]` or `[batch, variates, steps]`, the newest step last, NaN where nothing
        was observed: what NumPy reads, or any tensor with DLPack in the memory of the host, such as PyTorch's; or a
        pandas Series, or a DataFrame with a column for each variate. float32 is read in place.
        horizon: steps to forecast; None: as many as the package's size that serves.
        quantiles: the levels of `Forecast.quantiles`.
        samples: futures to sample, of a model that samples; 0 for its mean; None: as many as it was compiled for.
        seed: names the samples.
        future: `[*lead, steps ahead]`, the known future of the last variates, as many as it has; NaN: gaps, of a model
        that takes them.
        extend: whether a horizon beyond what was compiled goes on from medians; else it is an error.
        observed: of the shape of the series, false where its value is none; NaN is none either way.
        groups: `[variates]` or `[batch, variates]`, whole numbers: variates of equal number see each other. None: all
        do.
        stream: of a package for CUDA, a stream of the caller's: what PyTorch, CuPy or Numba have, or the number of a
        `cudaStream_t`, 0 for the default one. The forecast is put onto it, and its result stays on the device. Then the
        series may lie there as well (`__cuda_array_interface__`); it is copied to the host when the stream has come to
        here. The request has to fit a size of the package in one piece.

        Raises `ValueError` with a sentence for what cannot be forecast."""
        if stream is not None:
            return self._forecast_on(stream_address(stream), series, horizon, samples, seed, extend,
                                     (future, observed, groups))
        if type(series) is np.ndarray and series.dtype is _FLOAT32:
            names, values = None, series
        else:
            names, values = _values_of(series)
        rank = values.ndim
        values, batch, variates, steps, of_batch, of_variate, of_step = _axes_of(values)
        observed_at, groups_at, exogenous, known_at, known_observed_at, future_steps = 0, 0, 0, 0, 0, 0
        if future is not None or observed is not None or groups is not None:
            extras = _Extras(future, observed, groups, batch, variates, values.shape)
            observed_at, groups_at, exogenous, known_at, known_observed_at, future_steps = extras.fields
        if horizon is not None and horizon < 1 or samples is not None and samples < 0:
            _refuse_request(horizon, samples, seed, extend, None)
        scratch = threads.scratch
        try:
            pack_call(scratch.call, 0, _REQUEST_SIZE, horizon or 0, 0 if samples is None else (samples or -1), seed, 0, 0,
                      extend, 0, _SERIES_SIZE, batch, variates, steps, address_of(values), of_batch >> 2,
                      of_variate >> 2, of_step >> 2, observed_at, 0, 0, 0, groups_at, exogenous, known_at,
                      known_observed_at, future_steps, 0, 1)
        except struct.error as error:
            _refuse_request(horizon, samples, seed, extend, error)
        status = self._forecast(self._service, scratch.series_at, scratch.request_at, scratch.place_at,
                                scratch.error_at)
        library = self._library
        if status != 0:
            library.fail(status)
        handle = scratch.place.value
        assert handle is not None
        # Memory that was not touched since before the forecast is far away: what is known now is not asked for later.
        shape = None if horizon is None or future is not None else (*values.shape[:-1], horizon)
        return Forecast(library, handle, rank, quantiles, names, shape)

    def _forecast_on(self, stream: int, series: Any, horizon: int | None, samples: int | None, seed: int, extend: bool,
                     extras: tuple[Any, Any, Any]) -> DeviceForecast:
        on_device = device_array(series)
        if on_device is not None:
            address, shape, strides = on_device
            lead, axes = (1,) * (3 - len(shape)), (0,) * (3 - len(shape)) + strides
            if not any(axes):  # three zeros mean row-major to C
                axes = (0, 0, 1)
        else:
            _, values = _values_of(series)
            values, *sizes = _axes_of(values)
            address, shape, lead = address_of(values), values.shape, (1,) * (3 - values.ndim)
            axes = tuple(one >> 2 for one in sizes[3:])
        batch, variates, steps = (*lead, *shape)
        if "service_forecast_on" not in self._library.functions:
            raise ValueError(f"The package '{self.header.path}' was built before packages took streams; build it anew.")
        made, scratch = totograph_device_forecast(), threads.scratch
        kept = _Extras(*extras, batch, variates, shape)
        observed_at, groups_at, *known = kept.fields
        if horizon is not None and horizon < 1 or samples is not None and samples < 0:
            _refuse_request(horizon, samples, seed, extend, None)
        try:
            pack_call(scratch.call, 0, _REQUEST_SIZE, horizon or 0, 0 if samples is None else (samples or -1), seed, 0, 0,
                      extend, 0, _SERIES_SIZE, batch, variates, steps, address, *axes, observed_at, 0, 0, 0, groups_at,
                      *known, 0, 1)
        except struct.error as error:
            _refuse_request(horizon, samples, seed, extend, error)
        self._library.call("service_forecast_on", self._service, stream, scratch.series_at, scratch.request_at,
                           SERIES_ON_DEVICE if on_device is not None else 0, c.addressof(made))
        return DeviceForecast(self._library, made, len(shape), stream, self._levels, (self, series))


def _refuse_request(horizon: Any, samples: Any, seed: Any, extend: Any, error: struct.error | None) -> NoReturn:
    if error is None:
        what, value = ("samples", samples) if horizon is None or horizon >= 1 else ("horizon", horizon)
        raise ValueError(f"The {what} cannot be {value}.")
    raise ValueError(
        f"The horizon ({horizon!r}), samples ({samples!r}), seed ({seed!r}) and extend ({extend!r}) are whole numbers, a "
        f"seed from 0 to 2^64 - 1, and extend True or False: {error}."
    ) from None


class _Extras:
    """What most requests lack, and where it lies."""

    def __init__(self, future: Any, observed: Any, groups: Any, batch: int, variates: int, shape: tuple[int, ...]) -> None:
        exogenous, future_steps, known_at, known_observed_at, observed_at, groups_at = 0, 0, 0, 0, 0, 0
        self.kept: list[npt.NDArray[Any]] = []
        if future is not None:
            known = _known_future(future, batch, variates)
            exogenous, future_steps, known_at = known.shape[1], known.shape[2], self._kept(known)
            gaps = np.isnan(known)
            if gaps.any():
                known_observed_at = self._kept(np.ascontiguousarray(~gaps))
        if observed is not None:
            observed_at = self._kept(_array_like(observed, np.bool_, "observed", shape))
        if groups is not None:
            groups_at = self._kept(
                _array_like(groups, np.int32, "groups", (batch, variates), (variates,) if batch == 1 else ()))

        #: As the structure of C has them.
        self.fields = (observed_at, groups_at, exogenous, known_at, known_observed_at, future_steps)

    def _kept(self, array: npt.NDArray[Any]) -> int:
        self.kept.append(array)
        return address_of(array)


def _reopened(checkpoint: str, package: Path, mode: str | None, threads: int) -> Model:
    return Model(checkpoint, read_header(package), mode, threads)


_FLOAT32 = np.dtype(np.float32)
_Axes = Tuple[npt.NDArray[np.float32], int, int, int, int, int, int]


def _axes_of(values: npt.NDArray[np.float32]) -> _Axes:
    """The array, or a copy that C can read; batch, variates and steps; how many bytes their elements lie apart."""
    shape, strides = values.shape, values.strides
    rank = len(shape)
    if rank == 1:
        batch, variates, steps = 1, 1, shape[0]
        of_batch, of_variate, of_step = 0, 0, strides[0]
    elif rank == 2:
        batch, variates, steps = 1, shape[0], shape[1]
        of_batch, of_variate, of_step = 0, strides[0], strides[1]
    elif rank == 3:
        batch, variates, steps = shape
        of_batch, of_variate, of_step = strides
    else:
        raise ValueError(
            f"A series has the axes [steps], [variates, steps] or [batch, variates, steps]; found the shape {shape}."
        )
    # C counts elements, and three zeros mean row-major to it.
    if (of_batch | of_variate | of_step) & 3 or not (of_batch or of_variate or of_step):
        values = np.array(values, np.float32)
        of_batch, of_variate, of_step = 0, 0, 0
    return values, batch, variates, steps, of_batch, of_variate, of_step


def _array_like(given: Any, dtype: Any, name: str, *shapes: tuple[int, ...]) -> npt.NDArray[Any]:
    if hasattr(given, "to_numpy") and getattr(given, "ndim", 0) == 2:
        given = given.to_numpy().T  # a frame has a column for each variate
    found = np.asarray(given)
    if dtype is np.int32 and found.size and (
        found.dtype.kind not in "biuf" or not (found == np.trunc(found)).all()
        or found.max() > 2**31 - 1 or found.min() < -(2**31)
    ):
        raise ValueError(f"The {name} are whole numbers of 32 bits; found {found.dtype}, from {found.min()} to "
                         f"{found.max()}.")
    array = np.ascontiguousarray(found, dtype=dtype)
    if array.shape not in shapes:
        raise ValueError(f"{name} has the shape {array.shape}; expected {' or '.join(str(s) for s in shapes if s)}.")
    return array


def _known_future(future: Any, batch: int, variates: int) -> npt.NDArray[np.float32]:
    _, known = _values_of(future)
    known = np.ascontiguousarray(known.reshape((1,) * (3 - known.ndim) + known.shape))
    if known.ndim != 3 or known.shape[0] != batch:
        raise ValueError(
            f"The known future of {batch} series of {variates} variates cannot have the shape {known.shape}."
        )
    return known


def _values_of(series: Any) -> tuple[Sequence[Any] | None, npt.NDArray[np.float32]]:
    """The names of the variates, where they have any, and the values: float32, nothing copied that need not be."""
    if hasattr(series, "__dlpack__") and not isinstance(series, np.ndarray):
        series = _from_dlpack(series)
        if series.dtype is _FLOAT32:
            return None, series
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


_HOSTS = (1, 3, 11)  # DLPack's numbers of memory that the processor reads: the host's, and pinned for CUDA or ROCm


def _from_dlpack(tensor: Any) -> npt.NDArray[Any]:
    if int(tensor.__dlpack_device__()[0]) not in _HOSTS:
        raise ValueError("The series lies in the memory of a device, and this package runs on the processor. Copy it "
                         "to the host, as PyTorch's .cpu() does.")
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(f"The series cannot be read by DLPack: {error}. Make it float32, without gradients.") from None
