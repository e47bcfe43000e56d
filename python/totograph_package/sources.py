# SPDX-License-Identifier: Apache-2.0
"""The source files of a package, as `totograph_add_package` writes them."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

from .buckets import Bucket
from .cuda import CudaCompiler
from .library import LibraryFiles
from .models import Model

_TYPE = "totograph::package::ModelOfCheckpoint"


def _initializer(bucket: Bucket) -> str:
    names = ("batch", "variates", "context", "horizon", "samples", "exogenous")
    return "totograph::Bucket{" + ", ".join(f".{name} = {getattr(bucket, name)}" for name in names) + "}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([a-z]+)@", lambda found: values[found[1]], template)


def _instances(buckets: Sequence[Bucket], how: str, cuda: CudaCompiler | None) -> str:
    function, options = (("CompiledBucket compiled_bucket", "ForecasterOptions{}") if cuda is None else
                         ("CompiledDeviceBucket compiled_device_bucket", _options(cuda)))
    lines = [f"{how} {function}<{_TYPE}, {_initializer(one)}, {options}>();\n" for one in buckets]
    return "namespace totograph::serve::detail {\n\n" + "".join(lines) + "\n}  // namespace totograph::serve::detail\n\n"


def _options(cuda: CudaCompiler) -> str:
    return f"cuda::ForecasterOptions{{.precision = cuda::Precision::{cuda.precision}}}"


def package_sources(name: str, model: Model, buckets: Sequence[Bucket], library: LibraryFiles, parts: int,
                    cuda: CudaCompiler | None = None) -> dict[str, str]:
    """Texts by the names of their files. The buckets are divided among so many files, which compile side by side."""
    header = (f"#pragma once\n#include <totograph/models/{model.family}/family.hpp>\n\n"
              f"namespace totograph::package {{\n\n{model.declaration}\n}}  // namespace totograph::package\n")
    # The first part is compiled with the model.
    others = [part for part in (buckets[i::parts] for i in range(1, parts)) if part]
    values = {"name": name, "header": "model.hpp", "type": _TYPE, "title": model.title, "number": "0",
              "initializers": ",\n                  ".join(_initializer(one) for one in buckets),
              "declared": "extern const PackagedModel model_0;\n", "listed": "        &model_0,\n"}
    elsewhere = "".join(_instances(part, "extern template", cuda) for part in others)
    templates = ["package.cpp", "model.cpp"]
    if cuda is None:
        included, ending = "totograph/package/compile_package.hpp", ".cpp"
        values |= {"device": "cpu", "runs": "", "make": "compile_model", "runner": "", "elsewhere": elsewhere}
    else:
        included, ending = "totograph/serve/backends/cuda_backend.hpp", ".cu"
        templates.append("device.cu")
        runs = "void add_device_0(serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);\n\n"
        values |= {"device": "cuda", "runs": runs, "make": "describe_model", "runner": ", add_device_0", "elsewhere": "",
                   "instances": elsewhere, "options": _options(cuda)}
    texts = {one: _filled((library.package / f"{one}.in").read_text(encoding="utf-8"), values) for one in templates}
    texts = {one: text.replace("#include <model.hpp>", '#include "model.hpp"') for one, text in texts.items()}
    texts["model.hpp"] = header
    for number, part in enumerate(others, 1):
        texts[f"buckets_{number}{ending}"] = (f'#include "model.hpp"\n#include <{included}>\n\n'
                                              + _instances(part, "template", cuda))
    return texts
