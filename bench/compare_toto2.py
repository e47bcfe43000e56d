#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts bench_toto2 beside the public PyTorch implementation of Toto 2.0: alternating runs, medians, spreads, ratios.

    python3 bench/compare_toto2.py build/release/bench/bench_toto2 [--rounds 3] [--modes eager,default]
                                   [--precisions f32,bf16] [--workloads small_4m,batch_22m]

Runs with a Python that has `toto-2` and `torch`. Each round runs one program, then the other, so that both meet the same
machine. Prints a Markdown table. The ratio is that of the fastest of the reference's modes and precisions to ours; above
1 means that totograph is faster.
"""
import argparse
import collections
import os
import statistics
import sys

from compare import rows, spread
from workloads import TOTO2_WORKLOADS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--modes", default="eager")
    parser.add_argument("--precisions", default="f32,bf16")
    parser.add_argument("--workloads", default=TOTO2_WORKLOADS)
    arguments = parser.parse_args()
    reference = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference_toto2.py")
    common = ["--threads", str(arguments.threads), "--repeats", str(arguments.repeats)]
    asked = ["--modes", arguments.modes, "--precisions", arguments.precisions]
    times = collections.defaultdict(list)
    gflop = {}
    for _ in range(arguments.rounds):
        for workload in arguments.workloads.split(","):
            for row in rows([arguments.program] + common + ["--workloads", workload]):
                times[workload, "totograph", row["weights"]].append(row["median_ms"])
                gflop[workload] = row["gemm_gflop"]
            for row in rows([sys.executable, reference] + common + asked + ["--workloads", workload]):
                if "error" in row:
                    print(f"{workload}, {row['mode']} {row['weights']}: {row['error']}", file=sys.stderr)
                else:
                    times[workload, "toto-2", f"{row['mode']} {row['weights']}"].append(row["median_ms"])
    print("| Workload | toto-2, fastest | ms | totograph f32, ms | ratio | GFLOP/s | totograph bf16, ms | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for workload in arguments.workloads.split(","):
        peers = {way: spent for (name, who, way), spent in times.items() if name == workload and who == "toto-2"}
        best = min(peers, key=lambda way: statistics.median(peers[way]))
        f32 = times[workload, "totograph", "f32"]
        bf16 = times[workload, "totograph", "bf16"]
        fastest = statistics.median(peers[best])
        print(f"| `{workload}` | {best} | {spread(peers[best], 2)} | {spread(f32, 2)} | "
              f"{fastest / statistics.median(f32):.1f} | {gflop[workload] / statistics.median(f32) * 1e3:.0f} | "
              f"{spread(bf16, 2)} | {fastest / statistics.median(bf16):.1f} |")


if __name__ == "__main__":
    main()
