# SPDX-License-Identifier: Apache-2.0
"""Series and results in the memory of a CUDA device, by DLPack, as PyTorch, CuPy and JAX have it, or by
`__cuda_array_interface__`, which Numba has."""

from __future__ import annotations

import ctypes as c
import math
from typing import Any, Callable, Tuple

from . import _native

#: Where an array lies, its shape, its strides in elements, and who owns the memory beside the array that was given.
DeviceArray = Tuple[int, Tuple[int, ...], Tuple[int, ...], Any]

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's numbers of that memory
_DEFAULT_STREAM = 1  # as DLPack and `__cuda_array_interface__` name it; 0 is no name there


def device_array(given: Any, stream: int, device: int, wait_stream: Callable[[int, int], None]) -> DeviceArray | None:
    """An array of float32 in a device's memory, that may be read on the stream; None for what lies elsewhere.
    `wait_stream(stream, other)` lets a stream wait for another one. Raises `ValueError` for what is of another type, of
    another device, or not handed out."""
    made_on, capsule, interface = None, None, None
    try:
        # Of a library that has it, such as PyTorch, and without Python in between.
        exchange = getattr(type(given), "__dlpack_c_exchange_api__", None)
        view = None if exchange is None else _native.view_of(exchange, given)
        if view is not None:
            kind, number, made_on, layout = view
        elif hasattr(given, "__dlpack_device__"):
            kind, number = given.__dlpack_device__()
        else:
            interface = getattr(given, "__cuda_array_interface__", None)
            if interface is None:
                return None
            layout, made_on = _of_interface(interface)
        if interface is None:
            if kind not in (_CUDA, _CUDA_MANAGED):
                return None
            if kind == _CUDA and number != device:
                raise ValueError(f"The series lies on the device {number}, and the model forecasts on {device}. Copy it "
                                 "there, or load the model for its device.")
            if view is None:
                capsule = given.__dlpack__(stream=stream or _DEFAULT_STREAM)  # which waits for its library's current one
                layout = _native.layout_of(capsule)
    except (BufferError, RuntimeError, TypeError) as error:  # of a tensor with gradients, say
        raise ValueError(f"The series cannot be read where it lies: {error}. Make it float32, without gradients.") from None
    is_float32, address, shape, strides = layout
    if made_on is not None and (made_on or _DEFAULT_STREAM) != (stream or _DEFAULT_STREAM):
        wait_stream(stream, made_on)
    if not is_float32 or not 1 <= len(shape) <= 3:
        raise ValueError("A series on a device is of float32 without a mask, [steps], [variates, steps] or [batch, variates, "
                         f"steps]; found {'float32' if is_float32 else 'another type'} of the shape {shape}.")
    if not any(strides) and math.prod(shape) > 1:  # which C takes for row-major
        raise ValueError("A series on a device that repeats one number has no memory for each step. Make it contiguous.")
    return address, shape, strides, capsule


def _of_interface(
    interface: dict[str, Any],
) -> tuple[tuple[bool, int, tuple[int, ...], tuple[int, ...]], int | None]:
    shape = tuple(int(one) for one in interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(4 * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if any(one % 4 for one in strides):
        raise ValueError(f"A series on a device has rows of whole elements; found strides of {tuple(strides)} bytes.")
    is_float32 = interface["typestr"] == "<f4" and interface.get("mask") is None
    made_on = interface.get("stream")
    layout = is_float32, int(interface["data"][0]), shape, tuple(int(one) // 4 for one in strides)
    return layout, None if made_on is None else int(made_on)


def stream_address(stream: Any) -> int:
    """The `cudaStream_t` of a stream: a number, or an object of PyTorch (`cuda_stream`), CuPy or Numba (`ptr`, `handle`)."""
    if type(stream) is int and stream >= 0:
        return stream
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            stream = getattr(stream, name)
    stream = getattr(stream, "value", stream)
    if not isinstance(stream, int) or isinstance(stream, bool) or stream < 0:
        raise ValueError(f"A stream is a number, or an object of PyTorch, CuPy or Numba; found {stream!r}.")
    return stream


class DeviceForecast:
    """A result in the memory of the device, which other libraries read without a copy: by DLPack (`torch.from_dlpack`,
    `cupy.from_dlpack`, `jax.dlpack.from_dlpack`), whose readers' stream is made to wait for the forecast's, or by
    `__cuda_array_interface__`, which names that stream. It is overwritten by the model's next forecast of the same size:
    readers on other streams must have ended before that. `lead` stands for the axes of the series before its steps."""

    def __init__(self, made: tuple[int, int, int, int, int, int], rank: int, stream: int, device: int,
                 levels: tuple[float, ...], wait_stream: Callable[[int, int], None], owner: Any):
        self._made, self._rank, self._stream, self._device = made, rank, stream, device
        self._wait_stream, self._owner = wait_stream, owner  # what the memory belongs to stays
        #: Of the last axis, where the model forecasts quantiles; else empty.
        self.levels = levels

    @property
    def shape(self) -> tuple[int, ...]:
        """`[*lead, horizon, values]`: samples, quantiles at `levels`, or one for the mean."""
        return self._made[3 - self._rank : 4]

    @property
    def is_finite(self) -> bool:
        """Whether each value is a finite number, and each observed one of the series was; ask when the stream has been
        waited for."""
        return c.c_uint32.from_address(self._made[5]).value == 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # PyTorch takes nothing that says it is read-only.
        return {"shape": self.shape, "typestr": "<f4", "data": (self._made[4], False), "version": 3, "strides": None,
                "stream": self._stream or _DEFAULT_STREAM}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._device

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """A capsule for who reads on a stream, which waits for that of the forecast; -1: who waits by itself."""
        if options.get("dl_device") not in (None, self.__dlpack_device__()) or options.get("copy"):
            raise BufferError("A forecast on a device is handed out there, and not copied.")
        reader, own = stream or _DEFAULT_STREAM, self._stream or _DEFAULT_STREAM
        if reader not in (-1, own):
            self._wait_stream(reader, own)
        return _native.device_tensor(self._made[4], self.shape, self._device, self)
