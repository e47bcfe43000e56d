# SPDX-License-Identifier: Apache-2.0
"""totograph-package, installed, builds a package with the compiler of this build; a program that has the same model
compiled in finds the same forecasts in it."""
import importlib.util
import os
import pathlib
import subprocess
import sys

cmake, build, scratch, compiler, archive, target, program = sys.argv[1:]
SCRATCH = pathlib.Path(scratch)
TOOLS = SCRATCH / "prefix/share/totograph/tools"
DEMO = SCRATCH / "prefix/share/totograph/models/demo"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    print("".join(line for line in (done.stdout + done.stderr).splitlines(True) if not line.startswith("-- ")), flush=True)
    return done


for component in ("development", "model"):
    assert run(cmake, "--install", build, "--prefix", SCRATCH / "prefix", "--component", component).returncode == 0

# What no model changes takes half a minute, and this build has it.
wrapper = SCRATCH / "c++"
wrapper.write_text(f"""#!/bin/sh
for argument; do
    [ "${{argument##*/}}" = compiled.cpp ] && is_library=yes
    last=$argument
done
[ "${{is_library:-}}" ] && exec ar p '{archive}' compiled.cpp.o >"$last"
exec '{compiler}' "$@"
""")
wrapper.chmod(0o755)
environment = {**os.environ, "TOTOGRAPH_CACHE_DIR": str(SCRATCH / "cache")}
environment.pop("TOTOGRAPH_ROOT", None)
package = SCRATCH / "built.so"
tool = [sys.executable, TOOLS / "totograph-package", DEMO, "--compiler", wrapper, "--target", target, "--optimize", "0",
        "--name", "tiny_package"]
sizes = ["--bucket", "variates=3 context=80 horizon=32 samples=8 exogenous=2", "--bucket",
         "variates=3 context=80 horizon=32"]
assert run(*tool, *sizes, "--jobs", "2", "--output", package, env=environment).returncode == 0

# Its buckets stand in the order in which the tool takes them for dearer and dearer.
sys.path.insert(0, str(TOOLS))
from totograph_package import read_model  # noqa: E402
from totograph_package.buckets import Bucket, by_cost  # noqa: E402

spec = importlib.util.spec_from_file_location("header", pathlib.Path(__file__).parents[2] / "python/totograph/_header.py")
header = sys.modules["header"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(header)
read = header.read_header(package)
buckets = [Bucket(**one) for one in read.models[0]["buckets"]]
assert len(buckets) == 2 and buckets == by_cost(reversed(buckets), read_model(DEMO)), buckets
assert read.name == "tiny_package" and read.models[0]["name"] == "toto1 embed_dim=192 num_layers=6", read

cases = "--test-case=a service of a package*,errors cross*,TOTOGRAPH_BACKEND*"
done = run(program, cases, env={**os.environ, "TOTOGRAPH_TEST_PACKAGE": str(package)})
assert done.returncode == 0 and "test cases: 3 | 3 passed" in " ".join(done.stdout.split()), done.stdout

# What the library refuses with a sentence, the tool tells.
tool[2] = pathlib.Path(__file__).parents[2] / "models/demo_2_0"
done = run(*tool, "--bucket", "context=999999 horizon=1", env=environment)
assert done.returncode == 1 and "static assertion failed: totograph: " in done.stderr, done.stderr

# A model that the library does not list, for the tests of the Python module.
tool[2] = pathlib.Path(__file__).parents[2] / "tests/data/toto2/levels"
done = run(*tool, "--bucket", "variates=6 context=64 horizon=24", "--output", SCRATCH / "levels.so", env=environment)
assert done.returncode == 0, done.stderr
