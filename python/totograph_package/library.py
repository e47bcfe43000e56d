# SPDX-License-Identifier: Apache-2.0
"""Where the library's headers are, and what they are."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_FOREIGN = r"^#include <((?:Eigen|nlohmann)/[^>]+)>"


@dataclass(frozen=True)
class LibraryFiles:
    """The headers of the library, and the sources that every package is made of."""

    include: Path
    package: Path  #: With `exports.cpp`, `exports.map` and the templates.
    compiled: Path  #: The source of what no model changes.

    @property
    def compiled_for_cuda(self) -> Path:
        """The same of what runs on devices."""
        return self.compiled.with_name("cuda_compiled.cu")

    def digest(self) -> str:
        """A hash of all of it."""
        return _digest(self.include, self.package, self.compiled)

    def foreign_headers(self) -> tuple[str, ...]:
        """The headers of other libraries that it includes."""
        return _foreign_headers(self.include)


def _headers(include: Path) -> list[Path]:
    return list((include / "totograph").rglob("*.h*"))


@functools.lru_cache(maxsize=None)
def _foreign_headers(include: Path) -> tuple[str, ...]:
    texts = (file.read_text(encoding="utf-8") for file in _headers(include) if file.is_file())
    return tuple(sorted({name for text in texts for name in re.findall(_FOREIGN, text, re.M)}))


@functools.lru_cache(maxsize=None)
def _digest(include: Path, package: Path, compiled: Path) -> str:
    total = hashlib.sha256()
    files = [*_headers(include), *package.glob("*"), *compiled.parent.glob("*")]
    for file in sorted(file for file in files if file.is_file()):
        content = file.read_bytes()
        total.update(f"{file.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def find_library() -> LibraryFiles:
    """What the environment variable TOTOGRAPH_ROOT names: an install prefix or a clone; else what was installed with
    this module, or what it lies in. Raises `FileNotFoundError`."""
    here = Path(__file__).resolve().parent
    named = os.environ.get("TOTOGRAPH_ROOT")
    # In a wheel: beside this file. In a clone: two folders up. In an install prefix: share/totograph/tools/<this>.
    roots = [Path(named)] if named else [here / "library", *(here.parents[i] for i in (1, 3) if i < len(here.parents))]
    for root in roots:
        for sources in (root / "cmake", root / "share" / "cmake" / "totograph"):
            found = LibraryFiles(root / "include", sources / "package", sources / "compiled" / "compiled.cpp")
            if (found.include / "totograph" / "version.hpp").exists() and (found.package / "exports.cpp").exists():
                return found
    raise FileNotFoundError("The headers of totograph, which a package is compiled from, were looked for in "
                            + ", ".join(f"'{root}'" for root in roots)
                            + ". Name a clone or an install prefix with TOTOGRAPH_ROOT.")
