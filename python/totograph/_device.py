# SPDX-License-Identifier: Apache-2.0
"""Series and results in the memory of a CUDA device, by `__cuda_array_interface__`, as PyTorch, CuPy and Numba have it, or
by DLPack, which JAX and TensorFlow have."""

from __future__ import annotations

import ctypes as c
import math
from typing import Any, NamedTuple

from . import _native


class DeviceArray(NamedTuple):
    """Where an array lies; strides count elements."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    owner: Any = None  #: Of the memory, beside the array that was given.


_CUDA = 2  # DLPack's number of that memory


def device_array(given: Any, stream: int) -> DeviceArray | None:
    """An array of float32 in a device's memory, that may be read on the stream; None for what lies elsewhere. Raises
    `ValueError` for what is of another type, or not handed out."""
    try:
        interface = getattr(given, "__cuda_array_interface__", None)
        is_on_device = interface is not None or (
            hasattr(given, "__dlpack_device__") and int(given.__dlpack_device__()[0]) == _CUDA)
        capsule = None
        if is_on_device and interface is None:
            capsule = given.__dlpack__(stream=stream or 1)  # 1 is the default stream
    except (BufferError, RuntimeError, TypeError) as error:  # of a tensor with gradients, say
        raise ValueError(f"The series cannot be read where it lies: {error}. Make it float32, without gradients.") from None
    if not is_on_device:
        return None
    found = _of_capsule(capsule) if interface is None else _of_interface(interface, stream)
    if any(one < 0 for one in found.strides):
        raise ValueError(f"A series on a device has rows that ascend in memory; found strides of {found.strides}.")
    if not any(found.strides) and math.prod(found.shape) > 1:  # which C takes for row-major
        raise ValueError("A series on a device that repeats one number has no memory for each step. Make it contiguous.")
    return found


def _of_interface(interface: dict[str, Any], stream: int) -> DeviceArray:
    shape = tuple(int(one) for one in interface["shape"])
    if interface["typestr"] != "<f4" or interface.get("mask") is not None or not 1 <= len(shape) <= 3:
        raise _refused(interface["typestr"], shape)
    made_on = interface.get("stream")
    if made_on is not None and int(made_on) != (stream or 1):  # 1 is the default stream
        raise ValueError(f"The series is made on the stream {made_on}, and would be read on {stream or 1}. Forecast on its "
                         "own stream, or make the other one current before you hand it over.")
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(4 * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if any(one % 4 for one in strides):
        raise ValueError(f"A series on a device has rows of whole elements; found strides of {tuple(strides)} bytes.")
    return DeviceArray(int(interface["data"][0]), shape, tuple(int(one) // 4 for one in strides))


def _of_capsule(capsule: Any) -> DeviceArray:
    is_float32, address, shape, strides = _native.layout_of(capsule)
    if not is_float32 or not 1 <= len(shape) <= 3:
        raise _refused("float32" if is_float32 else "another type", shape)
    return DeviceArray(address, shape, strides, capsule)


def _refused(kind: str, shape: tuple[int, ...]) -> ValueError:
    return ValueError("A series on a device is of float32 without a mask, [steps], [variates, steps] or [batch, variates, "
                      f"steps]; found {kind} of the shape {shape}.")


def stream_address(stream: Any) -> int:
    """The `cudaStream_t` of a stream: a number, or an object of PyTorch (`cuda_stream`), CuPy or Numba (`ptr`, `handle`)."""
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            stream = getattr(stream, name)
    stream = getattr(stream, "value", stream)
    if not isinstance(stream, int) or isinstance(stream, bool) or stream < 0:
        raise ValueError(f"A stream is a number, or an object of PyTorch, CuPy or Numba; found {stream!r}.")
    return stream


class DeviceForecast:
    """A result in the memory of the device, which PyTorch and CuPy read without a copy: `torch.as_tensor`,
    `cupy.asarray`, and by DLPack who reads on the stream of the forecast, as `torch.from_dlpack` does where that is the
    current one. It is there when what is on the stream has run, and is overwritten by the model's next forecast. `lead`
    stands for the axes of the series before its steps."""

    def __init__(self, made: tuple[int, int, int, int, int, int], rank: int, stream: int, device: int,
                 levels: tuple[float, ...], owner: Any):
        *shape, self._address, self._not_finite = made
        self._shape = tuple(shape[3 - rank :])
        self._owner, self._stream, self._device = owner, stream, device  # what the memory belongs to stays
        #: Of the last axis, where the model forecasts quantiles; else empty.
        self.levels = levels

    @property
    def shape(self) -> tuple[int, ...]:
        """`[*lead, horizon, values]`: samples, quantiles at `levels`, or one for the mean."""
        return self._shape

    @property
    def is_finite(self) -> bool:
        """Whether the model gave a finite number for each value; ask when the stream has been waited for."""
        return c.c_uint32.from_address(self._not_finite).value == 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # 1 is the default stream, which 0 cannot name. PyTorch takes nothing that says it is read-only.
        return {"shape": self.shape, "typestr": "<f4", "data": (self._address, False), "version": 3, "strides": None,
                "stream": self._stream or 1}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._device

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """A capsule for who reads on the stream that the forecast was put onto, or waits by itself (-1). Raises
        `BufferError` for another stream."""
        if options.get("dl_device") not in (None, self.__dlpack_device__()) or options.get("copy"):
            raise BufferError("A forecast on a device is handed out there, and not copied.")
        if stream != -1 and (stream or 1) != (self._stream or 1):  # 1 is the default stream
            raise BufferError(f"The forecast is on the stream {self._stream}, and is to be read on {stream or 0}. Read it "
                              "on its own one, or wait for that and say so with stream=-1.")
        return _native.device_tensor(self._address, self._shape, self._device, self)
