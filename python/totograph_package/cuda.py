# SPDX-License-Identifier: Apache-2.0
"""The CUDA compiler that is there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .compiler import Compiler, CompilerError, run_compiler, version_of

PRECISIONS = ("bf16", "tf32", "f32")


@dataclass(frozen=True)
class CudaCompiler:
    command: tuple[str, ...]
    version: str  #: What it says of itself.
    flags: tuple[str, ...]
    libraries: Path  #: Where those of the toolkit are.
    precision: str  #: Of the forecasts.

    @property
    def name(self) -> str:
        return Path(self.command[0]).name

    def compile(self, source: Path, target: Path, includes: Sequence[str]) -> None:
        """Raises `CompilerError`."""
        apart = [part for one in includes for part in (("-isystem", one[8:]) if one.startswith("-isystem") else (one,))]
        run_compiler(self.command, [*self.flags, *apart, "-c", str(source), "-o", str(target)], f"compile {source.name}")

    def link_flags(self) -> list[str]:
        # Found again where they lie, also in a toolkit that the system's loader does not know.
        return [f"-L{self.libraries}", f"-Wl,-rpath,{self.libraries}", "-lcudart", "-lcublasLt"]


def find_cuda_compiler(host: Compiler, architectures: Sequence[str], precision: str) -> CudaCompiler:
    """The compiler of the environment variable CUDACXX, `nvcc` on the path, or that of /usr/local/cuda. Raises
    `CompilerError`.

    host: compiles what is not of the device.
    architectures: compute capabilities, such as `90a`; empty: those of this machine's devices."""
    named = os.environ.get("CUDACXX")
    candidates = [shlex.split(named)] if named else [["nvcc"], ["/usr/local/cuda/bin/nvcc"]]
    command = next((parts for parts in candidates if parts and shutil.which(parts[0])), None)
    if command is None:
        raise CompilerError(f"No CUDA compiler is there: looked for {', '.join(one[0] for one in candidates if one)}. "
                            "Install the CUDA toolkit, 12.4 or later, or name its nvcc with CUDACXX.")
    said = version_of(command)
    release = re.search(r"release (\d+)\.(\d+)", said)
    if release and (int(release[1]), int(release[2])) < (12, 4):
        raise CompilerError(f"The compiler '{command[0]}' is of CUDA {release[1]}.{release[2]}, and 12.4 or later is needed. "
                            "Name a later one with CUDACXX.")
    flags = ["-std=c++20", next(one for one in host.flags if one.startswith("-O")), "-DNDEBUG", "--expt-relaxed-constexpr",
             "-Xcudafe=--max_cost_constexpr_call=2000000000", f"-ccbin={_program(host.command)}",
             "-DTOTOGRAPH_SEPARATE_CUDA_COMPILATION"]
    flags += [f"-Xcompiler={one}" for one in host.command[1:] if one.startswith("-")]
    flags += [one for one in host.flags if one.startswith("-D") and one != "-DNDEBUG"]
    flags += [f"-Xcompiler={one}" for one in host.flags if not one.startswith(("-std=", "-O", "-D"))]
    for one in architectures or architectures_here():
        number = one.removeprefix("sm_")
        if not re.fullmatch(r"[0-9]{2,3}[a-z]?", number):
            raise CompilerError(f"'{one}' is no architecture of devices; expected a compute capability such as 90a or 80.")
        flags.append(f"-gencode=arch=compute_{number},code=sm_{number}")
    nvcc = _program(command)
    return CudaCompiler(tuple(command), said, tuple(flags), _library_folder(Path(shutil.which(nvcc) or nvcc)), precision)


def _program(command: Sequence[str]) -> str:
    """Of a command that may begin with another one, like ccache, and have options."""
    return [one for one in command if not one.startswith("-")][-1]


def architectures_here() -> list[str]:
    """Of the CUDA devices of this machine. Raises `CompilerError` where there is none."""
    asked = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        said = ""
    numbers = sorted(set(re.findall(r"^(\d+)\.(\d)$", said, re.M)))
    if not numbers:
        raise CompilerError("No CUDA device is there, whose architecture a package could be compiled for. Name one, such "
                            "as --architecture 90a.")
    return [major + minor + "a" * (major == "9") for major, minor in numbers]  # all devices of 9.0 have what the a adds


def _library_folder(nvcc: Path) -> Path:
    root = nvcc.resolve().parents[1]
    folders = [root / "lib64", root / "lib", root / "targets" / "x86_64-linux" / "lib", Path("/usr/lib/x86_64-linux-gnu")]
    found = next((folder for folder in folders if (folder / "libcublasLt.so").exists()), None)
    if found is None:
        raise CompilerError("The library cublasLt was looked for in " + ", ".join(f"'{folder}'" for folder in folders)
                            + ". Install it with the CUDA toolkit.")
    return found
