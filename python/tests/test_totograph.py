# SPDX-License-Identifier: Apache-2.0
import copy
import gc
import importlib.util
import json
import os
import pickle
import re
import runpy
import subprocess
import sys
import threading
import time
import weakref
from datetime import datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import totograph as tg
from totograph import _device
from totograph.__main__ import main as command_line
from totograph._table import Table

PACKAGE = Path(os.environ["TOTOGRAPH_TEST_PACKAGE"])
CHECKPOINT = Path(os.environ["TOTOGRAPH_TEST_CHECKPOINT"])


@pytest.fixture(scope="module")
def model():
    return tg.load(CHECKPOINT, PACKAGE)


def waves(*shape):
    return np.sin(0.3 * np.arange(np.prod(shape))).astype(np.float32).reshape(shape)


def test_forecasts_have_the_axes_of_their_series(model):
    for shape in [(48,), (2, 48), (3, 2, 48)]:
        f = model.forecast(waves(*shape), horizon=20, quantiles=[0.1, 0.5, 0.9], seed=7)
        assert f.quantiles.shape == (3, *shape[:-1], 20)
        assert f.median.shape == f.mean.shape == f.stddev.shape == (*shape[:-1], 20)
        assert f.samples().shape == (*shape[:-1], 20, 8)
        assert (f.horizon, f.context) == (20, 48)
        # NumPy computes them from the samples in another way.
        np.testing.assert_allclose(f.quantiles[0], np.quantile(f.samples(), 0.1, axis=-1), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(f.mean, f.samples().mean(-1), rtol=1e-5, atol=1e-5)


def test_memory_is_read_as_it_lies(model):
    table = np.ascontiguousarray(waves(2, 48).T)  # rows of steps, as files have them
    expected = model.forecast(waves(2, 48), horizon=8, seed=7).samples()
    for same in [table.T, waves(2, 96).reshape(2, 96)[:, :48] * 0 + waves(2, 48), waves(2, 48).astype(np.float64),
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


def test_forecasts_leave_nothing_behind(model):
    def spent(count):
        import tracemalloc

        tracemalloc.start()
        for _ in range(count):
            made = model.forecast(waves(2, 48), horizon=8, quantiles=[0.1, 0.9])
            made.quantiles, made.median, made.samples(), made.levels
            for wrong in ({"horizon": 1000}, {"horizon": 0}, {"seed": -1}):
                with pytest.raises(ValueError):
                    model.forecast(waves(2, 48), **wrong)
        del made
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size

    spent(20)
    assert spent(60) - spent(20) < 4000  # one object a forecast would be more


def test_only_a_model_makes_a_forecast(model):
    for make in (tg.Forecast, lambda: copy.copy(model.forecast(waves(48), horizon=8))):
        with pytest.raises(TypeError, match="made by Model.forecast|cannot pickle"):
            make()
    with pytest.raises(TypeError, match="Library"):
        type(model._service)(None, CHECKPOINT, None, 0)


def test_a_forecast_is_let_go_with_what_it_is_part_of(model):
    levels = [0.5]
    made = model.forecast(waves(48), horizon=8, quantiles=levels)
    levels.append(made)  # a circle
    there = weakref.ref(model.forecast(waves(48), horizon=8).median)
    del made, levels
    gc.collect()
    assert there() is None and not [one for one in gc.get_objects() if type(one) is tg.Forecast]


def test_a_broadcast_number_is_read_once(model):
    ones = np.broadcast_to(np.float32(1), (48,))
    expected = model.forecast(np.ones(48, np.float32), horizon=8, seed=7).samples()
    np.testing.assert_array_equal(model.forecast(ones, horizon=8, seed=7).samples(), expected)


def test_a_forecast_tells_whether_it_is_finite(model):
    assert model.forecast(waves(48), horizon=8).is_finite


def test_same_seed_same_samples(model):
    series = waves(48)
    first = model.forecast(series, horizon=8, seed=7).samples()
    np.testing.assert_array_equal(model.forecast(series, horizon=8, seed=7).samples(), first)
    assert (model.forecast(series, horizon=8, seed=8).samples() != first).any()


def test_nan_is_a_gap(model):
    series = waves(48)
    series[40:44] = np.nan
    assert np.isfinite(model.forecast(series, horizon=8).median).all()
    with pytest.raises(ValueError, match="has no observed value"):
        model.forecast(np.full(48, np.nan), horizon=8)


def test_means_and_known_futures(model):
    assert model.forecast(waves(48), horizon=8, samples=0).mean.shape == (8,)
    series = waves(2, 48)
    known = model.forecast(series, horizon=32, future=np.full((1, 32), 3.0), seed=7).median[0]
    unknown = model.forecast(series, horizon=32, seed=7).median[0]
    # The model takes 16 steps at a time: from the second time on it sees what is known of the first.
    np.testing.assert_array_equal(known[:16], unknown[:16])
    assert (known[16:] != unknown[16:]).any()


def test_mistakes_are_python_errors_with_a_sentence(model, tmp_path):
    with pytest.raises(ValueError, match="beyond the compiled|holds a request"):
        model.forecast(waves(48), horizon=1000)
    assert model.forecast(waves(48), horizon=40, extend=True).horizon == 40
    with pytest.raises(ValueError, match="the level must be between 0 and 1"):
        model.forecast(waves(48), quantiles=[1.5]).quantiles
    for levels in ["half", [0.1, "half"], 0.5]:
        with pytest.raises(ValueError, match="found (.half|.h.|0.5)"):
            model.forecast(waves(48), quantiles=levels).quantiles
    for wrong in [{"count": 0}, {"count": 8.0}, {"count": 8, "seed": -1}]:
        with pytest.raises(ValueError, match="count of samples"):
            model.forecast(waves(48)).samples(**wrong)
    with pytest.raises(ValueError, match="count must be|holds 8|samples"):
        model.forecast(waves(48)).samples(9)
    with pytest.raises(ValueError, match="has no samples"):
        model.forecast(waves(48), samples=0).stddev
    with pytest.raises(ValueError, match="axes"):
        model.forecast(np.zeros((1, 1, 1, 4)))
    with pytest.raises(ValueError, match="is of numbers"):
        model.forecast(["a", "b"])
    for wrong in [{"seed": -1}, {"seed": 2**64}, {"horizon": 24.0}]:
        with pytest.raises(ValueError, match="whole numbers"):
            model.forecast(waves(48), **wrong)
    for groups in [[0.5, 1.7], [2**40, 0]]:
        with pytest.raises(ValueError, match="whole numbers of 32 bits"):
            model.forecast(waves(2, 48), groups=groups)
    with pytest.raises(FileNotFoundError, match="no_such_folder"):
        tg.load(tmp_path / "no_such_folder", PACKAGE)
    with pytest.raises(FileNotFoundError, match="No such file"):
        tg.load(CHECKPOINT, tmp_path / "none.so")
    with pytest.raises(ValueError, match="expected one of: eager"):
        tg.load(CHECKPOINT, PACKAGE, mode="fastest")


def test_foreign_and_broken_packages_are_refused_before_they_run(tmp_path, monkeypatch):
    monkeypatch.setattr("totograph._native.Library", lambda path: pytest.fail(f"{path} was loaded"))
    whole = PACKAGE.read_bytes()
    file = tmp_path / "broken.so"
    for content, says in [
        (b"PK\3\4", "no shared library"),
        (b"", "no shared library"),
        (whole[:50], "was cut"),
        (whole[: len(whole) // 2], "was cut"),
        (whole.replace(b'"abi":1', b'"abi":9'), "version 9 of the C interface"),
        (whole.replace(b'"abi":1', b'"abi":0'), "version 0 of the C interface"),
        (whole.replace(b'"architecture":"x86-64"', b'"architecture":"risc-v"'), "of the kind risc-v"),
        (whole.replace(b'"popcnt"', b'"popcat"'), "processors with popcat"),
        (whole.replace(b'"compiler"', b'"conpiler"'), "lacks 'compiler'"),
        (whole.replace(b"totograph\0\0\0{", b"totagraph\0\0\0{"), "no header of one"),
    ]:
        file.write_bytes(content)
        with pytest.raises(ValueError, match=says):
            tg.load(CHECKPOINT, file)


def test_a_package_of_another_model_is_refused(tmp_path):
    config = json.loads((CHECKPOINT / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "embed_dim": 768}))
    (tmp_path / "model.safetensors").symlink_to(CHECKPOINT / "model.safetensors")
    with pytest.raises(ValueError, match="embed_dim.*768"):
        tg.load(tmp_path, PACKAGE)


def test_a_package_is_found_by_the_checkpoints_configuration(tmp_path, monkeypatch):
    (tmp_path / PACKAGE.name).symlink_to(PACKAGE)
    (tmp_path / "other.so").write_bytes(b"no package")
    with pytest.raises(ValueError, match="fastest"):  # of the package that was found, not that there is none
        tg.load(CHECKPOINT, tmp_path, mode="fastest")
    assert tg.load(CHECKPOINT, tmp_path).header.name == "tiny_package"
    monkeypatch.setenv("TOTOGRAPH_PACKAGE_PATH", str(tmp_path))
    assert tg.load(CHECKPOINT).header.models[0]["buckets"][0]["context"] == 80
    other = tmp_path / "checkpoint"
    other.mkdir()
    config = json.loads((CHECKPOINT / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "embed_dim": 768}))
    with pytest.raises(FileNotFoundError, match="has another model"):
        tg.load(other, sizes=None)
    # What lies in a checkpoint's folder, which may be a download, is not run.
    monkeypatch.delenv("TOTOGRAPH_PACKAGE_PATH")
    (other / "config.json").write_text(json.dumps(config))
    (other / PACKAGE.name).symlink_to(PACKAGE)
    with pytest.raises(FileNotFoundError, match="TOTOGRAPH_PACKAGE_PATH"):
        tg.load(other, sizes=None)


def test_a_checkpoint_is_named_as_on_the_hub(tmp_path, monkeypatch):
    asked = []

    def snapshot_download(name, **options):
        asked.append((name, options))
        if name == "one/none":
            raise OSError("no such repository")
        return str(CHECKPOINT)

    hub = ModuleType("huggingface_hub")
    hub.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.chdir(tmp_path)
    expected = tg.load(CHECKPOINT, PACKAGE).forecast(waves(48), horizon=8, seed=7).samples()
    made = tg.load("Some.body/Toto-2.0_22m", PACKAGE).forecast(waves(48), horizon=8, seed=7)
    np.testing.assert_array_equal(made.samples(), expected)
    assert asked == [("Some.body/Toto-2.0_22m", {"allow_patterns": ["config.json", "model.safetensors"]})]
    with pytest.raises(FileNotFoundError, match="one/none.*no such repository"):
        tg.load("one/none", PACKAGE)
    # What lies here, or is no name, is no download.
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "checkpoint").symlink_to(CHECKPOINT)
    tg.load("my/checkpoint", PACKAGE)
    for other in ("a/b/c", "./my", tmp_path / "none"):
        with pytest.raises(FileNotFoundError):
            tg.load(other, PACKAGE)
    assert len(asked) == 2
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # it is not installed
    with pytest.raises(FileNotFoundError, match="install huggingface_hub"):
        tg.load("some/model", PACKAGE)


def test_a_package_is_found_for_the_device_that_is_asked_for(tmp_path):
    (tmp_path / "a.so").symlink_to(PACKAGE)
    with pytest.raises(FileNotFoundError, match="a.so. is for cpu"):
        tg.load(CHECKPOINT, tmp_path, device="cuda")
    # One for CUDA: what its device's name is longer, its own is shorter.
    whole = PACKAGE.read_bytes()
    begin = whole.index(b'"name":"tiny_package"')
    end = whole.index(b'"cpu"', begin) + 5
    named = whole[begin:end].replace(b"tiny_package", b"tiny_packag").replace(b'"cpu"', b'"cuda"')
    (tmp_path / "b.so").write_bytes(whole[:begin] + named + whole[end:])
    with pytest.raises(ValueError, match="fastest"):  # of the package that was found
        tg.load(CHECKPOINT, tmp_path, device="cuda", mode="fastest")
    assert tg.load(CHECKPOINT, tmp_path).header.path.name == "a.so"  # by name, the other goes before
    with pytest.raises(ValueError, match="b.so' is a package for cuda, and one for cpu was asked for"):
        tg.load(CHECKPOINT, tmp_path / "b.so", device="cpu")
    with pytest.raises(ValueError, match="expected 'cpu' or 'cuda'"):
        tg.load(CHECKPOINT, tmp_path, device="tpu")


def test_threads_share_a_model_and_other_threads_run_meanwhile(model):
    model.warm_up()
    expected = model.forecast(waves(48), horizon=8, seed=7).samples()
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(model.forecast(waves(48), horizon=8, seed=7).samples()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        np.testing.assert_array_equal(result, expected)
    counted = json.loads(model.metrics())["entries"]
    assert sum(entry["forecasts"] for entry in counted) >= 9
    assert "totograph_" in model.metrics("prometheus")


def test_the_interpreters_lock_is_free_during_a_forecast(model):
    model.warm_up()
    thread = threading.Thread(target=lambda: model.forecast(waves(48), horizon=32, samples=2000))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.001)  # which comes back only with the lock
        ticks += 1
    assert ticks > 10  # a forecast that holds it lets one or two through


def test_pandas(model):
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2026-01-01", periods=48, freq="h")
    table = pandas.DataFrame({"load": waves(48), "heat": waves(48) + 1}, index=index)
    table.loc[index[40], "heat"] = None
    f = model.forecast(table, horizon=8, quantiles=[0.1, 0.9], seed=7)
    ahead = pandas.date_range(index[-1] + index.freq, periods=8, freq="h")
    answer = f.to_pandas(ahead)
    assert list(answer.columns) == [("load", 0.1), ("load", 0.9), ("heat", 0.1), ("heat", 0.9)]
    np.testing.assert_array_equal(answer[("heat", 0.9)], f.quantiles[1][1])
    assert answer.index[0] == pandas.Timestamp("2026-01-03")
    masked = model.forecast(table, observed=table.notna(), horizon=8, quantiles=[0.1, 0.9], seed=7)
    np.testing.assert_array_equal(masked.quantiles, f.quantiles)
    np.testing.assert_array_equal(
        model.forecast(table["load"], horizon=8, seed=7).samples(), model.forecast(waves(48), horizon=8, seed=7).samples()
    )


def test_the_documents_lines_run(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    text = (Path(__file__).parents[2] / "docs" / "packages.md").read_text()
    lines = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "demo.so").symlink_to(PACKAGE)
    (tmp_path / "checkpoint").symlink_to(CHECKPOINT)
    monkeypatch.chdir(tmp_path)
    names = {"series": waves(2, 48)}
    exec(lines, names)
    assert names["f"].median.shape == (2, 24)


class Tensor:
    """What other libraries hand over: DLPack, and nothing else."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)


def test_tensors_with_dlpack_are_read(model):
    series = waves(2, 48)
    expected = model.forecast(series, horizon=8, seed=7)
    np.testing.assert_array_equal(model.forecast(Tensor(series), horizon=8, seed=7).samples(), expected.samples())
    np.testing.assert_array_equal(
        model.forecast(Tensor(series.T.copy().T), horizon=8, seed=7).samples(), expected.samples())
    np.testing.assert_array_equal(np.from_dlpack(expected.median), expected.median)  # and out
    with pytest.raises(ValueError, match="memory of a device"):
        model.forecast(Tensor(series, device=2), horizon=8)


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


def test_a_model_is_shared_by_copies_and_opened_again_by_other_processes(model):
    assert copy.deepcopy([model])[0] is model and copy.copy(model) is model
    again = pickle.loads(pickle.dumps(model))
    assert again is not model
    expected = model.forecast(waves(48), horizon=8, seed=7).samples()
    np.testing.assert_array_equal(again.forecast(waves(48), horizon=8, seed=7).samples(), expected)


def test_a_model_of_relative_paths_is_opened_again_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "one.so").symlink_to(PACKAGE)
    (tmp_path / "checkpoint").symlink_to(CHECKPOINT)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    model = tg.load("checkpoint", "one.so")
    monkeypatch.chdir("elsewhere")
    expected = model.forecast(waves(48), horizon=8, seed=7).samples()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.forecast(waves(48), horizon=8, seed=7).samples(), expected)


def test_a_model_tells_what_it_is(model):
    assert (model.patch_size, model.levels) == (16, ())
    assert [bucket["samples"] for bucket in model.buckets] == [0, 8]


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler that has the test's package ready."""
    file = tmp_path / "c++"
    file.write_text(f"""#!/bin/sh
for argument; do
    [ "$argument" = -E ] && exit
    [ "${{last:-}}" = -o ] && target=$argument
    last=$argument
done
[ "$1" = --version ] && echo one && exit
case "$target" in *.so) cp '{PACKAGE}' "$target" ;; *) : >"$target" ;; esac
""")
    file.chmod(0o755)
    monkeypatch.setenv("CXX", str(file))
    monkeypatch.setenv("TOTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TOTOGRAPH_PACKAGE_PATH", raising=False)
    return file


def test_a_package_is_compiled_on_first_use(compiler, capfd):
    assert tg.load(CHECKPOINT).header.name == "tiny_package"
    assert "Compiling 13 sizes of toto1" in capfd.readouterr().err
    compiler.write_text(compiler.read_text() + "exit 1\n")
    assert tg.load(CHECKPOINT).header.name == "tiny_package"  # from the cache
    assert capfd.readouterr().err == ""
    with pytest.raises(FileNotFoundError, match="None could be compiled: c.. cannot compile"):
        tg.load(CHECKPOINT, sizes="standard")
    with pytest.raises(FileNotFoundError, match="was found in"):
        tg.load(CHECKPOINT, sizes=None)


@pytest.mark.parametrize("machine, targets, levels", [
    ("x86_64", None, ["x86-64-v3", "x86-64-v4"]),
    ("x86_64", " ", ["x86-64-v3", "x86-64-v4"]),
    ("x86_64", "x86-64, x86-64-v4 ", ["x86-64", "x86-64-v4"]),
    ("aarch64", None, [None]),
    ("aarch64", "", [None]),
    ("aarch64", "armv8.2-a", ["armv8.2-a"]),
])
def test_a_wheel_has_packages_for_processors_of_its_kind(compiler, tmp_path, monkeypatch, machine, targets, levels):
    setuptools = {name: ModuleType(name) for name in (
        "setuptools", "setuptools.command", "setuptools.command.bdist_wheel", "setuptools.command.build_py")}
    setuptools["setuptools"].setup = setuptools["setuptools"].Extension = lambda *given, **options: None
    setuptools["setuptools.command.bdist_wheel"].bdist_wheel = setuptools["setuptools.command.build_py"].build_py = object
    for name, module in setuptools.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setenv("TOTOGRAPH_WHEEL_PACKAGES", "demo")
    monkeypatch.delenv("TOTOGRAPH_WHEEL_TARGETS", raising=False)
    if targets is not None:
        monkeypatch.setenv("TOTOGRAPH_WHEEL_TARGETS", targets)
    built = {}
    monkeypatch.setattr("totograph_package.build", lambda recipe, output, say: built.update({output.name: recipe}))
    wheel = runpy.run_path(str(Path(__file__).parents[1] / "setup.py"))
    wheel["build_packages"](tmp_path / "packages")
    assert list(built) == [f"demo.{level}.so" if level else "demo.so" for level in levels]
    for recipe, level in zip(built.values(), levels):
        assert [flag for flag in recipe.compiler.flags if flag.startswith("-march")] == [f"-march={level}"] * bool(level)


def forecast_file(tmp_path, capfd, text, *arguments):
    file = tmp_path / "data.csv"
    file.write_text(text)
    status = command_line(["forecast", str(file), "--checkpoint", str(CHECKPOINT), "--package", str(PACKAGE), *arguments])
    said = capfd.readouterr()
    return status, [line.split(",") for line in said.out.splitlines()], said.err


def test_the_command_line_forecasts_a_table(model, tmp_path, capfd):
    series = waves(2, 48)
    series[1, 40] = np.nan
    rows = [f"2026-01-01T{i // 2:02}:{i % 2 * 30:02}:00,{a},{'' if b != b else b}" for i, (a, b) in enumerate(series.T)]
    text = "\n".join(["time,load,heat", *rows])
    status, lines, _ = forecast_file(tmp_path, capfd, text, "--horizon", "3", "--quantiles", "0.5", "0.9", "--seed", "7")
    assert status == 0
    assert lines[0] == ["time", "variate", "0.5", "0.9"]
    assert len(lines) == 7
    expected = model.forecast(series, 3, [0.5, 0.9], seed=7).quantiles
    assert lines[6][:2] == ["2026-01-02 01:00:00", "heat"]
    np.testing.assert_allclose([float(lines[6][2]), float(lines[6][3])], expected[:, 1, 2], rtol=1e-5)


def test_times_go_on():
    def ahead(*times):
        found = tuple(datetime.fromisoformat(time) for time in times)
        return Table(("a",), np.zeros((1, len(times)), np.float32), found).times_ahead(2)

    assert ahead("2026-01-01T00:00", "2026-01-01T06:00", "2026-01-01T12:00") == ["2026-01-01 18:00:00", "2026-01-02 00:00:00"]
    assert ahead("2026-10-01", "2026-11-01", "2026-12-01")[1] == "2027-02-01 00:00:00"
    assert ahead("2026-01-01", "2026-01-02", "2026-01-05") == ["3", "4"]
    assert ahead() == ["0", "1"]


def test_a_table_that_cannot_be_read_is_told(tmp_path, capfd):
    for text, says in [("a,b\n1,2\n3\n", "row 3 has 1 fields"), ("a\n", "no rows"), ("a\nx\n", "neither a number nor a time"),
                       ("t\n2026-01-01\n", "no column of numbers")]:
        status, _, said = forecast_file(tmp_path, capfd, text)
        assert status == 1 and says in said, said


def test_the_page_runs(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    (tmp_path / "examples").symlink_to(root / "examples")
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "demo.so").symlink_to(PACKAGE)
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    environment = {**os.environ, "TOTOGRAPH_PACKAGE_PATH": str(tmp_path / "packages"),
                   "TOTOGRAPH_DEMO_MODEL": str(CHECKPOINT)}
    made = subprocess.run([sys.executable, root / "tools" / "render_python_page.py", "--folder", tmp_path, "--output",
                           tmp_path / "page.md"], env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    page, published = ((folder / name).read_text() for folder, name in ((tmp_path, "page.md"), (root, "docs/forecast_in_python.md")))
    outputs = re.compile(r"```text\n(.*?)```", re.S)
    assert outputs.sub("", page) == outputs.sub("", published)
    data, forecast, scores = outputs.findall(page)[:3]
    assert data == outputs.findall(published)[0]
    assert len(forecast.splitlines()) == 6
    # Even of 80 months it forecasts carbon dioxide better than the last year does.
    error, naive = map(float, re.findall(r"^co2_ppm, error: ([\d.]+), seasonal naive ([\d.]+)$", scores, re.M)[0])
    assert error < naive
    assert float(re.findall(r"^co2_ppm, error: ([\d.]+)", outputs.findall(published)[2], re.M)[0]) < naive
    if importlib.util.find_spec("matplotlib"):
        assert "</svg>" in (tmp_path / "docs" / "pictures" / "forecast_in_python.svg").read_text()
