# SPDX-License-Identifier: Apache-2.0
"""`pip install ./python` into an empty virtual environment, and a forecast there; then the same from a wheel with a
package inside, without a compiler. Ends with 77 where none can be made. For packages, the compiler is one that has a
package ready: package/build compiles one."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

source, scratch, package, data = (pathlib.Path(argument) for argument in sys.argv[1:])


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def skip(reason, said):
    print(f"skipped: {reason}: {(said.stderr or said.stdout).strip().splitlines()[-1:]}")
    sys.exit(77)


shutil.rmtree(scratch, ignore_errors=True)
scratch.mkdir(parents=True)
made = run(sys.executable, "-m", "venv", scratch / "venv")
if made.returncode != 0:
    skip("no virtual environment can be made", made)
python = scratch / "venv/bin/python"
where = run(python, "-c", "import sysconfig; print(sysconfig.get_path('include'))").stdout.strip()
if not (pathlib.Path(where) / "Python.h").exists():
    print(f"skipped: '{where}' has no Python.h, which the module's part in C++ takes.")
    sys.exit(77)
got = run(python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch / "wheels", "numpy>=1.23", timeout=100)
if got.returncode != 0:
    skip("pip gets no packages here", got)
# What a build leaves in its folder is not to be left in the sources.
for part in ("python", "include", "cmake", "models"):
    shutil.copytree(source / part, scratch / "clone" / part, ignore=shutil.ignore_patterns("build", "__pycache__"))
installed = run(python, "-m", "pip", "install", "--quiet", "./python", cwd=scratch / "clone")
assert installed.returncode == 0, installed.stderr
compiler = scratch / "c++"
compiler.write_text(f"""#!/bin/sh
case "$*" in */module.cpp*|*/module.o*) exec {os.environ.get("CXX", "c++")} "$@" ;; esac
for argument; do
    [ "$argument" = -E ] && exit
    case "$argument" in -I*) [ -f "${{argument#-I}}/totograph/version.hpp" ] || exit 1 ;; esac
    case "$argument" in *.cpp) [ -f "$argument" ] || exit 1 ;; esac
    [ "${{last:-}}" = -o ] && target=$argument
    last=$argument
done
[ "$1" = --version ] && echo one && exit
case "$target" in *.so) cp '{package}' "$target" ;; *) : >"$target" ;; esac
""")
compiler.chmod(0o755)
environment = {name: value for name, value in os.environ.items() if not name.startswith(("TOTOGRAPH_", "PYTHON"))}
environment.update(TOTOGRAPH_CACHE_DIR=str(scratch / "cache"), CXX=str(compiler))


def forecast():
    said = run(python, "-m", "totograph", "forecast", data, "--horizon", "3", env=environment, cwd=scratch)
    assert said.returncode == 0, said.stderr
    lines = [line.split(",") for line in said.stdout.splitlines()]
    assert lines[0] == ["time", "variate", "0.1", "0.5", "0.9"] and len(lines) == 1 + 3 * 2, said.stdout
    assert all(float(low) <= float(middle) <= float(high) for _, _, low, middle, high in lines[1:]), lines
    return said.stdout


(scratch / "clone").rename(scratch / "moved")  # what is installed needs no clone
first = forecast()
planned = run(scratch / "venv/bin/totograph-package", scratch / "venv", env=environment)
assert planned.returncode == 1 and "does not exist" in planned.stderr, planned.stderr

# A wheel with a package inside.
(scratch / "moved").rename(scratch / "clone")
building = {**environment, "TOTOGRAPH_WHEEL_PACKAGES": "demo", "TOTOGRAPH_WHEEL_TARGETS": "x86-64"}
made = run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch / "wheels", "./python",
           cwd=scratch / "clone", env=building)
assert made.returncode == 0, made.stderr
(wheel,) = (scratch / "wheels").glob("totograph-*.whl")
tag = re.search(rf"-cp39-abi3-manylinux_(\d+)_(\d+)_{platform.machine()}\.whl$", wheel.name)
assert tag, wheel
promised = tuple(map(int, tag.groups()))
with zipfile.ZipFile(wheel) as content:
    libraries = [name for name in content.namelist() if name.endswith(".so")]
    assert sorted(libraries) == ["totograph/_native.abi3.so", "totograph/packages/demo.x86-64.so"], libraries
    for name in libraries:  # asks for no newer C library than the tag says
        asked = {tuple(map(int, version.split(b"."))) for version in re.findall(rb"GLIBC_([\d.]+)", content.read(name))}
        assert asked and max(asked)[:2] <= promised, (name, asked)
shutil.rmtree(scratch / "clone")
installed = run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)
assert installed.returncode == 0, installed.stderr
environment.update(CXX="/bin/false", TOTOGRAPH_CACHE_DIR="")
assert forecast() == first
