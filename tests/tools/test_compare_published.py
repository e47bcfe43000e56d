#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/compare_published beside stand-ins: of PyTorch and the public implementation, whose forecast is a straight line,
and of our program, which forecasts the same line, or another one as told."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from test_get_checkpoint import Hub, Storage

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "compare_published"
SERIES = 10

# As much of torch as the tool uses.
TORCH = '''
float32 = "float32"

class Tensor:
    def __init__(self, values):
        self.values = values
    def __getitem__(self, key):
        found = self.values
        for part in key if isinstance(key, tuple) else (key,):
            found = [found] if part is None else found[part]
        return Tensor(found)
    def map(self, change):
        return Tensor([change(value) for value in self.values])
    def __lt__(self, other):
        return self.map(lambda value: value < other)
    def __le__(self, other):
        return self.map(lambda value: value <= other)
    def abs(self):
        return self.map(abs)
    def float(self):
        return self.map(float)
    def max(self):
        return Tensor(max(self.values))
    def mean(self):
        return Tensor(sum(self.values) / len(self.values))
    def item(self):
        return self.values
    def tolist(self):
        return self.values

class no_grad:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        return False

def tensor(values, dtype=None):
    return Tensor(values)
def zeros_like(other):
    return other
def full(shape, value):
    return value
def manual_seed(seed):
    pass
'''

# A line from the newest value on, and draws that are spread evenly over 1 on either side of it.
LINE = '''
def mean(values, horizon):
    return [values[-1] + 0.01 * step for step in range(1, horizon + 1)]
def quantile(level):
    return 2 * level - 1
'''

FORECASTER = '''
import math
import types
import line
from torch import Tensor

class TotoForecaster:
    def __init__(self, model):
        assert model == "the model"
    def forecast(self, inputs, prediction_length, num_samples, samples_per_batch):
        values = inputs.series[0, 0].tolist()
        seen = inputs.seen[0, 0].tolist()
        known = [value for value, is_known in zip(values, seen) if is_known]
        level = math.fsum(known) / len(known)
        assert len(values) == 512 and len(known) > 256
        assert all(is_known or math.isclose(value, level) for value, is_known in zip(values, seen)), "the mean is in gaps"
        mean = line.mean(values, prediction_length)
        draws = [(i + 0.5) / num_samples for i in range(num_samples or 0)]
        samples = [[value + line.quantile(draw) for draw in draws] for value in mean]
        return types.SimpleNamespace(mean=Tensor([[mean]]), samples=Tensor([[samples]]))
'''

MODEL = '''
import os
import types

class Toto:
    @staticmethod
    def load_from_checkpoint(folder):
        assert os.path.isdir(folder)
        return types.SimpleNamespace(model=types.SimpleNamespace(eval=lambda: "the model"))
'''

DATASET = '''
import types

def MaskedTimeseries(series, seen, ids, times, interval):
    return types.SimpleNamespace(series=series, seen=seen)
'''

PROGRAM = '''
import argparse
import csv
import json
import math
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("file")
for name in ("targets", "checkpoint", "context", "horizon", "samples", "output"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--seed", choices=["1"], required=True)
parser.add_argument("--quantiles")
for name in ("as-is", "quiet", "no-chart"):
    parser.add_argument("--" + name, action="store_true")
arguments = parser.parse_args()
assert arguments.as_is and arguments.quiet and arguments.no_chart and arguments.output == "-"
told = json.loads(os.environ["TOLD"]).get(arguments.targets, {})
if "error" in told:
    sys.exit(told["error"])
with open(arguments.file, newline="") as rows:
    values = [float(row[arguments.targets] or "nan") for row in csv.DictReader(rows)][-int(arguments.context):]
seen = [value for value in values if not math.isnan(value)]
values[-1] = values[-1] if not math.isnan(values[-1]) else math.fsum(seen) / len(seen)
mean = line.mean(values, int(arguments.horizon))
largest = max(map(abs, mean))
mean = [value + (told.get("mean", 0.0) * largest if step >= told.get("from", 0) else 0.0)
        for step, value in enumerate(mean)][:told.get("steps")]
if arguments.samples == "0":
    print("timestamp,series,mean")
    for step, value in enumerate(mean):
        print(f"{step},a,{value!r}")
else:
    levels = [float(level) for level in arguments.quantiles.split(",")]
    print("timestamp,series,median," + ",".join(f"quantile_{level}" for level in levels))
    for step, value in enumerate(mean):
        cells = [value + line.quantile(level) + told.get("quantiles", 0.0) for level in [0.5] + levels]
        print(f"{step},a," + ",".join(map(repr, cells)))
'''


class ComparePublished(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.modules = self.scratch / "modules"
        for path, text in {"torch/__init__.py": TORCH, "line.py": LINE, "toto/inference/forecaster.py": FORECASTER,
                           "toto/model/toto.py": MODEL, "toto/data/util/dataset.py": DATASET}.items():
            file = self.modules / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.program = self.scratch / "forecast"
        self.program.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(self.modules)!r})\n"
                                "import line\n" + PROGRAM)
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.checkpoint = self.scratch / "checkpoint"

    def run_tool(self, checkpoint, told, *arguments, **environment):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.modules), "TOLD": json.dumps(told),
                       **environment}
        return subprocess.run([sys.executable, TOOL, checkpoint, "--program", self.program, "--folder",
                               self.checkpoint, *arguments], env=environment, capture_output=True, text=True,
                              timeout=100)

    def compare(self, told, *arguments):
        """Compares with a checkpoint that is there."""
        self.checkpoint.mkdir(exist_ok=True)
        return self.run_tool(self.checkpoint, told, *arguments)

    def test_a_mean_that_is_too_far(self):
        report = self.scratch / "report.md"
        done = self.compare({"load_1m": {"mean": 2e-4}, "co2_ppm": {"mean": 0.5e-4}}, "--report", report)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        far = [row for row in report.read_text().splitlines() if "too far" in row]
        self.assertEqual(len(far), 1)
        self.assertIn("load_1m | 2.0e-04", far[0])
        self.assertIn(f"{SERIES - 1} of {SERIES} series agree.", report.read_text())

    def test_quantiles_that_are_too_far(self):
        # A standard error of the median's level is 0.0625 with 128 draws, and a draw's level 0.5 for each 1 of value.
        told = {"load_1m": {"quantiles": 0.7}, "runnable_tasks": {"quantiles": -0.7},
                "co2_ppm": {"quantiles": 0.3}, "page_cache_mib": {"quantiles": -0.3}}
        done = self.compare(told)
        self.assertEqual(done.returncode, 1, done.stderr)
        far = [row.split(" | ")[0] for row in done.stdout.splitlines() if "too far" in row]
        self.assertEqual(far, ["| load_1m", "| runnable_tasks"])

    def test_what_is_no_number_is_too_far(self):
        told = {"load_1m": {"mean": float("nan"), "from": 1}, "co2_ppm": {"quantiles": float("nan")}}
        done = self.compare(told)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.count("too far"), 2)

    def test_a_forecast_that_is_too_short(self):
        done = self.compare({"load_1m": {"steps": 47}})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("wrote 47 steps of load_1m, and not 48.", done.stderr)

    def test_a_program_that_fails_is_quoted(self):
        done = self.compare({"sea_surface_celsius": {"error": "forecast: no such checkpoint."}})
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with 1: forecast: no such checkpoint.", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_name_is_downloaded_and_its_hash_checked_and_forecasts_agree(self):
        storage = Storage()
        hub = Hub(storage)
        for server in (hub, storage):
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)
        path = next(iter(storage.contents))
        weights = storage.contents[path]
        storage.contents[path] = weights[:-1] + b"?"
        done = self.run_tool("toto-open-base-1.0", {}, HF_ENDPOINT=hub.address)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Nothing was compared.", done.stderr)
        storage.contents[path] = weights
        done = self.run_tool("toto-open-base-1.0", {}, HF_ENDPOINT=hub.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.checkpoint / "model.safetensors").read_bytes(), weights)
        rows = [row for row in done.stdout.splitlines() if row.startswith("| ")]
        self.assertEqual(len(rows), SERIES + 1)
        self.assertIn(f"{SERIES} of {SERIES} series agree.", done.stdout)
        self.assertNotIn("too far", done.stdout)


if __name__ == "__main__":
    unittest.main()
