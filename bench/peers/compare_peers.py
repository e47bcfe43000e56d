#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Toto 1.0 in PyTorch as well as a capable team runs it, beside ours: one table, on a CPU or a device.

    python3 bench/peers/compare_peers.py --ours build/release/bench/bench_forecast --threads 2
    python3 bench/peers/compare_peers.py --device cuda --ours build/cuda/bench/bench_cuda --precisions bf16,tf32,f32
    python3 bench/peers/compare_peers.py --peers "eager,compile,fixed; compile"    # a comma in a name is a semicolon here

Each peer has a process for each workload and precision. First all get ready, `--jobs` at a time (compilations run beside
each other, so `first` is longer than alone); then they are timed in turns, one at a time, `--rounds` times. What fails,
or is not ready after `--patience` seconds, is a row with its reason. Needs `toto-ts`, `torch`; `onnx`, `onnxscript` and
`onnxruntime` (with CUDA or TensorRT) for the peers of that name.

All take the series from the host and leave the forecast there, `toto-ts` as shipped its mean alone. `difference` is the
largest difference of a mean forecast, without samples, from the unpatched eager one in the same precision, by its
largest magnitude. `graphs` are torch.compile's graphs, graph breaks and recompilations after three forecasts.
"""
import argparse
import collections
import json
import os
import queue
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
from workloads import WORKLOADS

EVERYWHERE = ["eager", "compile", "compile max-autotune", "fixed", "fixed, compile", "fixed, max-autotune",
              "AOTInductor", "ONNX Runtime"]
ON_A_DEVICE = ["compile reduce-overhead", "fixed, CUDA graph", "fixed, compile, CUDA graph", "fixed, reduce-overhead",
               "fixed, max-autotune, CUDA graph", "TensorRT"]


class Cell:
    """One peer on one workload in one precision: its process, and what was measured."""

    def __init__(self, peer, workload, precision, arguments):
        self.peer, self.workload, self.precision = peer, workload, precision
        self.arguments, self.row, self.medians, self.problem, self.process = arguments, {}, [], "", None

    def prepare(self, until):
        left = until - time.monotonic()
        if left <= 0:
            self.problem = "not started in time"
            return
        command = [sys.executable, os.path.join(HERE, "worker.py"), "--peer", self.peer, "--workload", self.workload,
                   "--precision", self.precision, "--device", self.arguments.device, "--threads",
                   str(self.arguments.threads)]
        environment = dict(os.environ)
        if self.arguments.jobs > 1:
            environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "2")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env=environment)
        self.errors = collections.deque(maxlen=40)
        threading.Thread(target=self.errors.extend, args=(self.process.stderr,), daemon=True).start()
        self.answer(left)

    def answer(self, patience):
        """Reads one line of the process; gives it up after `patience` seconds."""
        timer = threading.Timer(patience, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        late = not timer.is_alive()
        timer.cancel()
        if line:
            self.row |= json.loads(line)
            return
        self.process.wait()
        time.sleep(0.2)  # the thread that reads the errors
        said = [text.strip() for text in self.errors if "Error" in text] or ["it ended without a word"]
        self.problem = f"not ready in {patience:.0f} s" if late else said[-1].replace("|", "/")[:110]

    def time(self):
        if self.problem:
            return
        self.process.stdin.write(f"time {self.arguments.repeats}\n")
        self.process.stdin.flush()
        self.answer(self.arguments.patience)
        if not self.problem:
            self.medians.append(statistics.median(self.row["times"]))

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def prepare_all(cells, arguments):
    until = time.monotonic() + arguments.patience
    waiting = queue.SimpleQueue()
    for cell in cells:
        waiting.put(cell)

    def work():
        while True:
            try:
                cell = waiting.get_nowait()
            except queue.Empty:
                return
            cell.prepare(until)
            print(f"{time.strftime('%T')} {cell.workload} {cell.precision} {cell.peer}: {cell.problem or 'ready'}",
                  file=sys.stderr, flush=True)

    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def time_ours(arguments, medians):
    """Adds a median a workload and precision of our program, as it prints them."""
    command = [arguments.ours, "--workloads", ",".join(arguments.workloads), "--repeats", str(arguments.repeats)]
    command += (["--precisions", ",".join(arguments.precisions)] if arguments.device == "cuda"
                else ["--threads", str(arguments.threads)])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{arguments.ours} ended with {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            medians[row["workload"], row["precision" if arguments.device == "cuda" else "weights"]].append(row["median_ms"])


def spread(times):
    return f"{statistics.median(times):.4g} ({min(times):.4g} to {max(times):.4g})"


def print_table(cells, ours, arguments):
    print("| workload | precision | which | ms | by ours | first, s | graphs, breaks, recompilations | difference |")
    print("|---|---|---|---|---|---|---|---|")
    for workload in arguments.workloads:
        for precision in arguments.precisions:
            own = ours.get((workload, precision))
            if own:
                print(f"| {workload} | {precision} | totograph | {spread(own)} | 1 | | | |")
            here = [cell for cell in cells if (cell.workload, cell.precision) == (workload, precision)]
            timed = sorted((cell for cell in here if cell.medians), key=lambda cell: statistics.median(cell.medians))
            for index, cell in enumerate(timed):
                row = cell.row
                ratio = f"{statistics.median(cell.medians) / statistics.median(own):.2f}" if own else ""
                graphs = f"{row['graphs']}, {row['breaks']}, {row['recompiles']}" if row["graphs"] else ""
                difference = f"{row['difference']:.1e}" if "difference" in row else ""
                name = f"**{cell.peer}**" if index == 0 else cell.peer
                print(f"| {workload} | {precision} | {name} | {spread(cell.medians)} | {ratio} | {row['first_s']:.1f} | "
                      f"{graphs} | {difference} |")
            for cell in here:
                if not cell.medians:
                    print(f"| {workload} | {precision} | {cell.peer} | {cell.problem} | | | | |")


def names(text):
    return [name.strip().replace(";", ",") for name in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", help="bench_forecast, or bench_cuda for a device")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precisions", type=names, default=["f32"])
    parser.add_argument("--workloads", type=names, default=["one_patch", "long_mean"])
    parser.add_argument("--peers", type=names)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--patience", type=float, default=1800)
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(WORKLOADS):
        parser.error(f"there is no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}.")
    peers = arguments.peers or EVERYWHERE + (ON_A_DEVICE if arguments.device == "cuda" else [])
    cells = [Cell(peer, workload, precision, arguments) for peer in peers for workload in arguments.workloads
             for precision in arguments.precisions]
    ours = collections.defaultdict(list)
    try:
        prepare_all(cells, arguments)
        for _ in range(arguments.rounds):
            if arguments.ours:
                time_ours(arguments, ours)
            for cell in cells:
                cell.time()
    finally:
        for cell in cells:
            cell.end()
    print_table(cells, ours, arguments)


if __name__ == "__main__":
    main()
