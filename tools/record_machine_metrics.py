#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records this Linux machine's own metrics to a CSV file, one row per interval.

    python3 tools/record_machine_metrics.py OUT.csv --rows 4500 --interval 1

Reads /proc only, needs no packages, writes each row as soon as it is measured.
"""
import argparse
import os
import signal
import sys
import time
from datetime import datetime, timezone

COLUMNS = (
    "timestamp",
    "cpu_user_percent",
    "cpu_system_percent",
    "cpu_iowait_percent",
    "load_1m",
    "runnable_tasks",
    "memory_used_mib",
    "page_cache_mib",
    "disk_read_kib_per_s",
    "disk_write_kib_per_s",
    "context_switches_per_s",
    "interrupts_per_s",
    "forks_per_s",
    "page_faults_per_s",
)
SECTOR_BYTES = 512


def read_text(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def is_whole_disk(name):
    return os.path.exists(f"/sys/block/{name}/device")


def counters():
    """Monotonic counters: rates come from the difference of two readings."""
    out = {"time": time.monotonic()}
    for line in read_text("/proc/stat").splitlines():
        key, *values = line.split()
        if key == "cpu":
            ticks = [int(v) for v in values[:8]]
            out["user"] = ticks[0] + ticks[1]
            out["system"] = ticks[2] + ticks[5] + ticks[6]
            out["iowait"] = ticks[4]
            out["total"] = sum(ticks)
        elif key == "intr":
            out["interrupts"] = int(values[0])
        elif key == "ctxt":
            out["switches"] = int(values[0])
        elif key == "processes":
            out["forks"] = int(values[0])
    for line in read_text("/proc/vmstat").splitlines():
        key, value = line.split()
        if key == "pgfault":
            out["faults"] = int(value)
    out["read"] = out["written"] = 0
    for line in read_text("/proc/diskstats").splitlines():
        field = line.split()
        if is_whole_disk(field[2]):
            out["read"] += int(field[5])
            out["written"] += int(field[9])
    return out


def gauges():
    memory = {}
    for line in read_text("/proc/meminfo").splitlines():
        key, value = line.split(":")
        memory[key] = int(value.split()[0])
    load, _, _, tasks, _ = read_text("/proc/loadavg").split()
    used = memory["MemTotal"] - memory["MemAvailable"]
    return float(load), int(tasks.split("/")[0]), used / 1024, memory["Cached"] / 1024


def row(before, after):
    seconds = after["time"] - before["time"]
    ticks = max(1, after["total"] - before["total"])
    share = lambda key: 100.0 * (after[key] - before[key]) / ticks
    rate = lambda key: (after[key] - before[key]) / seconds
    load, tasks, used, cache = gauges()
    kib = SECTOR_BYTES / 1024
    values = (
        share("user"), share("system"), share("iowait"), load, tasks, used, cache,
        rate("read") * kib, rate("written") * kib, rate("switches"), rate("interrupts"), rate("forks"), rate("faults"),
    )
    stamp = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ",".join([stamp] + [f"{value:.2f}".rstrip("0").rstrip(".") for value in values])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, default=4500)
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between rows")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with open(arguments.out, "w", encoding="ascii") as file:
        file.write(",".join(COLUMNS) + "\n")
        before = counters()
        deadline = before["time"]
        for _ in range(arguments.rows):
            deadline += arguments.interval
            time.sleep(max(0.0, deadline - time.monotonic()))
            after = counters()
            file.write(row(before, after) + "\n")
            file.flush()
            before = after


if __name__ == "__main__":
    main()
