# SPDX-License-Identifier: Apache-2.0
"""What a ladder costs and wastes, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .buckets import Bucket, serving
from .models import Model


@dataclass(frozen=True)
class Costs:
    """What compiling takes, in seconds of the processor, and how large it is, in bytes."""

    of_all: float  #: What all packages have alike: the library, most of which is compiled once, and two small files.
    longest_of_all: float  #: Of its files.
    of_file: float
    of_bucket: float
    bytes_of_all: int
    bytes_of_bucket: int
    most_in_a_file: int  #: Buckets, for which the compiler takes 1.7 GB, or nvcc 4.
    measured: str


# docs/packages.md
COSTS = {
    "cpu": Costs(61.0, 52.0, 10.5, 4.4, 2_000_000, 780_000, 24, "Toto 2.0 22m that were measured with g++ 12"),
    "cuda": Costs(80.0, 52.0, 7.5, 19.3, 2_900_000, 2_100_000, 2,
                  "the demo model that were measured with nvcc 13.0, for one architecture"),
}

# Variates, steps of context, steps of the horizon.
_TYPICAL = ((1, 512, 24), (1, 1024, 96), (1, 4096, 720), (3, 600, 48), (7, 512, 96), (7, 2048, 336), (12, 1000, 60),
            (20, 1440, 96), (32, 4096, 720))


def files(buckets: int, jobs: int, device: str = "cpu") -> int:
    """Among how many source files so many buckets are divided."""
    return max(1, min(jobs, buckets), -(-buckets // COSTS[device].most_in_a_file))


def processor_seconds(buckets: int, jobs: int, device: str = "cpu") -> float:
    """An estimate of what compiling so many buckets takes, of all processes together."""
    costs = COSTS[device]
    return costs.of_all + files(buckets, jobs, device) * costs.of_file + buckets * costs.of_bucket


def seconds(buckets: int, jobs: int, device: str = "cpu") -> float:
    """An estimate of the time to compile so many buckets with so many processes."""
    costs = COSTS[device]
    longest = costs.of_file + -(-buckets // files(buckets, jobs, device)) * costs.of_bucket
    return max(processor_seconds(buckets, jobs, device) / max(1, jobs), longest, costs.longest_of_all)


def plan(model: Model, buckets: Sequence[Bucket], jobs: int, device: str = "cpu") -> str:
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
    costs, count = COSTS[device], len(buckets)
    size = (costs.bytes_of_all + count * costs.bytes_of_bucket) / 1e6
    lines += ["", f"An estimate, from buckets of {costs.measured}: {processor_seconds(count, jobs, device):.0f} s of "
              f"processor time, {seconds(count, jobs, device):.0f} s to compile with {jobs} jobs, {size:.0f} MB."]
    return "\n".join(lines)
