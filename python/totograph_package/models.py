# SPDX-License-Identifier: Apache-2.0
"""A checkpoint's configuration as a type of the library."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from .published import PUBLISHED

# Fields of `totograph::toto1::Toto1Config` and `toto2::Toto2Config`; None: a checkpoint has to say it, else what the
# reference takes where it says nothing (`check_config_file` of the family compares a checkpoint in the same way).
_TOTO1: dict[str, Any] = {"patch_size": None, "embed_dim": None, "num_layers": None, "num_heads": None,
                          "mlp_hidden_dim": None, "spacewise_every_n_layers": None, "spacewise_first": True,
                          "stabilize_with_global": True, "scale_factor_exponent": 10.0}
_TOTO2: dict[str, Any] = {"patch_size": None, "d_model": None, "d_ff": None, "num_heads": None, "num_groups": None,
                          "num_layers": None, "layer_group_size": None, "num_variate_layers_per_group": None,
                          "variate_layer_first": None, "norm_eps": 5e-5, "attn_bias": False, "mlp_bias": False,
                          "qk_dim": None, "v_dim": None, "qk_norm": True, "norm_include_weight": False,
                          "qk_norm_include_weight": None, "per_dim_scale": False, "use_xpos": False}
_SCALERS = {"StdMeanScaler": "global", "CausalStdMeanScaler": "causal", "CausalPatchStdMeanScaler": "causal_patch"}
_HEADS = {"StudentTOutput": "student_t", "MixtureOfStudentTsOutput": "mixture_of_student_t"}


@dataclass(frozen=True)
class Model:
    """A model to compile."""

    title: str
    family: str  #: `toto1` or `toto2`.
    patch_size: int
    fields: tuple[tuple[str, str], ...]  #: Of the configuration: name and C++.

    @property
    def is_sampled(self) -> bool:
        return self.family == "toto1"

    def patches(self, steps: int) -> int:
        return -(-steps // self.patch_size)

    @property
    def declaration(self) -> str:
        """The C++ of its description."""
        config = f"{self.family}::{self.family.capitalize()}Config"
        lines = ",\n".join(f"        .{name} = {value}" for name, value in self.fields)
        return f"struct ModelOfCheckpoint {{\n    static constexpr {config} config{{\n{lines}}};\n}};\n"


def read_model(checkpoint: str | os.PathLike[str]) -> Model:
    """The model of a checkpoint: of whatever `find_config` takes, or a published one by its name. Raises
    `FileNotFoundError`, also as `find_config`, and `ValueError` for what is no configuration of a model that packages
    are compiled for."""
    if str(checkpoint) in PUBLISHED and not Path(checkpoint).exists():
        return _model(PUBLISHED[str(checkpoint)], Path(f"the configuration of {checkpoint}"))
    file = find_config(checkpoint)
    try:
        config = read_config(file)
    except FileNotFoundError:
        raise FileNotFoundError(f"'{file}' does not exist. A package is compiled from a checkpoint's config.json; "
                                "name that file, or the folder that has it, or a published model: "
                                f"{', '.join(PUBLISHED)}.") from None
    return _model(config, file)


def find_config(checkpoint: str | os.PathLike[str]) -> Path:
    """Where the `config.json` of a checkpoint is, or would be: in its folder, beside its weights or their index, in the
    snapshot of a model's folder in a cache of the hub; or that file itself. As `io/checkpoint/checkpoint_files.hpp`.
    Raises `FileNotFoundError` where refs/main of such a folder names no snapshot."""
    path = Path(checkpoint)
    if not path.is_dir():
        is_config = path.suffix == ".json" and ".index." not in path.name
        return path if is_config or not path.exists() else path.parent / "config.json"
    own, snapshots, newest = path / "config.json", path / "snapshots", path / "refs" / "main"
    if not own.exists() and snapshots.is_dir():
        found = [_snapshot(path, newest)] if newest.is_file() else list(snapshots.iterdir())
        if len(found) == 1:
            return found[0] / "config.json"
    return own


def _snapshot(cache: Path, reference: Path) -> Path:
    """The snapshot that refs/main names: a commit, of hexadecimal digits alone, and so no path that leads elsewhere."""
    with reference.open("rb") as file:
        commit = file.read(1000).decode("utf-8", "replace").rstrip(" \t\r\n")
    snapshot = cache / "snapshots" / commit
    if not re.fullmatch("[0-9a-f]{1,255}", commit) or not snapshot.is_dir():
        raise FileNotFoundError(f"The cache folder '{cache}' names the snapshot {commit[:100]!r} in refs/main, but "
                                "holds no such one: the download was not finished. Download the checkpoint again.")
    return snapshot


def read_config(file: Path) -> dict[str, Any]:
    """Raises `FileNotFoundError`, and `ValueError` for what is no object of JSON."""
    try:
        config = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:  # nested beyond what Python reads
        raise ValueError(f"'{file}' is no JSON: {error}.") from None
    if not isinstance(config, dict):
        raise ValueError(f"'{file}' holds no object of JSON, as a configuration is; download it again.")
    return config


def _model(config: Mapping[str, Any], file: Path) -> Model:
    if "d_model" in config:
        return _toto2(config, file)
    if "embed_dim" in config:
        return _toto1(config, file)
    raise ValueError(f"'{file}' has neither a d_model, as those of Toto 2.0 have, nor an embed_dim, as those of Toto "
                     "1.0. Packages are compiled for these.")


def _cpp(name: str, value: Any, file: Path) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 2**31:
        return str(value)
    if isinstance(value, float) and 0 < value < 1e6:
        return repr(value)
    raise ValueError(f"'{file}': the field '{name}' cannot be {json.dumps(value)[:60]}. Expected what the reference "
                     "writes there.")


def _values(config: Mapping[str, Any], names: Mapping[str, Any], file: Path) -> list[tuple[str, str]]:
    values = []
    for name, if_absent in names.items():
        value = config.get(name)
        value = if_absent if value is None else value
        if value is None:
            raise ValueError(f"'{file}' lacks the field '{name}'. Use the config.json that belongs to the checkpoint.")
        values.append((name, _cpp(name, value, file)))
    return values


def _toto2(config: Mapping[str, Any], file: Path) -> Model:
    filled = dict(config)
    if isinstance(config["d_model"], int) and isinstance(config.get("num_heads"), int) and config["num_heads"] > 0:
        absent = {"d_ff": -(-(8 * config["d_model"] // 3) // 8) * 8, "qk_dim": config["d_model"] // config["num_heads"],
                  "num_groups": config["num_heads"]}
        filled.update({name: value for name, value in absent.items() if config.get(name) is None})
        filled["v_dim"] = filled["qk_dim"] if config.get("v_dim") is None else config["v_dim"]
    if filled.get("qk_norm_include_weight") is None:
        filled["qk_norm_include_weight"] = bool(filled.get("norm_include_weight", False))
    fields = _values(filled, _TOTO2, file)
    title = f"toto2 d_model={filled['d_model']} num_layers={filled['num_layers']}"
    return Model(title, "toto2", _patch(filled, file), tuple(fields))


def _toto1(config: Mapping[str, Any], file: Path) -> Model:
    def kind(name: str, value: Any, known: Mapping[str, str]) -> str:
        found = str(value).rstrip("'>").rpartition(".")[2]
        if found not in known:
            raise ValueError(f"'{file}': the field '{name}' is {json.dumps(value)[:80]}; known are {', '.join(known)}.")
        return known[found]

    fields = dict(_values(config, _TOTO1, file))
    classes = config.get("output_distribution_classes") or [None]
    head = kind("output_distribution_classes", classes[0] if isinstance(classes, list) else classes, _HEADS)
    fields["scaler"] = "toto1::Scaler::" + kind("scaler_cls", config.get("scaler_cls"), _SCALERS)
    fields["head"] = "toto1::Head::" + head
    if head == "mixture_of_student_t":
        components = (config.get("output_distribution_kwargs") or {}).get("k_components")
        fields["k_components"] = _cpp("output_distribution_kwargs.k_components", components, file)
    order = [*list(_TOTO1)[:7], "scaler", *list(_TOTO1)[7:], "head", "k_components"]  # as the structure has them
    title = f"toto1 embed_dim={config['embed_dim']} num_layers={config['num_layers']}"
    return Model(title, "toto1", _patch(config, file), tuple((name, fields[name]) for name in order if name in fields))


def _patch(config: Mapping[str, Any], file: Path) -> int:
    patch = config["patch_size"]
    if not isinstance(patch, int) or not 0 < patch <= 4096:
        raise ValueError(f"'{file}': the field 'patch_size' cannot be {patch}.")
    return patch
