# SPDX-License-Identifier: Apache-2.0
"""Sizes of requests, and ladders of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from itertools import product
from typing import Sequence

from .models import Model


@dataclass(frozen=True)
class Bucket:
    """`totograph::Bucket`: the most that one compiled forecast holds."""

    batch: int = 1
    variates: int = 1
    context: int = 0
    horizon: int = 0
    samples: int = 0
    exogenous: int = 0

    def __str__(self) -> str:
        return " ".join(f"{one.name}={getattr(self, one.name)}" for one in fields(self)
                        if getattr(self, one.name) != one.default)

    def holds(self, request: Bucket) -> bool:
        """Whether it serves a request of these sizes."""
        return (request.samples > 0) == (self.samples > 0) and all(
            getattr(request, one.name) <= getattr(self, one.name) for one in fields(self))

    def rows(self, model: Model) -> int:
        """Rows that pass through the layers, the measure of a forecast's work."""
        context, ahead = model.patches(self.context), model.patches(self.horizon)
        return self.batch * self.variates * (context + ahead * max(1, self.samples))


def parse(text: str, model: Model) -> Bucket:
    """A bucket written as `variates=8 context=512 horizon=96`. Raises `ValueError` for one that cannot be compiled."""
    names = [one.name for one in fields(Bucket)]
    sizes: dict[str, int] = {}
    for part in re.split(r"[ ,]+", text.strip()):
        found = re.fullmatch(r"([a-z]+)=(\d{1,9})", part)
        if not found or found[1] not in names or found[1] in sizes:
            raise ValueError(f"'{text}' is no bucket. Expected names and numbers like 'variates=8 context=512 "
                             f"horizon=96'; the names are {', '.join(names)}, each once.")
        sizes[found[1]] = int(found[2])
    bucket = Bucket(**sizes)
    if min(bucket.batch, bucket.variates, bucket.context, bucket.horizon) < 1 or bucket.exogenous >= bucket.variates:
        raise ValueError(f"The bucket '{text}' cannot be: batch, variates, context and horizon are at least 1, and "
                         "fewer variates are exogenous than there are.")
    if bucket.samples > 0 and not model.is_sampled:
        raise ValueError(f"The bucket '{text}' has samples, but {model.title} forecasts quantiles; leave them out.")
    return bucket


# Variates, steps of context, steps of the horizon.
LADDERS: dict[str, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {
    "small": ((1, 8, 32), (512, 4096), (96, 720)),
    "standard": ((1, 4, 8, 16, 32), (512, 1024, 2048, 4096), (96, 720)),
    "large": ((1, 2, 4, 8, 16, 32, 64), (256, 512, 1024, 2048, 4096), (96, 336, 720)),
}
_MOST_KNOWN = 4  # exogenous variates with a known future
_SAMPLES = 128


def ladder(name: str, model: Model) -> list[Bucket]:
    """The buckets of a ladder, the cheapest first. Of a model that samples, the largest is there for means, too."""
    shapes = [Bucket(variates=v, context=c, horizon=h, samples=_SAMPLES if model.is_sampled else 0,
                     exogenous=min(v - 1, _MOST_KNOWN)) for v, c, h in product(*LADDERS[name])]
    shapes = by_cost(shapes, model)
    if model.is_sampled:
        most = shapes[-1]
        shapes.append(Bucket(variates=most.variates, context=most.context, horizon=most.horizon,
                             exogenous=most.exogenous))
    return by_cost(shapes, model)


def by_cost(buckets: Sequence[Bucket], model: Model) -> list[Bucket]:
    """In the order in which the library tries them."""
    return sorted(dict.fromkeys(buckets), key=lambda bucket: bucket.rows(model))


def serving(buckets: Sequence[Bucket], request: Bucket) -> Bucket | None:
    """The one that serves a request in one piece: of those that hold it the cheapest."""
    return next((bucket for bucket in buckets if bucket.holds(request)), None)
