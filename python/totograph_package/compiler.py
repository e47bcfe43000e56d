# SPDX-License-Identifier: Apache-2.0
"""The C++ compiler that is there."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence


class CompilerError(RuntimeError):
    """A compiler is missing, or has failed; the sentence has its first error."""


@dataclass(frozen=True)
class Compiler:
    command: tuple[str, ...]
    version: str  #: What it says of itself.
    flags: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(self.command[0]).name

    def run(self, arguments: Sequence[str], what: str) -> None:
        """Raises `CompilerError`."""
        run_compiler(self.command, arguments, what)

    def digest(self, headers: Sequence[str], includes: Sequence[str]) -> str:
        """A hash of the text of headers, wherever this compiler finds them, with their macros and all that they
        include. Raises `CompilerError` where one is missing."""
        return _digest(self.command, self.flags, tuple(headers), tuple(includes), tuple(map(os.environ.get, _PATHS)))

    def compile(self, source: Path, target: Path, includes: Sequence[str]) -> None:
        """Raises `CompilerError`."""
        self.run([*self.flags, *includes, "-c", str(source), "-o", str(target)], f"compile {source.name}")


def run_compiler(command: Sequence[str], arguments: Sequence[str], what: str) -> None:
    """Raises `CompilerError`."""
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, errors="replace",
                          env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        raise CompilerError(f"{Path(command[0]).name} cannot {what}: {first_error(done.stderr, done.returncode)}")


_PATHS = ("CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX")  # with which compilers find headers


@functools.lru_cache(maxsize=None)
def _digest(command: tuple[str, ...], flags: tuple[str, ...], headers: tuple[str, ...], includes: tuple[str, ...],
            paths: tuple[str | None, ...]) -> str:
    del paths  # they tell calls apart; the compiler reads the environment's own
    asked = [*command, *flags, *includes, "-E", "-P", "-dD", "-x", "c++", "-"]
    done = subprocess.run(asked, capture_output=True, env={**os.environ, "LC_ALL": "C"},
                          input="".join(f"#include <{header}>\n" for header in headers).encode())
    if done.returncode != 0:
        messages = first_error(done.stderr.decode("utf-8", "replace"), done.returncode)
        raise CompilerError(f"{Path(command[0]).name} cannot read what packages are made of: {messages}")
    return hashlib.sha256(done.stdout).hexdigest()


def first_error(messages: str, status: int) -> str:
    """The line of a compiler's messages that says what is wrong."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    found = next((line for line in lines if re.search(r"\b(fatal )?error\b|undefined reference|Killed", line)), None)
    found = found or (lines[0] if lines else f"it ended with status {status} and said nothing")
    if re.search(r"Eigen/|nlohmann/", found) and "o such file" in found:
        found += " (Debian has it in libeigen3-dev and nlohmann-json3-dev)"
    if status < 0 or "Killed" in found:
        found += " (it was ended from outside; with too little memory, use fewer --jobs)"
    return found[:600]


def version_of(command: Sequence[str]) -> str:
    """What a compiler says of itself. Raises `CompilerError`."""
    try:
        return subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CompilerError(f"The compiler '{command[0]}' does not tell its version: {error}.") from None


def find_compiler(named: str | None, target: str | None, optimize: str = "-O3") -> Compiler:
    """The compiler that is named, that of the environment variable CXX, or the first of g++, clang++ and c++.

    target: a level of processors, such as x86-64-v3, or `native`; None: the highest level that this one has."""
    named = named or os.environ.get("CXX")
    candidates = [named] if named else ["g++", "clang++", "c++"]
    command = next((parts for parts in map(shlex.split, candidates) if parts and shutil.which(parts[0])), None)
    if command is None:
        raise CompilerError(f"No C++ compiler is there: looked for {', '.join(candidates)}. Install one, such as "
                            "Debian's g++, or name it with CXX.")
    said = version_of(command)
    target = target or processor_level()
    flags = ["-std=c++20", optimize, "-DNDEBUG", "-pthread", "-fPIC", "-fvisibility=hidden",
             "-fvisibility-inlines-hidden", "-DTOTOGRAPH_SEPARATE_COMPILATION", "-DTOTOGRAPH_NO_OPTIMIZE_WARNING"]
    # A full-size model is planned by the compiler's evaluator, whose own limits are too small (../CMakeLists.txt).
    if "clang" in said.lower():
        flags += ["-fconstexpr-steps=2000000000"]
    else:
        flags += ["-fconstexpr-ops-limit=8589934592", "-fconstexpr-loop-limit=1073741824",
                  "--param=ggc-min-heapsize=262144"]
    if target:
        flags += [f"-march={target}"]
    if target == "native":
        said += _native(tuple(command))
    return Compiler(tuple(command), said, tuple(flags))


@functools.lru_cache(maxsize=None)
def _native(command: tuple[str, ...]) -> str:
    """What `native` stands for here: a cache may be shared by machines."""
    asked = [*command, "-march=native", "-E", "-dM", "-x", "c++", os.devnull]
    return subprocess.run(asked, capture_output=True, text=True).stdout


_LEVELS = {"x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
           "x86-64-v3": "avx2 bmi1 bmi2 f16c fma abm movbe"}


def processor_level() -> str | None:
    """The highest level of x86-64 that this processor has, which others of that level can use as well."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    flags = next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())
    has_v3 = set(_LEVELS["x86-64-v3"].split()) <= flags
    return next((level for level, needed in _LEVELS.items() if has_v3 and set(needed.split()) <= flags), None)


def dependency_includes() -> list[str]:
    """Where Eigen is, which has a folder of its own, and nlohmann's JSON where a prefix of CMAKE_PREFIX_PATH has it."""
    named_prefixes = os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep)
    # The compiler's own folders it searches in an order of its own, which is not to be changed.
    prefixes = [Path(one, "include") for one in named_prefixes if one and Path(one) not in (Path("/usr"), Path("/usr/local"))]
    named = os.environ.get("EIGEN3_INCLUDE_DIR")
    folders = [Path(named)] if named else [one for prefix in prefixes for one in (prefix / "eigen3", prefix)]
    if not named and shutil.which("pkg-config"):
        said = subprocess.run(["pkg-config", "--cflags-only-I", "eigen3"], capture_output=True, text=True).stdout
        folders += [Path(part[2:]) for part in shlex.split(said)]
    if not named:
        folders += [Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")]
    found = [folder for folder in folders if (folder / "Eigen/Core").exists()][:1]
    found += [folder for folder in prefixes if (folder / "nlohmann/json.hpp").exists()][:1]
    return [f"-isystem{folder}" for folder in dict.fromkeys(found)]
