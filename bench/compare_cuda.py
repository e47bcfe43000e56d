#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts bench_cuda beside the public PyTorch implementation on the same device, in turns: medians, spreads, ratios.

    python3 bench/compare_cuda.py build/cuda/bench/bench_cuda [--rounds 2] [--precisions bf16,tf32]

Runs with a Python that has `toto-ts` and a `torch` with CUDA. Prints a Markdown table; a ratio above 1 means that
totograph is faster.
"""
import argparse
import collections
import os
import statistics
import sys

from compare import rows


def spread(times):
    return f"{statistics.median(times):.4g} ({min(times):.4g} to {max(times):.4g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--precisions", default="bf16,tf32")
    parser.add_argument("--workloads", default="one_patch,one_patch_samples,long_mean,dashboard,readme")
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
    print("| workload | precision | toto-ts, ms | totograph, ms | ratio |")
    print("|---|---|---|---|---|")
    for workload in arguments.workloads.split(","):
        for precision in arguments.precisions.split(","):
            base = times[workload, precision, "toto-ts"]
            found = times[workload, precision, "totograph-cuda"]
            ratio = statistics.median(base) / statistics.median(found)
            print(f"| {workload} | {precision} | {spread(base)} | {spread(found)} | {ratio:.1f}x |")


if __name__ == "__main__":
    main()
