# SPDX-License-Identifier: Apache-2.0
"""Training data for the demo model: series that are made up, a batch at a time, on the device that trains.

A row of a batch has eight variates in groups that belong together, as in a Toto batch. The same seed gives the same
batch on the same kind of device.
"""
from typing import NamedTuple

import torch

import components as parts

LARGEST_LAG = 64
# How the variates of a row are grouped, and how often.
GROUPINGS = [
    ((0, 1, 2, 3, 4, 5, 6, 7), 34),
    ((0, 0, 1, 1, 2, 2, 3, 3), 8),
    ((0, 0, 0, 1, 1, 1, 2, 3), 10),
    ((0, 0, 0, 0, 1, 1, 1, 1), 10),
    ((0, 0, 0, 0, 0, 1, 1, 2), 9),
    ((0, 0, 0, 0, 0, 0, 0, 1), 14),
    ((0, 0, 0, 0, 0, 0, 0, 0), 15),
]


# From this batch on some series are plainer than sums of everything, as many that people forecast are: a first half of
# training on the whole variety, then both.
PLAIN_FROM = 12_588


class Batch(NamedTuple):
    values: torch.Tensor  # [rows, variates, steps], 0 where nothing was observed
    observed: torch.Tensor  # [rows, variates, steps]
    groups: torch.Tensor  # [rows, variates]


class Generator:
    variates = 8

    def __init__(self, device: torch.device, seed: int, rows: int, steps: int):
        self.random = parts.Random(device)
        self.seed = seed
        self.rows = rows
        self.steps = steps
        self.groupings = torch.tensor([grouping for grouping, _ in GROUPINGS], device=device)

    @torch.no_grad()
    def batch(self, number: int) -> Batch:
        """The batch of this number: any may be asked for, in any order."""
        random = self.random
        random.seed(self.seed * 10_000_019 + number)
        groups = self.groupings[random.choice([weight for _, weight in GROUPINGS], self.rows)]
        latent, pattern = self.signals(self.steps + LARGEST_LAG)
        mixed = self.mix(latent, groups)
        growing = None
        if number >= PLAIN_FROM:
            plain, is_plain, growing = self.plain()
            mixed = torch.where(is_plain, plain, mixed.flatten(0, 1)).view_as(mixed)
        values = self.observable(mixed.flatten(0, 1), pattern[:, -self.steps :], self.activity(groups), growing)
        observed = self.gaps()
        values = values.view(self.rows, self.variates, self.steps)
        return Batch(torch.where(observed, values, 0.0), observed, groups)

    def signals(self, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Sums and products of the parts, `[rows * variates, steps]`, and the daily pattern by itself."""
        random = self.random
        series = self.rows * self.variates
        row_periods = parts.periods(random, self.rows)
        period = row_periods.repeat_interleave(self.variates, 0)
        # Variates of a row share a clock, though some keep their own.
        own = random.chance(0.12, series, 1)
        period = torch.where(own, parts.periods(random, series), period)

        def weight(probability: float, low: float, high: float) -> torch.Tensor:
            return random.chance(probability, series, 1) * random.log_uniform(series, 1, low=low, high=high)

        first, day = parts.seasonal(random, period[:, :1], steps)
        first = first * (period[:, :1] > 0)
        by_day = parts.day_gains(random, day)
        is_week = (period[:, 1:2] == 7 * period[:, :1]) | (period[:, 2:3] == 7 * period[:, :1])
        gated = random.chance(0.6, series, 1) & is_week
        # Gains act above the lowest point of the day, as use does above idling.
        lowest = first.amin(-1, keepdim=True)
        first = torch.where(gated, parts.standardize((first - lowest) * by_day), first)
        second, _ = parts.seasonal(random, period[:, 1:2], steps)
        second = second * (period[:, 1:2] > 0)
        third, _ = parts.seasonal(random, period[:, 2:3], steps)
        third = third * (period[:, 2:3] > 0)

        total = first * weight(0.8, 0.2, 2.5)
        total = total + second * weight(0.5, 0.1, 1.5) + third * weight(0.4, 0.1, 1.5)
        product = 1 + random.uniform(series, 1, low=0.2, high=0.8) * second
        total = torch.where(random.chance(0.12, series, 1), total * product, total)

        noise = parts.coloured(random, series, steps)
        noise = torch.where(random.chance(0.15, series, 1), noise * parts.volatility(random, series, steps), noise)
        by_season = (1 + random.uniform(series, 1, low=0.3, high=1.0) * first).clamp_min(0.05)
        noise = torch.where(random.chance(0.1, series, 1), noise * by_season, noise)
        white = parts.innovations(random, series, steps)
        total = total + noise * weight(0.75, 0.05, 1.5) + white * weight(0.8, 0.01, 1.0)
        total = total + parts.trend(random, series, steps) * weight(0.5, 0.15, 4.0)
        total = total + parts.events(random, series, steps) * weight(0.18, 0.3, 1.5)
        return total, first

    def mix(self, latent: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
        """Variates that depend on others of their group, now or some steps ago: `[rows, variates, steps]`."""
        random = self.random
        latent = latent.view(self.rows, self.variates, -1)
        shape = (self.rows, self.variates)
        time = torch.arange(self.steps, device=latent.device) + LARGEST_LAG
        result = latent[:, :, LARGEST_LAG:]
        strength = random.uniform(self.rows, 1) ** 0.7 * random.chance(0.8, self.rows, 1)
        for _ in range(2):
            source = random.integer(self.variates, *shape)
            same = groups.gather(1, source) == groups
            lag = random.log_uniform(*shape, low=1.0, high=LARGEST_LAG).long() * random.chance(0.4, *shape)
            signal = latent.gather(1, source[:, :, None].expand_as(latent))
            signal = signal.gather(2, time - lag[:, :, None])
            factor = random.normal(*shape) * random.uniform(*shape, high=1.5) * strength * same
            result = result + factor[:, :, None] * signal
        # Some groups are one signal with little of their own.
        leader = (groups[:, :, None] == groups[:, None, :]).float().argmax(-1)
        shared = latent.gather(1, leader[:, :, None].expand_as(latent))[:, :, LARGEST_LAG:]
        little = random.log_uniform(*shape, low=0.02, high=0.6)[:, :, None]
        follows = random.chance(0.25, self.rows, 1) & random.chance(0.8, *shape)
        return torch.where(follows[:, :, None], shared + little * result, result)

    def plain(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Series of few parts: random walks, trends, a season with a trend, and noise alone; which series are so; and
        which of them grow by factors rather than by differences."""
        random = self.random
        series, steps = self.rows * self.variates, self.steps
        innovations = parts.innovations(random, series, steps)
        changing = random.chance(0.4, series, 1)
        innovations = torch.where(changing, innovations * parts.volatility(random, series, steps), innovations)
        drift = 0.1 * random.normal(series, 1) * random.chance(0.5, series, 1)
        walk = parts.standardize(torch.cumsum(innovations + drift, -1))

        period = parts.periods(random, series)[:, :1]
        common = torch.tensor([4.0, 12.0, 7.0, 24.0, 52.18], device=random.device)
        usual = common[random.choice([25, 35, 15, 15, 10], series)][:, None]
        period = torch.where(random.chance(0.6, series, 1) | (period == 0), usual, period)
        season, _ = parts.seasonal(random, period, steps)
        trend = parts.trend(random, series, steps)
        white = parts.innovations(random, series, steps)
        both = season * random.log_uniform(series, 1, low=0.1, high=2.0)
        both = both + trend * random.log_uniform(series, 1, low=0.2, high=4.0)
        both = both + white * random.log_uniform(series, 1, low=0.02, high=0.4)
        noise = parts.coloured(random, series, steps)
        little = white * random.log_uniform(series, 1, low=0.01, high=0.3) * random.chance(0.3, series, 1)

        kind = random.choice([74, 5, 3, 13, 5], series)[:, None]
        result = walk + little
        for number, other in enumerate([trend + little, both, noise], start=2):
            result = torch.where(kind == number, other, result)
        return result, kind > 0, (kind > 0) & random.chance(0.35, series, 1)

    def activity(self, groups: torch.Tensor) -> torch.Tensor:
        """When something runs, in bursts of any length, for most of a group at once: `[rows * variates, steps]`."""
        random = self.random
        shape = (self.rows * self.variates, 1)
        length = parts.filter_length(self.steps)
        keep = 1 - random.log_uniform(*shape, low=0.004, high=0.4)
        level = parts.damped(random.normal(shape[0], length), keep, self.steps)
        active = (parts.standardize(level) > random.uniform(*shape, low=-1.2, high=1.6)).float()
        active = active.view(self.rows, self.variates, -1)
        leader = (groups[:, :, None] == groups[:, None, :]).float().argmax(-1)
        own = random.chance(0.15, self.rows, self.variates)
        source = torch.where(own, torch.arange(self.variates, device=groups.device), leader)
        return active.gather(1, source[:, :, None].expand_as(active)).flatten(0, 1)

    def observable(
        self, latent: torch.Tensor, pattern: torch.Tensor, active: torch.Tensor, growing: torch.Tensor | None
    ) -> torch.Tensor:
        """What is measured of a signal: as it is, or positive, bounded, counted, intermittent, rounded; scaled."""
        random = self.random
        series, steps = latent.shape
        one = (series, 1)
        signal = parts.standardize(latent)
        exponential = torch.exp((random.log_uniform(*one, low=0.1, high=1.4) * signal).clamp(-12, 9))
        floored = (signal + random.uniform(*one, low=-0.8, high=2.0)).clamp_min(0)
        slope = random.log_uniform(*one, low=0.4, high=4.0)
        bounded = torch.sigmoid(slope * (signal + random.normal(*one)))
        low, width = random.uniform(*one, low=-2.5, high=-0.3), random.uniform(*one, low=0.8, high=4.0)
        clipped = torch.minimum(torch.maximum(signal, low), low + width)
        bounded = torch.where(random.chance(0.5, *one), clipped, bounded)
        rate = random.log_uniform(*one, low=0.2, high=300.0)
        rate = rate * torch.exp((random.uniform(*one, low=0.1, high=0.9) * signal).clamp(-8, 4))
        clumped = random.log_uniform(*one, low=1.0, high=50.0)
        clumps = random.chance(0.3, *one)
        rate = torch.where(clumps, rate * random.gamma(clumped.expand_as(rate).contiguous()) / clumped, rate)
        counts = random.poisson(rate)
        # Demand now and then, more often in season.
        probability = torch.sigmoid(random.uniform(*one, low=-3.0, high=0.5) + random.uniform(*one, high=1.5) * pattern)
        happens = torch.rand(series, steps, generator=random.generator, device=latent.device) < probability
        intermittent = happens * exponential

        # Work in bursts over an idle level.
        idle = random.log_uniform(*one, low=1e-3, high=0.3)
        idle = idle * (1 + 0.3 * parts.innovations(random, series, steps)).clamp_min(0)
        busy = torch.where(random.chance(0.5, *one), exponential, floored + random.uniform(*one, high=3.0))
        bursts = idle * random.chance(0.7, *one) + active * busy

        kind = random.choice([54, 13, 6, 8, 8, 4, 7], series)[:, None]
        # Groups that run in bursts do so together.
        together = random.chance(0.05, self.rows, 1).expand(-1, self.variates).reshape(*one)
        kind = torch.where(together & random.chance(0.8, *one), 6, kind)
        if growing is not None:
            kind = torch.where(growing, 1, kind)
        result = signal
        for number, other in enumerate([exponential, floored, bounded, counts, intermittent, bursts], start=1):
            result = torch.where(kind == number, other, result)

        # Held values: sampled rarely and repeated.
        time = torch.arange(steps, device=latent.device)
        every = random.integer(12, *one) + 2
        held = result.gather(1, (time // every * every).expand(series, -1))
        result = torch.where(random.chance(0.02, *one), held, result)

        deviation = result.std(-1, keepdim=True).clamp_min(1e-3)
        scale = torch.where(random.chance(0.85, *one), random.log_uniform(*one, low=2.0, high=1e4),
                            random.log_uniform(*one, low=0.02, high=2.0))
        unit = torch.where((kind == 4) | random.chance(0.03, *one), torch.ones_like(scale), scale / deviation)
        ratio = random.normal(*one) * random.choice([30, 45, 1], series)[:, None] ** 2
        ratio = torch.where(random.chance(0.15, *one), random.log_uniform(*one, low=3.0, high=100.0), ratio)
        is_signal = kind == 0
        offset = torch.where(is_signal | random.chance(0.2, *one), ratio * scale, 0.0) * (kind != 4)
        sign = torch.where(is_signal & random.chance(0.5, *one), -1.0, 1.0)
        values = sign * unit * result + offset
        grain = scale * random.log_uniform(*one, low=0.003, high=0.5)
        values = torch.where(random.chance(0.12, *one), (values / grain).round() * grain, values)
        return torch.where(random.chance(0.01, *one), offset + scale * 0, values).clamp(-1e8, 1e8)

    def gaps(self) -> torch.Tensor:
        """Where something was observed: series begin late, and some have holes."""
        random = self.random
        shape = (self.rows, self.variates)
        time = torch.arange(self.steps, device=random.device)
        # As the reference pads on the left to whole patches, or a caller to a common length.
        begin = random.integer(16, self.rows, 1) * random.chance(0.4, self.rows, 1)
        late = random.uniform(*shape, low=0.0, high=self.steps - 128.0).long() * random.chance(0.08, *shape)
        observed = time >= torch.maximum(begin, late)[:, :, None]
        kind = random.choice([76, 12, 12], *shape)[:, :, None]
        single = random.chance(random.log_uniform(*shape, 1, low=0.005, high=0.4), *shape, self.steps)
        missing = (kind == 1) & single
        for _ in range(3):
            start = random.uniform(*shape, 1, high=self.steps)
            length = random.log_uniform(*shape, 1, low=2.0, high=150.0)
            missing = missing | ((kind == 2) & (time >= start) & (time < start + length))
        return observed & ~missing
