# SPDX-License-Identifier: Apache-2.0
"""Builds a package, or finds the one that was built of the same."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import tempfile
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from .buckets import Bucket
from .cache import cache_folder, cached
from .compiler import Compiler, dependency_includes
from .cuda import CudaCompiler
from .library import LibraryFiles
from .models import Model
from .plan import files
from .sources import package_sources


@dataclass(frozen=True)
class Recipe:
    """All that a package is made of."""

    name: str
    model: Model
    buckets: tuple[Bucket, ...]
    compiler: Compiler
    library: LibraryFiles
    cuda: CudaCompiler | None = None  #: Of a package for CUDA devices.

    def key(self, *more: object) -> str:
        """A hash of what goes into it."""
        return _hash(self._of_library(), self._of_cuda(), self.name, self.model.title, self.model.declaration,
                     [str(one) for one in self.buckets], *more)

    def library_key(self) -> str:
        return _hash(self._of_library())

    def cuda_library_key(self) -> str:
        return _hash(self._of_library(), self._of_cuda()[:-1])

    def _of_cuda(self) -> list[object]:
        cuda = self.cuda
        return [] if cuda is None else [cuda.command, cuda.version, cuda.flags, cuda.precision]

    def _of_library(self) -> list[object]:
        compiler = self.compiler
        return [self.library.digest(), compiler.command, compiler.version, compiler.flags,
                compiler.digest(self.library.foreign_headers(), dependency_includes())]


def _hash(*what: object) -> str:
    return hashlib.sha256(json.dumps(what, default=str).encode()).hexdigest()[:24]


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _spent() -> float:
    """Processor seconds of all compilers that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def build(recipe: Recipe, *, jobs: int = 0, output: Path | None = None,
          say: Callable[[str], None] = lambda text: None) -> Path:
    """The package, at `output` or in the cache. It is compiled where the cache has none; of many processes that want
    one at the same time, one compiles. Raises `CompilerError`, `PermissionError` for a cache that is not to be trusted,
    and `ValueError` where there is neither a cache nor an output, or an output that cannot be."""
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise ValueError(f"The package cannot be written to '{output}': " + (
            "that is a folder. Name a file." if output.is_dir() else f"there is no folder '{output.parent}'. Make it, or "
            "name another one."))
    folder = cache_folder()
    if folder is None and output is None:
        raise ValueError("There is no folder to keep the package in: TOTOGRAPH_CACHE_DIR is empty, or neither it nor "
                         "HOME is set. Name a folder there, or a file to write.")
    with tempfile.TemporaryDirectory(prefix="totograph-") as scratch:
        packages = (folder or Path(scratch)).absolute() / "packages"

        def make(path: Path) -> None:
            with_what = recipe.compiler.name if recipe.cuda is None else recipe.cuda.name
            say(f"Compiling {len(recipe.buckets)} sizes of {recipe.model.title} with {with_what}.")
            _compile(recipe, path, packages, jobs or processors())

        before = _spent()
        path, is_new = cached(packages, f"{recipe.name}-{recipe.key()}.so", make)
        size = path.stat().st_size / 1e6
        say(f"Built '{path}': {size:.1f} MB, in {_spent() - before:.0f} s of processor time." if is_new
            else f"Found '{path}'.")
        if output is None:
            return path
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as neighbour:
            beside = Path(neighbour) / output.name
            shutil.copyfile(path, beside)
            beside.chmod(0o755)
            os.replace(beside, output)
        return output


def _compile(recipe: Recipe, path: Path, packages: Path, jobs: int) -> None:
    compiler, library, cuda = recipe.compiler, recipe.library, recipe.cuda
    includes = [f"-I{library.include}", *dependency_includes()]
    with tempfile.TemporaryDirectory(prefix="totograph-") as scratch_name:
        scratch = Path(scratch_name)
        parts = files(len(recipe.buckets), jobs, "cpu" if cuda is None else "cuda")
        for name, text in package_sources(recipe.name, recipe.model, recipe.buckets, library, parts, cuda).items():
            (scratch / name).write_text(text, encoding="utf-8")
        own = sorted(one for one in scratch.iterdir() if one.suffix != ".hpp")
        # What takes longest begins first.
        own.sort(key=lambda one: (one.suffix != ".cu", one.name == "package.cpp", one.name == "model.cpp" and cuda is not None))
        # What no model changes is compiled once, for all packages.
        shared = [(source, f"{source.stem}-{recipe.library_key()}.o")
                  for source in (library.compiled, library.package / "exports.cpp")]
        if cuda is not None:
            shared.insert(0, (library.compiled_for_cuda, f"cuda_compiled-{recipe.cuda_library_key()}.o"))

        def compile_one(source: Path, target: Path) -> Path:
            (cuda if cuda is not None and source.suffix == ".cu" else compiler).compile(source, target, includes)
            return target

        def compile_shared(source: Path, name: str) -> Path:
            return cached(packages, name, lambda target: compile_one(source, target))[0]

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            every = [pool.submit(compile_shared, *one) for one in shared]
            every += [pool.submit(compile_one, source, source.with_suffix(".o")) for source in own]
            try:
                wait(every, return_when=FIRST_EXCEPTION)
                objects = [str(one.result()) for one in every]
            finally:
                pool.shutdown(cancel_futures=True)  # after an error, what has not begun
        link = ["-shared", "-pthread", "-Xlinker", f"--version-script={library.package / 'exports.map'}",
                "-Wl,--build-id=sha1", "-Wl,--no-undefined", *objects, *(cuda.link_flags() if cuda else []), "-o", str(path)]
        compiler.run(link, f"link {path.name}")
