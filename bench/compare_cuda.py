#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts bench_cuda beside the public PyTorch implementation on the same device, in turns: medians, spreads, ratios.

    python3 bench/compare_cuda.py build/cuda/bench/bench_cuda [--rounds 2] [--precisions bf16,tf32]

Runs with a Python that has `toto-ts` and a `torch` with CUDA. Prints a Markdown table: `faster` is the time of toto-ts
by ours, `floors` ours by the floor. The floor is measured by the same program in the same run: the weights read once a
patch, or, from 256 rows on, the GEMMs of that patch by cuBLASLt. (Of few rows those take longer than our whole step.)
"""
import argparse
import collections
import os
import statistics
import sys

from compare import rows
from workloads import sizes

PATCH = 64
MANY_ROWS = 256


def row_counts(workload):
    """The rows of the first patch's program, those of each further one's, and how many further ones there are."""
    variates, context, horizon, samples = sizes(workload, on_device=True)
    return variates * context // PATCH, variates * max(1, samples), -(-horizon // PATCH) - 1


def floor(workload, measured):
    """Milliseconds, from the times that `--floor` printed for one precision, by what they are and their rows."""
    weights = measured["weights, half a copy", 0]
    first, further, patches = row_counts(workload)

    def of(gemms, rows):
        return weights if rows < MANY_ROWS else max(weights, measured[gemms, rows])

    total = of("GEMMs of the layers", first)  # its head has few rows
    return total + (patches * of("GEMMs of a step", further) if patches > 0 else 0)


def spread(times):
    return f"{statistics.median(times):.4g} ({min(times):.4g} to {max(times):.4g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--precisions", default="bf16,tf32")
    parser.add_argument("--workloads", default="one_patch,one_patch_samples,context_2048,long_mean,dashboard,readme")
    arguments = parser.parse_args()
    reference = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")
    common = ["--workloads", arguments.workloads, "--precisions", arguments.precisions]
    ours = [arguments.program, *common, "--repeats", str(arguments.repeats)]
    theirs = [sys.executable, reference, "--device", "cuda", *common, "--repeats", "5"]
    times = collections.defaultdict(list)
    for _ in range(arguments.rounds):
        for command in (ours, theirs):
            for row in rows(command):
                times[row["workload"], row["precision"], row["implementation"]].append(row["median_ms"])
    workloads = arguments.workloads.split(",")
    many = {count for workload in workloads for count in row_counts(workload)[:2] if count >= MANY_ROWS}
    measured = collections.defaultdict(dict)
    floors = ",".join(str(count) for count in sorted(many) or [MANY_ROWS])
    for row in rows([arguments.program, "--floor", floors, "--precisions", arguments.precisions]):
        measured[row["precision"]][row["floor"], row["rows"]] = row["median_ms"]
    print("| workload | precision | toto-ts, ms | totograph, ms | faster | floor, ms | floors |")
    print("|---|---|---|---|---|---|---|")
    for workload in workloads:
        for precision in arguments.precisions.split(","):
            base = times[workload, precision, "toto-ts"]
            found = times[workload, precision, "totograph-cuda"]
            least = floor(workload, measured[precision])
            own = statistics.median(found)
            faster = statistics.median(base) / own
            print(f"| {workload} | {precision} | {spread(base)} | {spread(found)} | {faster:.1f}x | {least:.3g} "
                  f"| {own / least:.2f} |")


if __name__ == "__main__":
    main()
