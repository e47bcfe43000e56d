# SPDX-License-Identifier: Apache-2.0
"""The source files of a package, as `totograph_add_package` writes them."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

from .buckets import Bucket
from .library import LibraryFiles
from .models import Model

_TYPE = "totograph::package::ModelOfCheckpoint"


def _initializer(bucket: Bucket) -> str:
    names = ("batch", "variates", "context", "horizon", "samples", "exogenous")
    return "totograph::Bucket{" + ", ".join(f".{name} = {getattr(bucket, name)}" for name in names) + "}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([a-z]+)@", lambda found: values[found[1]], template)


def _instances(buckets: Sequence[Bucket], how: str) -> str:
    lines = [f"{how} CompiledBucket compiled_bucket<{_TYPE}, {_initializer(one)}, ForecasterOptions{{}}>();\n"
             for one in buckets]
    return "namespace totograph::serve::detail {\n\n" + "".join(lines) + "\n}  // namespace totograph::serve::detail\n\n"


def package_sources(name: str, model: Model, buckets: Sequence[Bucket], library: LibraryFiles,
                    parts: int) -> dict[str, str]:
    """Texts by the names of their files. The buckets are divided among so many files, which compile side by side."""
    header = (f"#pragma once\n#include <totograph/models/{model.family}/family.hpp>\n\n"
              f"namespace totograph::package {{\n\n{model.declaration}\n}}  // namespace totograph::package\n")
    # The first part is compiled with the model.
    others = [part for part in (buckets[i::parts] for i in range(1, parts)) if part]
    values = {"name": name, "header": "model.hpp", "type": _TYPE, "title": model.title, "number": "0",
              "device": "cpu", "runs": "", "make": "compile_model", "runner": "",
              "initializers": ",\n                  ".join(_initializer(one) for one in buckets),
              "elsewhere": "".join(_instances(part, "extern template") for part in others)}
    values["declared"] = "extern const PackagedModel model_0;\n"
    values["listed"] = "        &model_0,\n"
    texts = {f"{one}.cpp": _filled((library.package / f"{one}.cpp.in").read_text(encoding="utf-8"), values)
             for one in ("package", "model")}
    texts["model.cpp"] = texts["model.cpp"].replace("#include <model.hpp>", '#include "model.hpp"')
    texts["model.hpp"] = header
    for number, part in enumerate(others, 1):
        texts[f"buckets_{number}.cpp"] = ('#include "model.hpp"\n#include <totograph/package/compile_package.hpp>\n\n'
                                          + _instances(part, "template"))
    return texts
