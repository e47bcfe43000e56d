#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a forecast costs through Python, over one through C, in turns: NumPy, and a tensor with DLPack.

    python3 bench/package/compare.py PACKAGE CHECKPOINT [--steps 64] [--horizon 16] [--samples 0]
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import numpy as np  # noqa: E402

import totograph as tg  # noqa: E402


class Tensor:
    """DLPack, and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def through_python(model, series, given):
    times = []
    for _ in range(given.count):
        begin = time.perf_counter()
        made = model.forecast(series, given.horizon, samples=given.samples)
        made.mean if given.samples == 0 else made.median
        times.append(1e6 * (time.perf_counter() - begin))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package")
    parser.add_argument("checkpoint")
    for name, default in (("steps", 64), ("horizon", 16), ("samples", 0), ("count", 1000), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    series = np.sin(0.3 * np.arange(given.steps)).astype(np.float32)
    model = tg.load(given.checkpoint, given.package, threads=1)
    times = {"C": [], "Python, NumPy": [], "Python, DLPack": []}
    with tempfile.TemporaryDirectory() as folder:
        call = pathlib.Path(folder) / "call"
        subprocess.run(["cc", "-O2", f"-I{ROOT / 'include'}", ROOT / "bench/package/call.c", "-o", call, "-ldl", "-lm"],
                       check=True)
        sizes = [str(one) for one in (given.steps, given.horizon, given.samples, given.count)]
        for _ in range(given.rounds):
            said = subprocess.run([call, given.package, given.checkpoint, *sizes], check=True, capture_output=True, text=True)
            times["C"].append([float(one) for one in said.stdout.split()])
            times["Python, NumPy"].append(through_python(model, series, given))
            times["Python, DLPack"].append(through_python(model, Tensor(series), given))
    print(f"{'':16}{'median':>9}{'least':>9}   us a forecast; the least of {given.rounds} rounds of {given.count}")
    for door, rounds in times.items():
        median, least = min(map(statistics.median, rounds)), min(map(min, rounds))
        print(f"{door:16}{median:9.1f}{least:9.1f}")


if __name__ == "__main__":
    main()
