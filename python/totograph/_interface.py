# SPDX-License-Identifier: Apache-2.0
"""The C interface of a package (`totograph/c/totograph.h`). Calls through ctypes release the interpreter's lock."""

from __future__ import annotations

import ctypes as c
import struct
import threading
from typing import Any, Callable, NoReturn

import numpy.typing as npt

from ._header import PackageHeader, check_header

_float_p = c.POINTER(c.c_float)
_byte_p = c.POINTER(c.c_uint8)


class _Sized(c.Structure):
    """A structure that knows its size, which is its first field."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=c.sizeof(type(self)), **fields)


class totograph_error(_Sized):
    _fields_ = [("size", c.c_uint64), ("status", c.c_int32), ("sentence", c.c_char * 2036)]


class totograph_bucket(_Sized):
    _fields_ = [("size", c.c_uint64)] + [
        (name, c.c_int64) for name in ("batch", "variates", "context", "horizon", "samples", "exogenous")
    ]


class totograph_model_facts(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("name", c.c_char_p),
        ("buckets", c.c_uint64),
        ("patch_size", c.c_int64),
        ("levels", c.POINTER(c.c_double)),
        ("level_count", c.c_uint64),
        ("takes_future_gaps", c.c_int32),
        ("takes_groups_by_step", c.c_int32),
    ]


class totograph_service_options(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("mode", c.c_char_p),
        ("threads", c.c_int32),
        ("device", c.c_int32),
        ("only", c.POINTER(totograph_bucket)),
    ]


class totograph_series(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("steps", c.c_int64),
        ("values", _float_p),
        ("values_strides", c.c_int64 * 3),
        ("observed", _byte_p),
        ("observed_strides", c.c_int64 * 3),
        ("groups", c.POINTER(c.c_int32)),
        ("exogenous", c.c_int64),
        ("future_exogenous", _float_p),
        ("future_observed", _byte_p),
        ("future_steps", c.c_int64),
        ("first_series", c.c_uint32),
        ("nan_is_gap", c.c_int32),
    ]


class totograph_request(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("horizon", c.c_int64),
        ("samples", c.c_int64),
        ("seed", c.c_uint64),
        ("first_sample", c.c_uint32),
        ("refuse_long_context", c.c_int32),
        ("extend", c.c_int32),
        ("reserved", c.c_int32),
    ]


class totograph_forecast_facts(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("horizon", c.c_int64),
        ("samples", c.c_int64),
        ("context", c.c_int64),
        ("not_finite", c.c_int64),
        ("values", _float_p),
        ("levels", c.POINTER(c.c_double)),
        ("level_count", c.c_uint64),
    ]


class totograph_device_forecast(_Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("horizon", c.c_int64),
        ("value_count", c.c_int64),
        ("values", _float_p),
        ("not_finite", c.POINTER(c.c_uint32)),
    ]


SERIES_ON_DEVICE = 1

_handle = c.c_void_p
_address = c.c_void_p  # of what the caller has: conversions of typed pointers take longer than some calls
# Of functions that return a status: all arguments but the last, which is the error.
_CALLS: dict[str, list[Any]] = {
    "model_open": [c.c_char_p, _address],
    "model_describe": [_handle, _address],
    "model_bucket": [_handle, c.c_uint64, _address],
    "service_create": [_handle, _address, _address],
    "service_warm_up": [_handle, c.c_int32],
    "service_metrics": [_handle, c.c_char_p, _address],
    "service_forecast": [_handle, _address, _address, _address],
    "service_forecast_on": [_handle, _address, _address, _address, c.c_uint32, _address],
    "forecast_describe": [_handle, _address],
    "forecast_quantiles": [_handle, _address, c.c_uint64, _address, _address],
    "forecast_mean": [_handle, _address, _address],
    "forecast_stddev": [_handle, _address, _address],
    "forecast_samples": [_handle, c.c_uint64, c.c_uint64, _address, _address],
}
_FREES = ["model_close", "service_destroy", "forecast_release", "text_free"]

_EXCEPTIONS: dict[int, type[Exception]] = {4: FileNotFoundError, 5: OSError, 13: RuntimeError, 14: MemoryError,
                                           15: RuntimeError, 100: RuntimeError}


class _RequestAndSeries(c.Structure):
    _fields_ = [("request", totograph_request), ("series", totograph_series)]


class Scratch:
    """What calls of a thread write to, made once."""

    __slots__ = ("error", "error_at", "place", "place_at", "call", "request_at", "series_at")

    def __init__(self) -> None:
        self.error = totograph_error()
        self.error_at = c.addressof(self.error)
        self.place = c.c_void_p()
        self.place_at = c.addressof(self.place)
        self.call = _RequestAndSeries()
        self.request_at = c.addressof(self.call)
        self.series_at = self.request_at + _RequestAndSeries.series.offset


class _Threads(threading.local):
    def __init__(self) -> None:
        self.scratch = Scratch()


threads = _Threads()  #: `threads.scratch` is that of this thread.


# All fields of both structures in one call; the tests compare it with their layout.
pack_call = struct.Struct("@QqqQIiii" "Q3qP3qP3qPqPPqIi").pack_into


class Library:
    """A package that was loaded. Its functions lack the prefix `totograph_`."""

    def __init__(self, header: PackageHeader) -> None:
        check_header(header)
        self.header = header
        try:
            self._library = c.CDLL(str(header.path.resolve()))
        except OSError as error:
            raise ValueError(f"The file '{header.path}' cannot be loaded: {error}.") from None
        self.functions: dict[str, Callable[..., int]] = {}
        for name, arguments in _CALLS.items():
            if name == "service_forecast_on" and not hasattr(self._library, "totograph_" + name):
                continue  # a package from before there was one
            function = getattr(self._library, "totograph_" + name)
            function.argtypes = [*arguments, _address]
            function.restype = c.c_int32
            self.functions[name] = function
        for name in _FREES:
            function = getattr(self._library, "totograph_" + name)
            function.argtypes = [_handle]
            function.restype = None
        self.model_close = self._library.totograph_model_close
        self.service_destroy = self._library.totograph_service_destroy
        self.forecast_release = self._library.totograph_forecast_release
        self.text_free = self._library.totograph_text_free

    @property
    def scratch(self) -> Scratch:
        """That of this thread."""
        scratch: Scratch = threads.scratch
        return scratch

    def fail(self, status: int) -> NoReturn:
        """Raises what the last call of this thread reported: `FileNotFoundError`, `OSError`, `MemoryError`,
        `RuntimeError`, or `ValueError` for everything that the caller can mend."""
        raise _EXCEPTIONS.get(status, ValueError)(self.scratch.error.sentence.decode("utf-8", "replace"))

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function. Raises what it reports."""
        status = self.functions[name](*arguments, self.scratch.error_at)
        if status != 0:
            self.fail(status)

    def make(self, name: str, *arguments: Any) -> int:
        """Calls a function that writes a handle to its last place, and returns that."""
        scratch = self.scratch
        self.call(name, *arguments, scratch.place_at)
        assert scratch.place.value is not None
        return scratch.place.value


def address_of(array: npt.NDArray[Any]) -> int:
    """Where an array's first element lies."""
    try:
        return c.addressof(c.c_char.from_buffer(array))  # the quickest way, for what is contiguous and may be written
    except (TypeError, ValueError, BufferError):
        address: int = array.ctypes.data
        return address
