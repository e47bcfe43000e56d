# SPDX-License-Identifier: Apache-2.0
"""Packages: which is loaded, refused, found or compiled."""
import copy
import json
import pickle
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support import CHECKPOINT, PACKAGE, waves

import totograph as tg
from totograph_package.models import find_config, read_model


def test_foreign_and_broken_packages_are_refused_before_they_run(tmp_path, monkeypatch):
    monkeypatch.setattr("totograph._native.Library", lambda path: pytest.fail(f"{path} was loaded"))
    whole = PACKAGE.read_bytes()
    note, instructions = (re.search(part, whole)[0] for part in (rb'{"name":"[^"]*","version":[^}]*}',
                                                                 rb'"instructions":\[[^]]*\]'))
    file = tmp_path / "broken.so"
    for content, says in [
        (b"PK\3\4", "no shared library"),
        (b"", "no shared library"),
        (whole[:50], "was cut"),
        (whole[: len(whole) // 2], "was cut"),
        (whole.replace(b'"abi":1', b'"abi":9'), "version 9 of the C interface"),
        (whole.replace(b'"abi":1', b'"abi":0'), "version 0 of the C interface"),
        (whole.replace(b'"architecture":"x86-64"', b'"architecture":"risc-v"'), "of the kind risc-v"),
        (whole.replace(b'"architecture":"x86-64"', b'"architecture":NaN     '), "has NaN, which JSON does not know"),
        (whole.replace(b'"popcnt"', b'"popcat"'), "processors with popcat"),
        (whole.replace(b'"compiler"', b'"conpiler"'), "lacks 'compiler'"),
        (whole.replace(b"totograph\0\0\0{", b"totagraph\0\0\0{"), "no header of one"),
        (whole.replace(instructions, b'"instructions":1'.ljust(len(instructions))), "header holds something else"),
        (whole.replace(note, b"[5]".ljust(len(note))), "header holds something else"),
        (whole.replace(note, b"[" * len(note)), "header is no JSON"),
        (whole.replace(note, b"\xff" * len(note)), "header is no JSON"),
    ]:
        file.write_bytes(content)
        with pytest.raises(ValueError, match=says):
            tg.load(CHECKPOINT, file)


def test_a_configuration_without_an_end_is_told_in_a_sentence(tmp_path):
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="config.json' is no JSON"):
        tg.load(tmp_path, tmp_path)


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


def test_a_package_is_found_by_whatever_names_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setenv("TOTOGRAPH_PACKAGE_PATH", str(PACKAGE.parent))
    cached = tmp_path / "models--some--model"
    snapshot = cached / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    config = (CHECKPOINT / "config.json").read_bytes()
    (snapshot / "config.json").write_bytes(b"\xef\xbb\xbf" + config)  # the mark of an editor
    (snapshot / "model.safetensors").symlink_to(CHECKPOINT / "model.safetensors")
    (cached / "snapshots" / "ffff").mkdir()
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0123abcd\n")
    for named in (cached, snapshot, snapshot / "model.safetensors", snapshot / "config.json"):
        assert tg.load(named, sizes=None).header.name == "tiny_package"
        assert find_config(named) == snapshot / "config.json"
    assert find_config(snapshot / "model.safetensors.index.json") == snapshot / "model.safetensors.index.json"
    for index in ("model.safetensors.index.json", "model.safetensors.index.fp16.json"):
        (snapshot / index).write_text("{}")
        assert find_config(snapshot / index) == snapshot / "config.json"
    for reference in (b"../../evil", b"", b"\n", b"\xff\xfe", b"0123abce", b"0123abcd/../ffff", b"0123ABCD", b"/",
                      b"a" * 900):
        (cached / "refs" / "main").write_bytes(reference)
        for find in (find_config, read_model, tg.load):
            with pytest.raises(FileNotFoundError, match="in refs/main, but holds no such one"):
                find(cached)
    (cached / "refs" / "main").write_bytes(b"0123abcd \r\n")
    assert find_config(cached) == snapshot / "config.json"
    for content, says in [(b'{"a": ', "config.json' is no JSON"), (b"[1, 2]", "config.json' holds no object of JSON")]:
        (snapshot / "config.json").write_bytes(content)
        for sizes in (None, "small"):
            with pytest.raises(ValueError, match=says):
                tg.load(snapshot, sizes=sizes)


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


def test_a_package_is_found_for_the_device_that_is_asked_for(tmp_path, monkeypatch):
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
    monkeypatch.setenv("CUDACXX", str(tmp_path / "none"))
    monkeypatch.delenv("TOTOGRAPH_PACKAGE_PATH", raising=False)
    with pytest.raises(FileNotFoundError, match="on cuda was found.*None could be compiled: No CUDA compiler is there"):
        tg.load(CHECKPOINT, device="cuda")
    with pytest.raises(FileNotFoundError) as refused:
        tg.load(CHECKPOINT, device="cuda", sizes=None)
    assert "compiled" not in str(refused.value)
    assert tg.load(CHECKPOINT, tmp_path).header.path.name == "a.so"  # by name, the other goes before
    with pytest.raises(ValueError, match="b.so' is a package for cuda, and one for cpu was asked for"):
        tg.load(CHECKPOINT, tmp_path / "b.so", device="cpu")
    for wrong in ("tpu", "cpu:1", "cuda:", "cuda:-1", "cuda:x", ""):
        with pytest.raises(ValueError, match="expected 'cpu', 'cuda', or 'cuda:' and a number"):
            tg.load(CHECKPOINT, tmp_path, device=wrong)


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
    with pytest.raises(ValueError, match="cannot be 'huge'; expected None, or one of: small, standard, large"):
        tg.load(CHECKPOINT, sizes="huge")


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
