# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import atexit
import operator
import os
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn, Sequence, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._device import DeviceForecast, device_array, stream_address
from ._forecast import Forecast
from ._header import PackageHeader, check_header, read_header


class Model:
    """A checkpoint behind a package. Any number of threads may use it: they are served one after the other, and the
    interpreter's lock is free meanwhile."""

    def __init__(self, checkpoint: str | os.PathLike[str], header: PackageHeader, mode: str | None, threads: int,
                 device: int = 0):
        check_header(header)
        self._header, self._device = header, device
        threads = _count("threads", threads)
        self._service = _native.Service(_native.Library(header.path.resolve()), checkpoint, mode, threads, device)
        # By the address of the result, for what wrote there has been waited for when it is written again. They go after
        # the service, which waits as well.
        self._being_read: dict[int, Any] = {}
        self._puts = threading.Lock()
        self._reopened_by = (os.path.abspath(checkpoint), os.path.abspath(header.path), mode, threads, device)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self  # for who copies what has one: it may be shared

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, self._reopened_by  # in another process

    @property
    def patch_size(self) -> int:
        """Steps that the model takes at a time."""
        return self._service.patch_size

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of the quantiles that it forecasts; empty for a model that samples."""
        return self._service.levels

    @property
    def buckets(self) -> tuple[dict[str, int], ...]:
        """The sizes that it is compiled for, the cheapest first: batch, variates, context, horizon, samples and
        exogenous."""
        return self._service.buckets

    @property
    def header(self) -> PackageHeader:
        """What the package says of itself."""
        return self._header

    def warm_up(self, forecasts: int = 1) -> None:
        """Builds all sizes ahead, and makes so many forecasts with each."""
        self._service.warm_up(_count("forecasts of a warm-up", forecasts))

    def metrics(self, format: str = "json") -> str:
        """Counters and latencies, as `json` or for `prometheus`."""
        return self._service.metrics(format)

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
        series may lie there as well (DLPack or `__cuda_array_interface__`), float32 with any strides; the others stay on
        the host. It is read when the stream has come to here, which waits for the stream that is current for the series'
        library, and stays as it is until then. What of it is no finite number makes a result whose `is_finite` is false.
        The request has to fit a size of the package in one piece.

        Raises `ValueError` with a sentence for what cannot be forecast."""
        if stream is not None:
            return self._forecast_on(stream, series, horizon, samples, seed, extend, (future, observed, groups))
        names, extras = None, None
        if future is not None or observed is not None or groups is not None:
            names, series = _values_of(series)
            _check_axes(series.shape)
            extras = _Extras(future, observed, groups, series.shape)
        made: Forecast = self._service.forecast(series, names, horizon, quantiles, samples, seed, extend,
                                                None if extras is None else extras.fields)
        return made

    def _forecast_on(self, stream: Any, series: Any, horizon: int | None, samples: int | None, seed: int, extend: bool,
                     extras: tuple[Any, Any, Any]) -> DeviceForecast:
        service, on = self._service, stream_address(stream)
        on_device = device_array(series, on, self._device, service.wait_stream)
        if on_device is None:
            _, values = _values_of(series)
            address, shape = values.ctypes.data, values.shape
            strides = tuple(one // values.itemsize for one in values.strides)
            _check_axes(shape)
            read = None  # when the call returns
        else:
            address, shape, strides, kept = on_device
            read = series, kept
        future, observed, groups = extras
        more = None
        if future is not None or observed is not None or groups is not None:
            more = _Extras(future, observed, groups, shape)
        with self._puts:
            made = service.forecast_on(on, on_device is not None, address, shape, strides, horizon, samples, seed, extend,
                                       None if more is None else more.fields)
            self._being_read[made[4]] = read
        return DeviceForecast(made, len(shape), on, self._device, self.levels, service.wait_stream, (read, stream, self))


class _Extras:
    """What most requests lack, and where it lies."""

    def __init__(self, future: Any, observed: Any, groups: Any, shape: tuple[int, ...]) -> None:
        batch, variates = (1, 1, *shape)[-3:-1]
        exogenous, future_steps, known_at, known_observed_at, observed_at, groups_at = 0, 0, 0, 0, 0, 0
        self.kept: list[npt.NDArray[Any]] = []
        if future is not None:
            known = _known_future(future, batch, variates)
            exogenous, future_steps = known.shape[1], known.shape[2]
            known_at = self._kept(known) if exogenous else 0  # of no variate, none is known
            gaps = np.isnan(known)
            if gaps.any():
                known_observed_at = self._kept(np.ascontiguousarray(~gaps))
        if observed is not None:
            observed_at = self._kept(_array_like(observed, np.bool_, "observed", shape))
        if groups is not None:
            groups_at = self._kept(
                _array_like(groups, np.int32, "groups", (batch, variates), (variates,) if batch == 1 else ()))

        #: As the structure of C has them: addresses and numbers.
        self.fields = (observed_at, groups_at, exogenous, known_at, known_observed_at, future_steps)

    def _kept(self, array: npt.NDArray[Any]) -> int:
        self.kept.append(array)
        return array.ctypes.data


def _reopened(checkpoint: str, package: str, mode: str | None, threads: int, device: int) -> Model:
    return Model(checkpoint, read_header(package), mode, threads, device)


def _count(name: str, given: Any) -> int:
    try:
        number = operator.index(given)
    except TypeError:
        number = -1
    if not 0 <= number < 2**31:
        raise ValueError(f"The {name} are a whole number, 0 or more, of 32 bits; found {given!r}.")
    return number


def _check_axes(shape: tuple[int, ...]) -> None:
    if not 1 <= len(shape) <= 3:
        raise ValueError("A series has the axes [steps], [variates, steps] or [batch, variates, steps]; found the shape "
                         f"{shape}.")


def _array_like(given: Any, dtype: Any, name: str, *shapes: tuple[int, ...]) -> npt.NDArray[Any]:
    try:
        found = np.asarray(given.to_numpy()).T if _is_frame(given) else np.asarray(given)
    except TypeError as error:  # of a tensor on a device
        raise ValueError(f"The {name} are read on the host: {error}") from None
    if dtype is np.int32 and found.size and (
        found.dtype.kind not in "biuf" or not (found == np.trunc(found)).all()
        or found.max() > 2**31 - 1 or found.min() < -(2**31)
    ):
        span = f", from {found.min()} to {found.max()}" if found.dtype.kind in "biuf" else ""
        raise ValueError(f"The {name} are whole numbers of 32 bits; found {found.dtype}{span}.")
    try:
        array = np.ascontiguousarray(found, dtype=dtype)
    except (TypeError, ValueError) as error:  # of what is missing
        raise ValueError(f"The {name} cannot be read as {np.dtype(dtype)}: {error}.") from None
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
    """The names of the variates, where they have any, and the values: aligned float32, nothing copied that need not be."""
    pandas = sys.modules.get("pandas")  # no series of it exists without
    names: Sequence[Any] | None = None
    if hasattr(series, "__dlpack__") and not isinstance(series, np.ndarray):
        array = _from_dlpack(series)
    elif pandas is not None and isinstance(
            series, (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)):
        for dtype in [series.dtype] if series.ndim == 1 else list(series.dtypes):
            if getattr(dtype, "kind", None) in ("m", "M"):  # which become numbers of nanoseconds
                raise ValueError(f"A series is of numbers; found {dtype}. Put times into the index.")
            if getattr(dtype, "kind", None) == "c":  # which lose their imaginary parts
                raise ValueError(f"A series is of numbers; found {dtype}.")
        try:
            array = series.to_numpy(dtype=np.float32, na_value=np.nan)
        except (TypeError, ValueError) as error:  # of objects
            raise ValueError(f"A series is of numbers; found others: {error}.") from None
        if array.ndim == 2:
            names, array = list(series.columns), array.T
        elif hasattr(series, "name"):
            names = [series.name]
    elif _is_frame(series):  # such as of Polars
        names = list(series.columns)
        columns = [np.asarray(series[name]) for name in names]  # one by one: together, times become numbers
        for column in columns:
            if column.dtype.kind not in "biuf":
                raise ValueError(f"A series is of numbers; found {column.dtype}.")
        array = np.array(columns, np.float32)
    elif isinstance(series, np.ma.MaskedArray) and series.dtype.kind in "biuf":
        array = series.astype(np.float32).filled(np.nan)
    else:
        array = np.asarray(series)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"A series is of numbers; found {array.dtype}.")
    array = array.astype(np.float32, copy=False)
    # One that is a number broadcast has no strides, which C takes for row-major.
    if (not array.flags.aligned or array.dtype.byteorder not in "=|" or not any(array.strides)
            or any(stride % array.itemsize for stride in array.strides)):
        array = np.array(array, np.float32)
    array = array.view(np.float32)  # a type that was pickled is equal to NumPy's own one, and another object
    return names, array


def _is_frame(given: Any) -> bool:
    """Whether it has a column for each variate, as tables of pandas and Polars have."""
    return hasattr(given, "columns") and hasattr(given, "to_numpy")


_HOSTS = (1, 3, 11)  # DLPack's numbers of memory that the processor reads: the host's, and pinned for CUDA or ROCm


def _from_dlpack(tensor: Any) -> npt.NDArray[Any]:
    if int(tensor.__dlpack_device__()[0]) not in _HOSTS:
        raise ValueError("The series lies in the memory of a device. Copy it to the host, as PyTorch's .cpu() does, or "
                         "name its stream to a package for CUDA (stream=).")
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError) as error:
        reason = f": {error}" if str(error) else ""
        raise ValueError(f"The series cannot be read by DLPack{reason}. Make it float32, without gradients.") from None


def _refuse_request(horizon: Any, samples: Any, seed: Any, extend: Any, error: Exception | None) -> NoReturn:
    if error is None:
        what, value = ("samples", samples) if horizon is None or horizon >= 1 else ("horizon", horizon)
        raise ValueError(f"The {what} cannot be {value}.")
    raise ValueError(
        f"The horizon ({horizon!r}), samples ({samples!r}), seed ({seed!r}) and extend ({extend!r}) are whole numbers, a "
        f"seed from 0 to 2^64 - 1, and extend True or False: {error}."
    )


_native.set_up(Forecast, _values_of, _refuse_request)
atexit.register(_native.keep_what_is_lent)
