# SPDX-License-Identifier: Apache-2.0
"""What a ladder costs and wastes, as a table."""

from __future__ import annotations

from typing import Sequence

from .buckets import Bucket, serving
from .models import Model

# Measured with g++ 12, -O3 -march=x86-64-v4, Toto 2.0 22m (docs/packages.md): processor seconds, and bytes.
BASE_SECONDS = 61.0  # what all packages have alike: the library, most of which is compiled once, and two small files
LONGEST_BASE_FILE_SECONDS = 52.0
FILE_SECONDS = 10.5
BUCKET_SECONDS = 4.4
BASE_BYTES = 2_000_000
BUCKET_BYTES = 780_000
MOST_BUCKETS_IN_A_FILE = 24  # for which the compiler takes 1.7 GB

# Variates, steps of context, steps of the horizon.
_TYPICAL = ((1, 512, 24), (1, 1024, 96), (1, 4096, 720), (3, 600, 48), (7, 512, 96), (7, 2048, 336), (12, 1000, 60),
            (20, 1440, 96), (32, 4096, 720))


def files(buckets: int, jobs: int) -> int:
    """Among how many source files so many buckets are divided."""
    return max(1, min(jobs, buckets), -(-buckets // MOST_BUCKETS_IN_A_FILE))


def processor_seconds(buckets: int, jobs: int) -> float:
    """An estimate of what compiling so many buckets takes, of all processes together."""
    return BASE_SECONDS + files(buckets, jobs) * FILE_SECONDS + buckets * BUCKET_SECONDS


def seconds(buckets: int, jobs: int) -> float:
    """An estimate of the time to compile so many buckets with so many processes."""
    longest = FILE_SECONDS + -(-buckets // files(buckets, jobs)) * BUCKET_SECONDS
    return max(processor_seconds(buckets, jobs) / max(1, jobs), longest, LONGEST_BASE_FILE_SECONDS)


def plan(model: Model, buckets: Sequence[Bucket], jobs: int) -> str:
    """The buckets, the cheapest first; what padding to them wastes; how long they take to compile, and their size."""
    lines = [f"{model.title}: {len(buckets)} buckets, the cheapest first, with the rows that a forecast of each computes",
             ""]
    lines += [f"  {one.rows(model):>8}  {one}" for one in buckets]
    lines += ["", "Requests, what serves them, and how many rows of that are padding", ""]
    samples = max(one.samples for one in buckets)
    for variates, context, horizon in _TYPICAL:
        request = Bucket(variates=variates, context=context, horizon=horizon, samples=samples)
        served = serving(buckets, request)
        answer = "in parts, or not at all" if served is None else (
            f"{served}: {100 * (1 - request.rows(model) / served.rows(model)):.0f}%")
        lines.append(f"  {variates:>2} x {context:>4} -> {horizon:>3}   {answer}")
    count = len(buckets)
    size = (BASE_BYTES + len(buckets) * BUCKET_BYTES) / 1e6
    lines += ["", f"An estimate, from buckets of Toto 2.0 that were measured with g++ 12: "
              f"{processor_seconds(count, jobs):.0f} s of processor time, {seconds(count, jobs):.0f} s to compile with {jobs} "
              f"jobs, {size:.0f} MB."]
    return "\n".join(lines)
