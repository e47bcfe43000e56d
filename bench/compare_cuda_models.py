#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a program of bench/cuda beside the public PyTorch implementation on the same device, in turns: medians, spreads,
ratios.

    python3 bench/compare_cuda_models.py build/cuda/bench/bench_cuda_toto2 -- reference_toto2.py --device cuda
    python3 bench/compare_cuda_models.py build/cuda/bench/bench_cuda_kronos -- reference_kronos.py KRONOS --device cuda
    python3 bench/compare_cuda_models.py build/cuda/bench/bench_cuda_nanovlm -- reference_nanovlm.py NANOVLM

Options before `--` are [--workloads a,b] [--precisions bf16,tf32] [--rounds 2] [--repeats 20]; behind it are the script
in bench/ that times the reference, and what it is asked. Prints a Markdown table. `faster` is the reference's fastest
mode and precision by ours; the floor is the weights read once, or the GEMMs as calls of cuBLAS, whichever takes longer.
"""
import argparse
import collections
import os
import statistics
import sys

from compare import rows


def spread(times):
    return f"{statistics.median(times):.4g} ({min(times):.4g} to {max(times):.4g})"


def cells_of(precision, times, fastest, floors):
    if not times:
        return ["not measured", "", ""]
    own = statistics.median(times)
    return [spread(times), f"{fastest / own:.0f}x" if fastest else "", f"{floors[precision]:.3g}" if floors else ""]


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--workloads", default="")
    parser.add_argument("--precisions", default="bf16,tf32")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args(sys.argv[1:split])
    if split + 1 >= len(sys.argv):
        parser.error("behind -- comes the script of the reference, such as reference_toto2.py; see --help.")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[split + 1])
    asked = ["--workloads", arguments.workloads] if arguments.workloads else []
    ours = [arguments.program, *asked, "--precisions", arguments.precisions, "--repeats", str(arguments.repeats)]
    theirs = [sys.executable, script, *sys.argv[split + 2:], *asked]
    times = collections.defaultdict(list)
    peers = collections.defaultdict(lambda: collections.defaultdict(list))
    floors = collections.defaultdict(dict)
    for _ in range(arguments.rounds):
        for row in rows(ours):
            times[row["workload"], row["precision"]].append(row["median_ms"])
            if "floor_gemms_ms" in row:
                floors[row["workload"]][row["precision"]] = max(row["floor_weights_ms"], row["floor_gemms_ms"])
        for row in rows(theirs):
            if "error" in row:
                print(f"{row['workload']}, {row['mode']} {row['weights']}: {row['error']}", file=sys.stderr)
            else:
                peers[row["workload"]][f"{row['mode']} {row['weights']}"].append(row["median_ms"])
    precisions = arguments.precisions.split(",")
    columns = ["Workload", "Reference, fastest", "ms"]
    for precision in precisions:
        columns += [f"{precision}, ms", "faster", "floor, ms"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for workload in dict.fromkeys(name for name, _ in times):
        found = peers[workload]
        best = min(found, key=lambda way: statistics.median(found[way]), default="")
        fastest = statistics.median(found[best]) if best else 0
        cells = [f"`{workload}`", best, spread(found[best]) if best else "not measured"]
        for precision in precisions:
            cells += cells_of(precision, times[workload, precision], fastest, floors[workload])
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
