# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from .buckets import LADDERS, Bucket, by_cost, ladder, parse
from .build import Recipe, build, processors
from .compiler import CompilerError, find_compiler
from .cuda import PRECISIONS, find_cuda_compiler
from .library import find_library
from .models import Model, read_model
from .plan import plan
from .published import PUBLISHED


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="totograph-package",
        description="Compiles a package: a model for some sizes of requests, as a shared library that C++, C and Python "
        "load. It takes any checkpoint with the same config.json.")
    parser.add_argument("checkpoint", help="a folder with a config.json, or that file; weights are not read; or a published "
                        f"model: {', '.join(PUBLISHED)}")
    parser.add_argument("--ladder", choices=sorted(LADDERS), help="buckets for many kinds of requests (default: small)")
    parser.add_argument("--bucket", action="append", default=[], metavar="'NAME=NUMBER ...'",
                        help="a bucket, like 'variates=8 context=512 horizon=96'; more of them, more buckets")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE",
                        help="where to write it (default: leave it in the cache, and print where)")
    parser.add_argument("--name", help="what it calls itself (default: as the output, or the checkpoint, is called)")
    parser.add_argument("--target", metavar="LEVEL",
                        help="processors that it is for, as -march has them (default: the highest level of x86-64 that "
                        "this machine has; any x86-64: 'x86-64')")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what it runs on (default: cpu)")
    parser.add_argument("--architecture", action="append", default=[], metavar="CAPABILITY",
                        help="of CUDA devices, like 90a; more of them, more kinds of devices (default: those of this machine)")
    parser.add_argument("--precision", choices=PRECISIONS, help="on a CUDA device (default: bf16)")
    parser.add_argument("--compiler", help="the C++ compiler (default: CXX, else the first of g++, clang++, c++)")
    parser.add_argument("--optimize", type=int, default=3, choices=range(4), help="how much (default: 3)")
    parser.add_argument("--jobs", type=int, metavar="N",
                        help="compilers at the same time, each of which takes up to 1.7 GB, and nvcc 4 (default: one a "
                        "processor)")
    parser.add_argument("--plan", action="store_true", help="print what would be compiled and what it costs, and end")
    return parser


def _buckets(ladder_name: str | None, texts: list[str], model: Model) -> list[Bucket]:
    own = [parse(text, model) for text in texts]
    chosen = ladder(ladder_name or "small", model) if ladder_name or not own else []
    return by_cost(own + chosen, model)


def main(arguments: list[str] | None = None) -> int:
    given = _arguments().parse_args(arguments)
    try:
        if given.jobs is not None and given.jobs < 1:
            raise ValueError(f"--jobs cannot be {given.jobs}; name 1 or more.")
        if given.device == "cpu" and (given.architecture or given.precision):
            raise ValueError("--architecture and --precision are of CUDA devices; name --device cuda as well.")
        model = read_model(given.checkpoint)
        buckets = _buckets(given.ladder, given.bucket, model)
        if given.plan:
            print(plan(model, buckets, given.jobs or processors(), given.device))
            return 0
        name = given.name or (given.output.name.split(".")[0] if given.output else model.title)
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "package"
        compiler = find_compiler(given.compiler, given.target, f"-O{given.optimize}")
        cuda = None
        if given.device == "cuda":
            cuda = find_cuda_compiler(compiler, given.architecture, given.precision or "bf16")
        recipe = Recipe(name, model, tuple(buckets), compiler, find_library(), cuda)
        path = build(recipe, jobs=given.jobs or 0, output=given.output, say=lambda text: print(text, file=sys.stderr))
    except (CompilerError, OSError, ValueError) as error:
        print(f"totograph-package: {error}", file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
