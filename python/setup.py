# SPDX-License-Identifier: Apache-2.0
"""Builds the module. Its part in C++ takes a compiler and Python.h. The environment variable TOTOGRAPH_WHEEL_PACKAGES
names what is compiled and put inside beside it: `demo` with the ladder `small`, and published models with `standard`,
such as `demo open_base_1_0 toto2_4m toto2_22m`; or `all`, which means these. TOTOGRAPH_WHEEL_TARGETS names the levels of
processors that they are compiled for, in place of x86-64-v3 and x86-64-v4; for other processors than x86-64, in place of
the compiler's own."""
import os
import platform
import re
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PYTHON = Path(__file__).resolve().parent
ROOT = PYTHON.parent
ALL = ("demo", "open_base_1_0", "toto2_4m", "toto2_22m")

# The version is written in one place.
header = (ROOT / "include" / "totograph" / "version.hpp").read_text()
parts = [re.search(rf"#define TOTOGRAPH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]


def words(variable):
    return [word for word in re.split(r"[\s,]+", os.environ.get(variable, "")) if word]


def wanted_packages():
    named = words("TOTOGRAPH_WHEEL_PACKAGES")
    return ALL if named == ["all"] else named


def wanted_levels():
    of_kind = ["x86-64-v3", "x86-64-v4"] if platform.machine() in ("x86_64", "AMD64") else [None]  # the compiler's own
    return words("TOTOGRAPH_WHEEL_TARGETS") or of_kind


def build_packages(folder):
    sys.path.insert(0, str(PYTHON))
    from totograph_package import Recipe, build, ladder, read_model
    from totograph_package.compiler import find_compiler
    from totograph_package.library import find_library

    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted_packages():
        model = read_model(ROOT / "models" / "demo" if name == "demo" else name)
        sizes = tuple(ladder("small" if name == "demo" else "standard", model))
        for level in wanted_levels():
            recipe = Recipe(name, model, sizes, find_compiler(None, level), find_library())
            file = f"{name}.{level}.so" if level else f"{name}.so"
            build(recipe, output=folder / file, say=lambda text: print(text, file=sys.stderr, flush=True))


class WithLibrary(build_py):
    """Adds what packages are compiled from, the demo model, and packages."""

    def run(self):
        super().run()
        to = Path(self.build_lib)
        for source, target in [
            ("include/totograph", "totograph_package/library/include/totograph"),
            ("cmake/package", "totograph_package/library/cmake/package"),
            ("cmake/compiled", "totograph_package/library/cmake/compiled"),
            ("models/demo", "totograph/models/demo"),
        ]:
            shutil.copytree(ROOT / source, to / target, dirs_exist_ok=True)
        shutil.rmtree(to / "totograph" / "packages", ignore_errors=True)  # of a build before
        if wanted_packages():
            build_packages(to / "totograph" / "packages")


class Wheel(bdist_wheel):
    """For all versions of Python from 3.9 on, but for free-threaded builds; for this kind of processors, and for systems
    whose C library is not older than the one here; those have a C++ library that is not older either."""

    def finalize_options(self):
        self.py_limited_api = "cp39"
        super().finalize_options()

    def get_tag(self):
        python, abi, system = super().get_tag()
        library, version = platform.libc_ver()
        if library == "glibc":
            system = f"manylinux_{'_'.join(version.split('.')[:2])}_{platform.machine()}"
        elif wanted_packages():
            raise RuntimeError(f"Wheels with packages are built where the C library is glibc; found '{library}'.")
        return python, abi, system


native = Extension(
    "totograph._native", ["native/module.cpp"], include_dirs=[str(ROOT / "include")], py_limited_api=True, language="c++",
    depends=[str(one.relative_to(PYTHON)) for one in (PYTHON / "native").glob("*.hpp")],
    define_macros=[("Py_LIMITED_API", "0x03090000")],
    extra_compile_args=["-std=c++20", "-O2", "-g0", "-fvisibility=hidden"])
setup(version=".".join(parts), ext_modules=[native], cmdclass={"build_py": WithLibrary, "bdist_wheel": Wheel})
