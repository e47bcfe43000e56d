# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from totograph_package import Recipe, build, ladder, read_model
from totograph_package.buckets import LADDERS
from totograph_package.compiler import CompilerError, find_compiler
from totograph_package.cuda import find_cuda_compiler
from totograph_package.library import find_library
from totograph_package.models import find_config, read_config

from ._header import check_header, read_header
from ._model import Model


def load(
    checkpoint: str | os.PathLike[str],
    package: str | os.PathLike[str] | None = None,
    *,
    device: str | None = None,
    mode: str | None = None,
    threads: int = 0,
    sizes: str | None = "small",
) -> Model:
    """Opens a checkpoint: a folder with `config.json` and `model.safetensors` or its shards, one of these files, or a
    model's folder in a cache of the hub; or, where `huggingface_hub` is installed and there is no such folder, a name of
    its hub, such as `Datadog/Toto-2.0-22m`, whose two files it downloads and keeps.

    package: a package, or a folder of packages, of which one is taken that has the model and runs on this machine.
    None: the folders of the environment variable TOTOGRAPH_PACKAGE_PATH and what was installed with this module, never
    the checkpoint's own folder, which may be a download; where they have none, it is compiled, and kept for the next
    time (`totograph-package`).
    device: that the package was compiled for, `cpu` or `cuda`, of several of which `cuda:1` is the second; None: that of
    a file that is named, else `cpu`.
    mode: how forecasts are run, as TOTOGRAPH_MODE spells it; that variable goes before.
    threads: that a forecast may use; 0: all processors that the process may use.
    sizes: the ladder of buckets that is compiled where no package is there: `small`, `standard`, `large`; None:
    compile nothing.

    A package runs with all rights of this process: load what you trust. Raises `FileNotFoundError`,
    `ValueError` for a package that cannot be used here, or is of another model than the checkpoint, and `RuntimeError`
    where the device is not there."""
    asked = re.fullmatch(r"(cpu|cuda)(?::([0-9]{1,4}))?", device or "")
    if device is not None and (asked is None or asked[1] == "cpu" and asked[2]):
        raise ValueError(f"The device cannot be {device!r}; expected 'cpu', 'cuda', or 'cuda:' and a number.")
    device, ordinal = (asked[1], int(asked[2] or 0)) if asked else (None, 0)
    if sizes is not None and sizes not in LADDERS:
        raise ValueError(f"The sizes cannot be {sizes!r}; expected None, or one of: {', '.join(LADDERS)}.")
    checkpoint = _of_hub(checkpoint)
    if package is not None and not Path(package).is_dir():
        named = read_header(package)
        if device not in (None, named.device):
            raise ValueError(f"The file '{package}' is a package for {named.device}, and one for {device} was asked for.")
        return Model(checkpoint, named, mode, threads, ordinal)
    device = device or "cpu"
    folders = [Path(package)] if package is not None else _package_folders()
    file = find_config(checkpoint)
    try:
        config = read_config(file)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"The checkpoint '{checkpoint}' has no config.json, by which its package is found. Name the package."
        ) from None
    reasons: list[str] = []
    for file in (file for folder in folders for file in sorted(folder.glob("*.so"), reverse=True)):
        try:
            header = read_header(file)
            if header.device != device or not header.fits(config):
                reasons.append(f"'{file}' is for {header.device}." if header.device != device
                               else f"'{file}' has another model.")
                continue
            check_header(header)
        except (OSError, ValueError) as error:
            reasons.append(str(error))
            continue
        return Model(checkpoint, header, mode, threads, ordinal)
    if package is None and sizes is not None:
        try:
            return Model(checkpoint, read_header(_built(checkpoint, sizes, device)), mode, threads, ordinal)
        except (CompilerError, FileNotFoundError, PermissionError) as error:
            reasons.append(f"None could be compiled: {error}")
    where = ", ".join(f"'{folder}'" for folder in folders) or "the folders of TOTOGRAPH_PACKAGE_PATH, which names none"
    raise FileNotFoundError(
        f"No package for the checkpoint '{checkpoint}' on {device} was found in {where}. "
        + " ".join(reasons + ["Build one with totograph-package, and name it or its folder."])
    )


def demo_checkpoint() -> Path:
    """The folder of the small model that comes with the library: what TOTOGRAPH_DEMO_MODEL names, or what was installed
    with this module, or lies in the clone. Raises `FileNotFoundError`."""
    named = os.environ.get("TOTOGRAPH_DEMO_MODEL")
    here = Path(__file__).resolve().parent
    places = [Path(named)] if named else [here / "models" / "demo", here.parents[1] / "models" / "demo"]
    for place in places:
        if (place / "model.safetensors").exists():
            return place
    raise FileNotFoundError("The demo model was looked for in " + ", ".join(f"'{place}'" for place in places)
                            + ". Name a checkpoint.")


def _of_hub(checkpoint: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The folder itself, or that of a download."""
    if not isinstance(checkpoint, str) or not re.fullmatch(r"[\w.-]+/[\w.-]+", checkpoint) or Path(checkpoint).exists():
        return checkpoint
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise FileNotFoundError(f"There is no checkpoint '{checkpoint}'. If that is a name of the hub, install "
                                "huggingface_hub, or download it and name its folder.") from None
    try:
        folder: str = snapshot_download(checkpoint, allow_patterns=["config.json", "model.safetensors"])
    except (OSError, ValueError) as error:  # what requests and the hub report are of these
        raise FileNotFoundError(f"There is no folder '{checkpoint}', and the hub does not give a checkpoint of that name: "
                                f"{error}") from None
    return folder


def _built(checkpoint: str | os.PathLike[str], sizes: str, device: str) -> Path:
    model, compiler = read_model(checkpoint), find_compiler(None, None)
    cuda = find_cuda_compiler(compiler, [], "bf16") if device == "cuda" else None
    recipe = Recipe("toto", model, tuple(ladder(sizes, model)), compiler, find_library(), cuda)

    def say(text: str) -> None:
        if not text.startswith("Found"):
            print(f"totograph: {text}", file=sys.stderr, flush=True)

    return build(recipe, say=say)


def _package_folders() -> list[Path]:
    named = os.environ.get("TOTOGRAPH_PACKAGE_PATH", "")
    of_wheel = Path(__file__).resolve().parent / "packages"
    return [Path(folder) for folder in named.split(os.pathsep) if folder] + [of_wheel] * of_wheel.is_dir()
