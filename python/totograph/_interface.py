# SPDX-License-Identifier: Apache-2.0
"""The C interface of a package (`totograph/c/totograph.h`). Calls through ctypes release the interpreter's lock."""

from __future__ import annotations

import ctypes as c
from typing import Any

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


_handle = c.c_void_p
_place = c.POINTER(c.c_void_p)
_strides = c.POINTER(c.c_int64)
_error = c.POINTER(totograph_error)
# Of functions that return a status: all arguments but the last, which is the error.
_CALLS: dict[str, list[Any]] = {
    "model_open": [c.c_char_p, _place],
    "model_describe": [_handle, c.POINTER(totograph_model_facts)],
    "service_create": [_handle, c.POINTER(totograph_service_options), _place],
    "service_warm_up": [_handle, c.c_int32],
    "service_metrics": [_handle, c.c_char_p, _place],
    "service_forecast": [_handle, c.POINTER(totograph_series), c.POINTER(totograph_request), _place],
    "forecast_describe": [_handle, c.POINTER(totograph_forecast_facts)],
    "forecast_quantiles": [_handle, c.POINTER(c.c_double), c.c_uint64, _float_p, _strides],
    "forecast_mean": [_handle, _float_p, _strides],
    "forecast_stddev": [_handle, _float_p, _strides],
    "forecast_samples": [_handle, c.c_uint64, c.c_uint64, _float_p, _strides],
}
_FREES = ["model_close", "service_destroy", "forecast_release", "text_free"]

_EXCEPTIONS: dict[int, type[Exception]] = {4: FileNotFoundError, 5: OSError, 13: RuntimeError, 14: MemoryError,
                                           15: RuntimeError, 100: RuntimeError}


class Library:
    """A package that was loaded. Its functions lack the prefix `totograph_`, and raise what they report."""

    def __init__(self, header: PackageHeader) -> None:
        check_header(header)
        self.header = header
        try:
            self._library = c.CDLL(str(header.path.resolve()))
        except OSError as error:
            raise ValueError(f"The file '{header.path}' cannot be loaded: {error}.") from None
        for name, arguments in _CALLS.items():
            function = getattr(self._library, "totograph_" + name)
            function.argtypes = [*arguments, _error]
            function.restype = c.c_int32
        for name in _FREES:
            function = getattr(self._library, "totograph_" + name)
            function.argtypes = [_handle]
            function.restype = None
            setattr(self, name, function)

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function. Raises what it reports: `FileNotFoundError`, `OSError`, `MemoryError`, `RuntimeError`, or
        `ValueError` for everything that the caller can mend."""
        error = totograph_error()
        status = getattr(self._library, "totograph_" + name)(*arguments, error)
        if status != 0:
            raise _EXCEPTIONS.get(status, ValueError)(error.sentence.decode("utf-8", "replace"))

    def make(self, name: str, *arguments: Any) -> int:
        """Calls a function that writes a handle to its last place, and returns that."""
        handle = c.c_void_p()
        self.call(name, *arguments, handle)
        assert handle.value is not None
        return handle.value
