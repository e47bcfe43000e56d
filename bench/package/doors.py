#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a forecast takes through each door of a package, over one that is compiled in: all in one process, in turns.

    cmake --preset release && cmake --build --preset release --target bench_doors
    PYTHONPATH=build/release/python python3 bench/package/doors.py build/release/bench [--threads 1]
"""
import argparse
import ctypes as c
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

import numpy as np

import totograph as tg

ROOT = pathlib.Path(__file__).resolve().parents[2]

COMPILED_IN = "C++, compiled in"
# Variates, steps, horizon, samples; the sizes that bench_package is compiled for hold them.
CASES = {"one patch": (1, 64, 16, 0), "three variates": (3, 80, 32, 0), "samples": (3, 80, 32, 8)}


class Request(c.Structure):
    _fields_ = [("values", c.POINTER(c.c_float))] + [
        (name, c.c_int64) for name in ("variates", "steps", "horizon", "samples", "count")]


class Tensor:
    """DLPack, and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Native:
    """A door of the library that was built of doors.cpp and doors.c."""

    def __init__(self, library, prefix, *how):
        for name, kind in (("open", c.c_void_p), ("time", c.c_int), ("result", c.POINTER(c.c_float))):
            function = getattr(library, f"{prefix}_{name}")
            function.restype = kind
            setattr(self, "_" + name, function)
        self.handle = c.c_void_p(self._open(*how))
        if not self.handle:
            sys.exit(1)

    def forecasts(self, series, horizon, samples, count):
        request = Request(series.ctypes.data_as(c.POINTER(c.c_float)), *series.shape, horizon, samples, count)
        times = np.empty(count)
        if self._time(self.handle, c.byref(request), times.ctypes.data_as(c.c_void_p)) != 0:
            sys.exit(1)
        result = np.ctypeslib.as_array(self._result(self.handle), (series.shape[0], horizon)).copy()
        return times, result


class Python:
    def __init__(self, model, wrap):
        self.model, self.wrap = model, wrap

    def forecasts(self, series, horizon, samples, count):
        model, series, times = self.model, self.wrap(series), np.empty(count)
        for i in range(count):
            begin = time.perf_counter()
            made = model.forecast(series, horizon, samples=samples)
            result = made.mean if samples == 0 else made.median
            del made  # the other doors free their result as well
            times[i] = 1e6 * (time.perf_counter() - begin)
        return times, result


def measure(given):
    """What a forecast takes through each door, as medians by case; results are compared to the bit."""
    library, package = c.CDLL(str((given.folder / "bench_doors.so").resolve())), given.folder / "bench_package.so"
    name, rest = bytes(package.resolve()), (bytes(given.checkpoint), c.c_int32(given.threads))
    model = tg.load(given.checkpoint, package, threads=given.threads)
    doors = {COMPILED_IN: Native(library, "door", None, *rest), "C++, package": Native(library, "door", name, *rest),
             "C": Native(library, "c_door", name, c.c_void_p(model._service.address)),
             "Python, NumPy": Python(model, lambda one: one), "Python, DLPack": Python(model, Tensor)}
    medians = {}
    for case, (variates, steps, horizon, samples) in CASES.items():
        series = np.sin(0.3 * np.arange(variates * steps)).astype(np.float32).reshape(variates, steps)
        times = {door: [] for door in doors}
        for turn in range(given.turns):
            results = {}
            for door in random.sample(list(doors), len(doors)):
                spent, results[door] = doors[door].forecasts(series, horizon, samples, given.count)
                times[door] += list(spent[len(spent) // 3 :])  # the first ones find another door's data in the caches
            for door, result in results.items():
                np.testing.assert_array_equal(result, results[COMPILED_IN], err_msg=door)
        medians[case] = {door: statistics.median(one) for door, one in times.items()}
    return medians


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="where bench_package.so and bench_doors.so are")
    parser.add_argument("--checkpoint", type=pathlib.Path, default=ROOT / "models" / "demo")
    for name, default, says in (
            ("threads", 1, "of a forecast"), ("turns", 20, "of all doors"), ("count", 30, "forecasts of a door in its turn"),
            ("processes", 5, "that measure; in each, memory lies elsewhere, which moves times by some percent")):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{says} (default: {default})")
    given = parser.parse_args()
    if given.processes == 0:
        print(json.dumps(measure(given)))
        return
    runs = [json.loads(subprocess.run([sys.executable, *sys.argv, "--processes", "0"], check=True, capture_output=True,
                                      text=True).stdout) for _ in range(given.processes)]
    print("us a forecast, and over the first; medians of processes (least to largest)")
    for case in CASES:
        print(case)
        for door in runs[0][case]:
            found = statistics.median(run[case][door] for run in runs)
            over = sorted(run[case][door] - run[case][COMPILED_IN] for run in runs)
            middle = statistics.median(over)
            print(f"    {door:18}{found:9.1f}{middle:+9.1f}  ({over[0]:+.1f} to {over[-1]:+.1f}) {100 * middle / found:+6.1f}%")


if __name__ == "__main__":
    main()
