# SPDX-License-Identifier: Apache-2.0
"""Forecasts on a CUDA device. They need one, PyTorch, and the package of the test cuda/package."""
import os
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


@pytest.mark.parametrize("place", ["host", "device", "device, transposed", "only DLPack"])
def test_a_forecast_is_put_onto_a_stream_of_pytorch(on_device, mean, place):
    stream = torch.cuda.Stream()
    expected = torch.from_numpy(mean)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # what fills the series has not run when the forecast is asked for
        given = torch.from_numpy(SERIES).pin_memory().to("cuda", non_blocking=True)
        if place == "device, transposed":
            given = given.T.contiguous().T
        if place == "only DLPack":
            given = OnlyDlpack(given)
        made = on_device.forecast(SERIES if place == "host" else given, horizon=HORIZON, samples=0, stream=stream)
        assert made.shape == (3, HORIZON, 1)
        shared = [torch.as_tensor(made, device="cuda"), torch.from_dlpack(made)]
        copies = [one[..., 0].clone() for one in shared]
    stream.synchronize()
    assert made.is_finite
    for one, copy in zip(shared, copies):
        assert one.data_ptr() == made.__cuda_array_interface__["data"][0] and tuple(one.shape) == made.shape
        assert torch.equal(copy.cpu(), expected)  # the same kernels on the same inputs


def test_a_result_outlives_its_model(mean):
    model = tg.load(CHECKPOINT, os.environ["TOTOGRAPH_TEST_DEVICE_PACKAGE"], device="cuda:0")
    made = torch.from_dlpack(model.forecast(SERIES, horizon=HORIZON, samples=0, stream=torch.cuda.current_stream()))
    del model
    torch.cuda.synchronize()
    assert torch.equal(made[..., 0].cpu(), torch.from_numpy(mean))


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
