#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts bench_forecast beside the public PyTorch implementation: alternating runs, medians, spreads, ratios.

    python3 bench/compare.py build/release/bench/bench_forecast [--rounds 3] [--workloads one_patch,long_mean,readme]

Runs with a Python that has `toto-ts` and `torch`. Each round runs one program, then the other, so that both meet the same
machine. Prints a Markdown table; a ratio above 1 means that totograph is faster.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys


def rows(command):
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def spread(times, digits=1):
    return f"{statistics.median(times):.{digits}f} ({min(times):.{digits}f} to {max(times):.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workloads", default="one_patch,long_mean,one_patch_samples,readme,dashboard")
    arguments = parser.parse_args()
    reference = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference.py")
    common = ["--threads", str(arguments.threads), "--repeats", str(arguments.repeats)]
    times = collections.defaultdict(list)
    details = {}
    for _ in range(arguments.rounds):
        for workload in arguments.workloads.split(","):
            for command in ([arguments.program], [sys.executable, reference]):
                for row in rows(command + common + ["--workloads", workload]):
                    key = (workload, row["implementation"], row["weights"])
                    times[key].append(row["median_ms"])
                    details[key] = row
    print("| workload | toto-ts, ms | totograph f32, ms | ratio | totograph bf16, ms | ratio |")
    print("|---|---|---|---|---|---|")
    for workload in arguments.workloads.split(","):
        base = times[workload, "toto-ts", "f32"]
        cells = [workload, spread(base)]
        for weights in ("f32", "bf16"):
            ours = times[workload, "totograph", weights]
            cells += [spread(ours), f"{statistics.median(base) / statistics.median(ours):.2f}x"]
        print("| " + " | ".join(cells) + " |")
    print()
    print("| workload | weights | construction, ms | weights, MiB | forecaster, MiB | resident, MiB |")
    print("|---|---|---|---|---|---|")
    for (workload, implementation, weights), row in details.items():
        if implementation == "totograph":
            print(f"| {workload} | {weights} | {row['construction_ms']} | {row['weights_mib']} | "
                  f"{row['forecaster_mib']} | {row['resident_mib']} |")


if __name__ == "__main__":
    main()
