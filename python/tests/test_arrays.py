# SPDX-License-Identifier: Apache-2.0
"""Series in memory of all kinds, and results in that of a device."""
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support import Tensor, waves

from totograph import _device


def test_memory_is_read_as_it_lies(model):
    table = np.ascontiguousarray(waves(2, 48).T)  # rows of steps, as files have them
    expected = model.forecast(waves(2, 48), horizon=8, seed=7).samples()
    unaligned = np.empty(4 * 96 + 1, np.uint8)[1:].view(np.float32).reshape(2, 48)
    unaligned[:] = waves(2, 48)
    assert not unaligned.flags.aligned
    for same in [table.T, unaligned, pickle.loads(pickle.dumps(waves(2, 48))), waves(2, 96).reshape(2, 96)[:, :48] * 0 + waves(2, 48), waves(2, 48).astype(np.float64),
                 np.flip(np.flip(waves(2, 48), 1).copy(), 1), waves(2, 48).astype(">f4")]:
        np.testing.assert_array_equal(model.forecast(same, horizon=8, seed=7).samples(), expected)


def test_memory_is_read_where_it_lies_and_let_go(model):
    series = waves(2, 48)
    before = sys.getrefcount(series)
    for given in (series, Tensor(series), series.T.copy().T):
        for _ in range(3):
            f = model.forecast(given, horizon=8, quantiles=[0.5], seed=7)
            assert f.quantiles.base is None and f.mean.flags.owndata
    del given
    assert sys.getrefcount(series) == before
    # What may not be written is read all the same.
    fixed = waves(2, 48)
    fixed.flags.writeable = False
    np.testing.assert_array_equal(model.forecast(fixed, horizon=8, seed=7).samples(), f.samples())


def test_a_broadcast_number_is_read_once(model):
    ones = np.broadcast_to(np.float32(1), (48,))
    expected = model.forecast(np.ones(48, np.float32), horizon=8, seed=7).samples()
    np.testing.assert_array_equal(model.forecast(ones, horizon=8, seed=7).samples(), expected)


def test_tensors_with_dlpack_are_read(model):
    series = waves(2, 48)
    expected = model.forecast(series, horizon=8, seed=7)
    np.testing.assert_array_equal(model.forecast(Tensor(series), horizon=8, seed=7).samples(), expected.samples())
    np.testing.assert_array_equal(
        model.forecast(Tensor(series.T.copy().T), horizon=8, seed=7).samples(), expected.samples())
    np.testing.assert_array_equal(np.from_dlpack(expected.median), expected.median)  # and out
    with pytest.raises(ValueError, match="memory of a device"):
        model.forecast(Tensor(series, device=2), horizon=8)
    pinned = model.forecast(Tensor(series, device=3), horizon=8, seed=7)
    np.testing.assert_array_equal(pinned.samples(), expected.samples())


class OnDevice:
    """An array of PyTorch or CuPy, as far as it says where it lies."""

    def __init__(self, shape, typestr="<f4", strides=None, address=4096):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (address, False)}


def test_arrays_and_streams_of_a_device_are_understood():
    assert _device.device_array(OnDevice((2, 48))) == (4096, (2, 48), (48, 1))
    assert _device.device_array(OnDevice((2, 48), strides=(4, 8))) == (4096, (2, 48), (1, 2))
    assert _device.device_array(waves(48)) is None
    for wrong, says in [(OnDevice((48,), "<f8"), "found <f8"), (OnDevice((1, 1, 1, 4)), "of the shape"),
                        (OnDevice((48,), strides=(-4,)), "ascend"), (OnDevice((48,), strides=(2,)), "whole elements")]:
        with pytest.raises(ValueError, match=says):
            _device.device_array(wrong)
    for stream in (7, SimpleNamespace(cuda_stream=7), SimpleNamespace(ptr=7), SimpleNamespace(handle=SimpleNamespace(value=7))):
        assert _device.stream_address(stream) == 7
    for stream in ("7", True, -1, SimpleNamespace(ptr=None)):
        with pytest.raises(ValueError, match="A stream is a number"):
            _device.stream_address(stream)
    not_finite = np.zeros(1, np.uint32)
    result = _device.DeviceForecast((1, 2, 8, 9, 4096, not_finite.ctypes.data), 2, 0, (0.1, 0.9), None)
    assert result.shape == (2, 8, 9) and result.is_finite
    not_finite[0] = 3
    assert not result.is_finite
    interface = result.__cuda_array_interface__
    assert (interface["data"], interface["stream"], interface["typestr"]) == ((4096, False), 1, "<f4")


def test_a_package_for_the_processor_has_no_streams(model):
    for series in (waves(48), waves(2, 48), OnDevice((2, 48))):
        with pytest.raises(ValueError, match="has no streams"):
            model.forecast(series, horizon=8, stream=0)
    with pytest.raises(ValueError, match="horizon cannot be 0"):
        model.forecast(waves(48), horizon=0, stream=0)
