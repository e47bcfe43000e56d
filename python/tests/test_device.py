# SPDX-License-Identifier: Apache-2.0
"""Forecasts on a CUDA device. They need one, PyTorch, and the package of the test cuda/package."""
import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
from support import CHECKPOINT, PACKAGE, waves

import totograph as tg

if "TOTOGRAPH_TEST_DEVICE_PACKAGE" not in os.environ:
    pytest.skip("TOTOGRAPH_TEST_DEVICE_PACKAGE names no package for CUDA", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

SERIES = waves(3, 80) + np.linspace(0, 2, 240, dtype=np.float32).reshape(3, 80)
HORIZON = 32


@pytest.fixture(scope="module")
def on_device():
    return tg.load(CHECKPOINT, os.environ["TOTOGRAPH_TEST_DEVICE_PACKAGE"], device="cuda")


@pytest.fixture(scope="module")
def mean(on_device):
    return on_device.forecast(SERIES, horizon=HORIZON, samples=0).mean


def test_it_forecasts_what_the_processor_does(mean):
    expected = tg.load(CHECKPOINT, PACKAGE).forecast(SERIES, horizon=HORIZON, samples=0).mean
    # GEMMs in bf16 move forecasts of so small a model by 1% of a series' scale (examples/models/demo_cuda.cu).
    assert np.abs(mean - expected).max() < 0.03 * np.abs(expected).max()


def a_while():
    """Keeps the current stream busy for longer than a forecast takes."""
    torch.cuda._sleep(1_000_000_000)


@pytest.mark.parametrize("place", ["host", "device", "device, transposed", "only DLPack", "only an interface"])
def test_a_forecast_is_put_onto_a_stream_of_pytorch(on_device, mean, place):
    stream = torch.cuda.Stream()
    expected = torch.from_numpy(mean)
    with torch.cuda.stream(stream):
        pinned = torch.from_numpy(SERIES).pin_memory()
        pinned.cuda().T.contiguous()[..., 0].clone()  # loads the kernels, which waits for the device
        a_while()  # what fills the series has not run when the forecast is asked for
        given = pinned.to("cuda", non_blocking=True)
        if place == "device, transposed":
            given = given.T.contiguous().T
        if place == "only DLPack":
            given = OnlyDlpack(given)
        if place == "only an interface":
            given = OnlyInterface(given, stream)
        made = on_device.forecast(SERIES if place == "host" else given, horizon=HORIZON, samples=0, stream=stream)
        assert made.shape == (3, HORIZON, 1)
        shared = [torch.as_tensor(made, device="cuda"), torch.from_dlpack(made)]
        copies = [one[..., 0].clone() for one in shared]
    assert not stream.query()  # nobody has waited
    stream.synchronize()
    assert made.is_finite
    for one, copy in zip(shared, copies):
        assert one.data_ptr() == made.__cuda_array_interface__["data"][0] and tuple(one.shape) == made.shape
        assert torch.equal(copy.cpu(), expected)  # the same kernels on the same inputs


@pytest.mark.parametrize("place", ["device", "only an interface"])
def test_a_series_and_a_reader_may_be_on_other_streams(on_device, mean, place):
    makes, forecasts, reads = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(makes):
        pinned = torch.from_numpy(SERIES).pin_memory()
        a_while()
        series = pinned.to("cuda", non_blocking=True)
        given = OnlyInterface(series, makes) if place == "only an interface" else series
        made = on_device.forecast(given, horizon=HORIZON, samples=0, stream=forecasts)
    with torch.cuda.stream(reads):
        copy = torch.from_dlpack(made)[..., 0].clone()
    assert not reads.query() and not forecasts.query()
    reads.synchronize()
    assert torch.equal(copy.cpu(), torch.from_numpy(mean))


def test_gaps_and_what_cannot_be_used_of_a_series_on_the_device(on_device):
    series = SERIES.copy()
    series[1, 20:31] = np.nan
    expected = on_device.forecast(series, horizon=HORIZON, samples=0).mean
    made = on_device.forecast(torch.from_numpy(series).cuda(), horizon=HORIZON, samples=0, stream=0)
    torch.cuda.synchronize()
    assert made.is_finite
    assert torch.equal(torch.as_tensor(made, device="cuda")[..., 0].cpu(), torch.from_numpy(expected))
    seen = np.isfinite(series)
    series[1, 20:31] = 5
    expected = on_device.forecast(series, horizon=HORIZON, samples=0, observed=seen).mean
    marked = on_device.forecast(torch.from_numpy(series).cuda(), horizon=HORIZON, samples=0, stream=0, observed=seen)
    torch.cuda.synchronize()
    assert marked.is_finite
    assert torch.equal(torch.as_tensor(marked, device="cuda")[..., 0].cpu(), torch.from_numpy(expected))
    with pytest.raises(ValueError, match="observed are read on the host"):
        on_device.forecast(series, horizon=HORIZON, stream=0, observed=torch.from_numpy(seen).cuda())
    for wrong in (np.inf, np.nan):
        series[2] = wrong
        made = on_device.forecast(torch.from_numpy(series).cuda(), horizon=HORIZON, samples=0, stream=0)
        torch.cuda.synchronize()
        assert not made.is_finite


def test_a_result_outlives_its_model(mean):
    model = tg.load(CHECKPOINT, os.environ["TOTOGRAPH_TEST_DEVICE_PACKAGE"], device="cuda:0")
    made = torch.from_dlpack(model.forecast(SERIES, horizon=HORIZON, samples=0, stream=torch.cuda.current_stream()))
    del model
    torch.cuda.synchronize()
    assert torch.equal(made[..., 0].cpu(), torch.from_numpy(mean))


def test_a_series_and_its_stream_stay_until_they_have_been_used(on_device):
    series, stream = torch.from_numpy(SERIES).cuda(), torch.cuda.Stream()
    of_series, of_stream = weakref.ref(series), weakref.ref(stream)
    made = on_device.forecast(series, horizon=HORIZON, samples=0, stream=stream)
    del series, stream
    assert of_series() is not None and of_stream() is not None
    torch.from_dlpack(made)  # lets its reader wait for the stream
    del made
    assert of_series() is not None  # the stream may not have read it
    on_device.forecast(SERIES, horizon=HORIZON, samples=0, stream=torch.cuda.current_stream())
    gc.collect()
    assert of_series() is None


def test_a_batch_on_the_default_stream(on_device, mean):
    made = on_device.forecast(torch.from_numpy(SERIES[None]).cuda(), horizon=HORIZON, samples=0, stream=0)
    assert made.shape == (1, 3, HORIZON, 1)
    assert torch.equal(torch.as_tensor(made, device="cuda")[0, ..., 0].cpu(), torch.from_numpy(mean))


def test_a_tensor_on_the_device_needs_a_stream(on_device):
    with pytest.raises(ValueError, match=r"memory of a device.*\(stream=\)"):
        on_device.forecast(torch.from_numpy(SERIES).cuda(), horizon=HORIZON)


def test_the_documents_lines_run(tmp_path, monkeypatch):
    text = (Path(__file__).parents[2] / "docs" / "packages.md").read_text()
    lines = next(one for one in text.split("```python\n") if one.startswith("import torch\n")).split("```")[0]
    (tmp_path / "demo.cuda.so").symlink_to(os.environ["TOTOGRAPH_TEST_DEVICE_PACKAGE"])
    (tmp_path / "checkpoint").symlink_to(CHECKPOINT)
    monkeypatch.setenv("TOTOGRAPH_PACKAGE_PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names = {"tg": tg, "series_on_the_device": torch.from_numpy(SERIES).cuda()}
    exec(lines, names)
    assert names["samples"].is_cuda and tuple(names["samples"].shape[:2]) == (3, 24)


def test_a_device_that_is_not_there_is_an_error():
    with pytest.raises(RuntimeError, match="device 999 was asked for, and there"):
        tg.load(CHECKPOINT, os.environ["TOTOGRAPH_TEST_DEVICE_PACKAGE"], device="cuda:999")


class OnlyDlpack:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class OnlyInterface:
    def __init__(self, tensor, stream):
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, "version": 3, "stream": stream.cuda_stream}
        self.tensor = tensor
