# SPDX-License-Identifier: Apache-2.0
"""Series in memory of all kinds, and results in that of a device."""
import ctypes
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support import Tensor, pointer_of, waves

from totograph import _device, _native


def test_memory_is_read_as_it_lies(model):
    table = np.ascontiguousarray(waves(2, 48).T)  # rows of steps, as files have them
    expected = model.forecast(waves(2, 48), horizon=8, seed=7).samples()
    unaligned = np.empty(4 * 96 + 1, np.uint8)[1:].view(np.float32).reshape(2, 48)
    unaligned[:] = waves(2, 48)
    assert not unaligned.flags.aligned
    pickled = pickle.loads(pickle.dumps(waves(2, 48)))
    for same in [table.T, unaligned, pickled, waves(2, 96).reshape(2, 96)[:, :48] * 0 + waves(2, 48), waves(2, 48).astype(np.float64),
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


def test_what_is_masked_is_a_gap(model):
    gaps = waves(2, 48)
    gaps[0, 3:7] = np.nan
    expected = model.forecast(gaps, horizon=8, seed=7).samples()
    masked = np.ma.masked_array(waves(2, 48), mask=np.isnan(gaps))
    np.testing.assert_array_equal(model.forecast(masked, horizon=8, seed=7).samples(), expected)
    whole = np.ma.masked_array(np.arange(48), mask=np.arange(48) == 3)
    holed = np.where(np.arange(48) == 3, np.nan, np.arange(48))
    np.testing.assert_array_equal(
        model.forecast(whole, horizon=8, seed=7).samples(), model.forecast(holed, horizon=8, seed=7).samples())
    with pytest.raises(ValueError, match="of numbers"):
        model.forecast(np.ma.masked_array(["a", "b"]), horizon=8)


class Hiding:
    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error(f"no {name}")


def test_errors_of_what_is_given_are_its_own(model):
    with pytest.raises(KeyboardInterrupt):
        model.forecast(Hiding(KeyboardInterrupt), horizon=8)


def test_a_broadcast_number_is_read_once(model):
    ones = np.broadcast_to(np.float32(1), (48,))
    expected = model.forecast(np.ones(48, np.float32), horizon=8, seed=7).samples()
    np.testing.assert_array_equal(model.forecast(ones, horizon=8, seed=7).samples(), expected)


def test_an_empty_series_is_told_in_a_sentence(model):
    for shape in [(0,), (3, 0), (2, 3, 0)]:
        for empty in (np.zeros(shape, np.float32), np.zeros(shape), Tensor(np.zeros(shape, np.float32))):
            with pytest.raises(ValueError, match="the series is empty"):
                model.forecast(empty, horizon=8)
    for shape in [(0, 48), (0, 3, 48)]:
        with pytest.raises(ValueError, match="needs a batch and variates of at least 1"):
            model.forecast(np.zeros(shape, np.float32), horizon=8)
    with pytest.raises(ValueError, match="the series is empty"):
        model.forecast(np.zeros(0, np.float32), horizon=8, observed=np.zeros(0, bool))


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

    def __init__(self, shape, typestr="<f4", strides=None, address=4096, **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (address, False),
                                         **more}


class WithGradients:
    """A tensor of PyTorch on a device."""

    def __dlpack_device__(self):
        return (2, 3)

    def __dlpack__(self, **options):
        raise BufferError("Can't export tensors that require gradient")


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("device", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class DlExchange(ctypes.Structure):
    View = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(DlTensor))
    Stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("before", ctypes.c_void_p),
                ("others", ctypes.c_void_p * 3), ("view", View), ("stream", Stream)]


def Exchanged(array, kind, number, stream, fails=False, major=1):
    """A tensor whose library has DLPack's functions in C, as PyTorch has."""
    extents = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(one // 4 for one in array.strides))

    def view(_, out):
        if fails:
            return -1
        out[0] = DlTensor(array.ctypes.data, kind, number, array.ndim, 2, 32, 1, extents, strides, 0)
        return 0

    def current(_, __, out):
        out[0] = stream
        return 0

    functions = DlExchange(major, 3, None, (ctypes.c_void_p * 3)(), DlExchange.View(view), DlExchange.Stream(current))
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.argtypes, capsule.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
    made = capsule(ctypes.addressof(functions), b"dlpack_exchange_api", None)
    return type("Exchanged", (), {"__dlpack_c_exchange_api__": made, "kept": functions})()


def no_wait(stream, other):
    raise AssertionError(f"{stream} was made to wait for {other}")


def test_arrays_of_a_device_are_understood():
    waits = []

    def found(given, stream=0):
        return _device.device_array(given, stream, 3, lambda *streams: waits.append(streams))

    assert found(OnDevice((2, 48))) == (4096, (2, 48), (48, 1), None)
    assert found(OnDevice((2, 48), strides=(4, 8))) == (4096, (2, 48), (1, 2), None)
    assert found(OnDevice((1,), strides=(0,)))[2] == (0,)
    assert found(OnDevice((2, 48), strides=(0, -4)))[2] == (0, -1)
    assert found(waves(48)) is None
    assert found(Tensor(waves(48))) is None
    for stream, made_on in ((0, 1), (7, 7), (7, None)):
        assert found(OnDevice((48,), stream=made_on), stream)[0] == 4096
    assert waits == []
    for stream, made_on in ((0, 7), (7, 1), (7, 8)):
        found(OnDevice((48,), stream=made_on), stream)
    assert waits == [(0, 7), (7, 1), (7, 8)]
    series = waves(2, 48)
    lent = Tensor(series[:, ::2], device=2, number=3)  # as PyTorch, CuPy and JAX have it
    for stream, asked in ((7, 7), (0, 1)):  # which is the default one
        before = sys.getrefcount(lent.array)
        one = found(lent, stream)
        kept, place = sys.getrefcount(lent.array), one[:3]
        del one
        let_go = sys.getrefcount(lent.array)
        assert (kept, let_go) == (before + 1, before)  # the memory stays until it has been read
        assert place == (series.ctypes.data, (2, 24), (48, 2))
        assert lent.stream == asked
    managed = Tensor(waves(48), device=13)
    assert found(managed)[:2] == (managed.array.ctypes.data, (48,))
    backwards = Tensor(waves(48)[::-1], device=2, number=3)
    assert found(backwards)[:3] == (backwards.array.ctypes.data, (48,), (-1,))
    for wrong, says in [(OnDevice((48,), "<f8"), "found another type"), (OnDevice((48,), mask=1), "without a mask"), (OnDevice((1, 1, 1, 4)), "of the shape"),
                        (OnDevice((48,), strides=(2,)), "whole elements"),
                        (OnDevice((48,), strides=(0,)), "Make it contiguous"), (WithGradients(), "without gradients"),
                        (Tensor(waves(48), device=2, number=1), "on the device 1, and the model forecasts on 3"),
                        (Tensor(waves(48).astype(np.float64), device=2, number=3), "found another type"),
                        (Tensor(waves(1, 1, 1, 48), device=2, number=3), "of the shape")]:
        with pytest.raises(ValueError, match=says):
            found(wrong)


def test_tensors_are_viewed_by_the_functions_of_their_library():
    series = waves(2, 48)
    waits = []

    def found(tensor, stream):
        return _device.device_array(tensor, stream, 3, lambda *streams: waits.append(streams))

    viewed = Exchanged(series[:, ::2], 2, 3, stream=7)
    for stream in (7, 8, 0):
        assert found(viewed, stream) == (series.ctypes.data, (2, 24), (48, 2), None)
    assert waits == [(8, 7), (0, 7)]
    assert found(Exchanged(series, 1, 0, stream=7), 7) is None  # on the host
    with pytest.raises(ValueError, match="on the device 1, and the model forecasts on 3"):
        found(Exchanged(series, 2, 1, stream=7), 7)
    with pytest.raises(ValueError, match="cannot be read where it lies: its library gives no view"):
        found(Exchanged(series, 2, 3, stream=7, fails=True), 7)
    assert found(Exchanged(series, 2, 3, stream=7, major=2), 7) is None  # a version of later: other ways are tried


def test_streams_and_results_of_a_device_are_understood():
    for stream in (7, SimpleNamespace(cuda_stream=7), SimpleNamespace(ptr=7), SimpleNamespace(handle=SimpleNamespace(value=7))):
        assert _device.stream_address(stream) == 7
    for stream in ("7", True, -1, SimpleNamespace(ptr=None)):
        with pytest.raises(ValueError, match="A stream is a number"):
            _device.stream_address(stream)
    not_finite = np.zeros(1, np.uint32)
    result = _device.DeviceForecast((1, 2, 8, 9, 4096, not_finite.ctypes.data), 2, 0, 3, (0.1, 0.9), no_wait, None)
    assert result.shape == (2, 8, 9) and result.is_finite
    not_finite[0] = 3
    assert not result.is_finite
    interface = result.__cuda_array_interface__
    assert (interface["data"], interface["stream"], interface["typestr"]) == ((4096, False), 1, "<f4")


class SaysItIsOnTheHost:
    def __init__(self, result):
        self.result = result

    def __dlpack__(self, **options):
        capsule = self.result.__dlpack__(stream=-1)
        address = pointer_of(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
        ctypes.c_int32.from_address(address).value = 1
        return capsule

    def __dlpack_device__(self):
        return (1, 0)


def test_a_result_on_a_device_is_handed_out_and_kept_while_it_is_used():
    values = waves(1, 2, 8, 9)
    waits = []

    def made_on(stream):
        return _device.DeviceForecast((*values.shape, values.ctypes.data, 0), 3, stream, 3, (),
                                      lambda *streams: waits.append(streams), None)

    result = made_on(7)
    assert result.__dlpack_device__() == (2, 3)
    before = sys.getrefcount(result)
    for stream in (7, -1):
        capsule = result.__dlpack__(stream=stream, max_version=(1, 0))
        assert _native.layout_of(capsule) == (True, values.ctypes.data, values.shape, (144, 72, 9, 1))
        assert sys.getrefcount(result) == before + 1
        del capsule
        assert sys.getrefcount(result) == before
    taken = np.from_dlpack(SaysItIsOnTheHost(result))
    np.testing.assert_array_equal(taken, values)
    assert sys.getrefcount(result) == before + 1
    del taken
    assert sys.getrefcount(result) == before
    assert waits == []
    for stream in (8, 0, 1, None):  # each of which waits for that of the forecast
        result.__dlpack__(stream=stream)
    on_default = made_on(0)
    for stream in (7, 2, 0, 1, None):
        on_default.__dlpack__(stream=stream)
    assert waits == [(8, 7), (1, 7), (1, 7), (1, 7), (7, 1), (2, 1)]
    for options in ({"dl_device": (1, 0)}, {"copy": True}):
        with pytest.raises(BufferError, match="not copied"):
            result.__dlpack__(stream=7, **options)


class NoArray:
    """A tensor on a device, as far as NumPy asks."""

    def __array__(self, *arguments, **options):
        raise TypeError("no arrays here")


def test_a_package_for_the_processor_has_no_streams(model):
    for series in (waves(48), waves(2, 48), OnDevice((2, 48)), OnDevice((2, 48), stream=7)):
        with pytest.raises(ValueError, match="has no streams"):
            model.forecast(series, horizon=8, stream=0)
    for extras in ({"observed": np.ones((2, 48), bool)}, {"groups": np.array([0, 1])}, {"future": waves(1, 8)}):
        with pytest.raises(ValueError, match="has no streams"):
            model.forecast(waves(2, 48), horizon=8, stream=0, **extras)
    with pytest.raises(ValueError, match="horizon cannot be 0"):
        model.forecast(waves(48), horizon=0, stream=0)
    with pytest.raises(ValueError, match="groups are read on the host: no arrays here"):
        model.forecast(waves(2, 48), horizon=8, groups=NoArray())
