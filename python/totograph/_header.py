# SPDX-License-Identifier: Apache-2.0
"""The header of a package, read from its file: nothing of it runs."""

from __future__ import annotations

import json
import os
import platform
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, NoReturn

ABI_VERSION = 1
_ARCHITECTURES = {"x86_64": "x86-64", "AMD64": "x86-64"}
_HOW = "Name a file that totograph_add_package built."


@dataclass(frozen=True)
class PackageHeader:
    """What a package says of itself."""

    path: Path
    name: str
    version: str
    abi: int
    device: str
    architecture: str
    instructions: tuple[str, ...]
    compiler: str
    models: tuple[dict[str, Any], ...]  #: Each with `name`, `config` and `buckets`.

    def fits(self, config: dict[str, Any]) -> bool:
        """Whether one of its models has the sizes that a checkpoint's `config.json` names."""
        sizes = ("embed_dim", "d_model", "num_layers", "num_heads", "patch_size")
        return any(all(model["config"].get(key) == config.get(key) for key in sizes) for model in self.models)


def _notes(data: bytes, path: Path) -> Iterator[tuple[str, int, bytes]]:
    def part(layout: str, offset: int) -> tuple[Any, ...]:
        if offset + struct.calcsize(layout) > len(data):
            raise ValueError(f"The file '{path}' was cut: it has {len(data)} bytes. Copy or build it again.")
        return struct.unpack_from(layout, data, offset)

    if data[:4] != b"\x7fELF":
        raise ValueError(f"The file '{path}' is no package: it is no shared library. {_HOW}")
    ident, kind, _, _, _, table, _, _, _, _, count = part("<16sHHIQQQIHHH", 0)
    if ident[4] != 2 or ident[5] != 1 or kind != 3:
        raise ValueError(f"The file '{path}' is no package: it is no shared library for 64 bits. {_HOW}")
    for i in range(count):
        segment, _, offset, _, _, size, _, alignment = part("<IIQQQQQQ", table + 56 * i)
        if offset + size > len(data):
            raise ValueError(
                f"The file '{path}' was cut: it has {len(data)} bytes, and its parts reach further. "
                "Copy or build it again."
            )
        step = 4
        at, end = offset, offset + size
        while segment == 4 and alignment <= 4 and at + 12 <= end:
            owner_size, text_size, note = part("<III", at)
            owner_at = at + 12
            text_at = owner_at + (owner_size + step - 1) // step * step
            if text_at + text_size > end:
                break
            owner = data[owner_at : owner_at + owner_size].split(b"\0")[0].decode("ascii", "replace")
            yield owner, note, data[text_at : text_at + text_size]
            at = text_at + (text_size + step - 1) // step * step


def read_header(path: str | os.PathLike[str]) -> PackageHeader:
    """Reads the header of a package. Raises `FileNotFoundError`, and `ValueError` for what is no whole package."""
    path = Path(path)

    def refuse(word: str) -> NoReturn:
        raise ValueError(
            f"The file '{path}' is no package of this kind: its header has {word}, which JSON does not know. {_HOW}"
        )

    package: dict[str, Any] = {}
    models: list[dict[str, Any]] = []
    try:
        for owner, kind, text in _notes(path.read_bytes(), path):
            if owner == "totograph" and kind in (1, 2):
                note = json.loads(text, parse_constant=refuse)
                if kind == 1:
                    package = note
                else:
                    models.append({key: note[key] for key in ("name", "config", "buckets")})
        if not package:
            raise ValueError(f"The file '{path}' is a shared library, but no package: it has no header of one. {_HOW}")
        text_fields = ("name", "version", "device", "architecture", "compiler")
        return PackageHeader(
            path=path,
            abi=int(package["abi"]),
            instructions=tuple(package["instructions"]),
            models=tuple(models),
            **{key: str(package[key]) for key in text_fields},
        )
    except KeyError as error:
        raise ValueError(f"The file '{path}' is no package of this kind: its header lacks {error}. {_HOW}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"The file '{path}' is no package of this kind: its header is no JSON: {error}. {_HOW}") from None
    except (TypeError, OverflowError) as error:  # of a number where a list belongs, and such
        raise ValueError(f"The file '{path}' is no package of this kind: its header holds something else than the name, "
                         f"models and sizes that belong there: {error}. {_HOW}") from None


def _processor_flags() -> set[str] | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("flags"):
            flags = {flag.replace("_", "") for flag in line.split(":", 1)[1].split()}
            return flags | ({"bmi"} if "bmi1" in flags else set())
    return None


def check_header(header: PackageHeader) -> None:
    """Raises `ValueError` for a package that this program or this machine cannot use."""
    if header.abi != ABI_VERSION:
        raise ValueError(
            f"The file '{header.path}' is a package of totograph {header.version} with version {header.abi} of the C "
            f"interface; this module knows version {ABI_VERSION}. Use a package and a module of one version."
        )
    here = _ARCHITECTURES.get(platform.machine(), platform.machine())
    if header.architecture != here:
        raise ValueError(
            f"The file '{header.path}' is a package for processors of the kind {header.architecture}, and this one is "
            f"of the kind {here}. Use a package that was built for it."
        )
    flags = _processor_flags()
    missing = [name for name in header.instructions if flags is not None and name not in flags]
    if missing:
        raise ValueError(
            f"The file '{header.path}' is a package for processors with {', '.join(missing)}, which this machine's "
            "does not have. Use one that was built for less, such as x86-64-v3."
        )
