# SPDX-License-Identifier: Apache-2.0
"""The parts that generated series are made of: seasons, noise, trends, events; a whole batch at once.

A part is `[series, steps]`, of about unit deviation where that makes sense.
"""
import math

import torch

# What one step may last, as the periods it gives: an hour, a day, a week, ... (0: none), and how often it is drawn.
CALENDARS = [
    ((24, 168, 0), 16),  # hourly
    ((12, 0, 0), 12),  # monthly
    ((7, 30.44, 365.25), 9),  # daily
    ((60, 1440, 0), 5),  # every minute
    ((12, 288, 0), 6),  # every 5 minutes
    ((6, 144, 1008), 5),  # every 10 minutes
    ((96, 672, 0), 6),  # every 15 minutes
    ((48, 336, 0), 6),  # every half hour
    ((4, 0, 0), 4),  # quarterly
    ((52.18, 0, 0), 4),  # weekly
    ((5, 21, 252), 3),  # working days
    ((60, 300, 900), 4),  # every second
    ((30, 60, 0), 3),
    ((8, 56, 0), 2),
    ((0, 0, 0), 15),  # any period
]
TABLE = 512  # points of a seasonal template


class Random:
    """Random tensors from one seeded generator."""

    def __init__(self, device: torch.device):
        self.device = device
        self.generator = torch.Generator(device=device)

    def seed(self, seed: int) -> None:
        self.generator.manual_seed(seed)

    def normal(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator, device=self.device)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        return low + (high - low) * torch.rand(*shape, generator=self.generator, device=self.device)

    def log_uniform(self, *shape: int, low: float, high: float) -> torch.Tensor:
        return torch.exp(self.uniform(*shape, low=math.log(low), high=math.log(high)))

    def chance(self, probability: float | torch.Tensor, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=self.generator, device=self.device) < probability

    def integer(self, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, high, shape, generator=self.generator, device=self.device)

    def choice(self, weights: list[float], *shape: int) -> torch.Tensor:
        """Positions in `weights`, drawn in their proportion."""
        edges = torch.tensor(weights, device=self.device, dtype=torch.float32).cumsum(0)
        return torch.searchsorted(edges, self.uniform(*shape) * edges[-1]).clamp_max(len(weights) - 1)

    def gamma(self, shape: torch.Tensor) -> torch.Tensor:
        return torch._standard_gamma(shape, generator=self.generator)

    def poisson(self, rate: torch.Tensor) -> torch.Tensor:
        return torch.poisson(rate, generator=self.generator)

    def student_t(self, degrees: torch.Tensor, steps: int) -> torch.Tensor:
        half = (degrees / 2).expand(-1, steps).contiguous()
        return self.normal(half.shape[0], steps) * torch.rsqrt((self.gamma(half) / half).clamp_min(1e-4))


def standardize(values: torch.Tensor) -> torch.Tensor:
    """Zero mean and unit deviation of each series; a constant one becomes zero."""
    centred = values - values.mean(-1, keepdim=True)
    return centred / centred.std(-1, keepdim=True).clamp_min(1e-6)


def filtered(white: torch.Tensor, response, steps: int) -> torch.Tensor:
    """White noise through a filter, given as a function of the angular frequency; the last `steps` of it."""
    spectrum = torch.fft.rfft(white)
    omega = torch.linspace(0, math.pi, spectrum.shape[-1], device=white.device)
    return torch.fft.irfft(spectrum * response(omega), n=white.shape[-1])[:, -steps:]


def damped(white: torch.Tensor, keep: torch.Tensor | float, steps: int) -> torch.Tensor:
    """Sums in which each step keeps a share of the one before: an autoregression of order one."""
    return filtered(white, lambda omega: 1 / (1 - keep * torch.exp(-1j * omega)), steps)


def filter_length(steps: int) -> int:
    """Room before the steps that are kept, so that the end of a circular filter hardly reaches them."""
    return 1 << (steps + 512).bit_length()


def smooth(random: Random, series: int, steps: int, length_scale: torch.Tensor) -> torch.Tensor:
    """A smooth stationary Gaussian process with a length scale for each series, `[series, 1]`."""
    white = random.normal(series, filter_length(steps))
    return standardize(filtered(white, lambda omega: torch.exp(-0.5 * (omega * length_scale) ** 2), steps))


def templates(random: Random, series: int) -> torch.Tensor:
    """One period of a seasonal pattern for each series, `[series, TABLE]`: smooth, rough, peaked, switched, ramped."""
    phase = torch.arange(TABLE, device=random.device) / TABLE
    harmonics = torch.arange(TABLE // 2 + 1, device=random.device)
    decay = random.uniform(series, 1, low=0.3, high=3.0)
    last = random.log_uniform(series, 1, low=1.0, high=24.0).floor()
    envelope = torch.where((harmonics >= 1) & (harmonics <= last), harmonics.clamp_min(1.0) ** -decay, 0.0)
    spectrum = torch.complex(random.normal(series, TABLE // 2 + 1), random.normal(series, TABLE // 2 + 1)) * envelope
    wave = standardize(torch.fft.irfft(spectrum, n=TABLE))

    peak = torch.zeros(series, TABLE, device=random.device)
    for number in range(3):
        sharpness = random.log_uniform(series, 1, low=1.0, high=400.0)
        angle = 2 * math.pi * (phase - random.uniform(series, 1))
        height = random.uniform(series, 1) * (1.0 if number == 0 else random.chance(0.5, series, 1).float())
        peak = peak + height * torch.exp(sharpness * (torch.cos(angle) - 1))
    start, width = random.uniform(series, 1), random.uniform(series, 1, low=0.03, high=0.7)
    switched = (((phase - start) % 1.0) < width).float()
    ramp = (phase + random.uniform(series, 1)) % 1.0
    ramp = torch.where(random.chance(0.5, series, 1), ramp, ramp ** random.uniform(series, 1, low=0.3, high=3.0))
    ramp = ramp * (1 - 2 * random.chance(0.5, series, 1).float())
    # A plateau by day: a wave that saturates.
    plateau = torch.tanh(random.uniform(series, 1, low=0.5, high=4.0) * (wave + random.normal(series, 1) * 0.5))

    kind = random.choice([50, 18, 8, 7, 17], series)[:, None]
    table = torch.where(kind == 1, standardize(peak), wave)
    table = torch.where(kind == 2, standardize(switched), table)
    table = torch.where(kind == 3, standardize(ramp), table)
    table = torch.where(kind == 4, standardize(plateau), table)
    blend = random.chance(0.2, series, 1).float() * random.uniform(series, 1)
    return standardize(table + blend * wave)


def periods(random: Random, rows: int) -> torch.Tensor:
    """Up to three periods for each row, `[rows, 3]`; 0 where there is none."""
    kind = random.choice([weight for _, weight in CALENDARS], rows)
    known = torch.tensor([entry for entry, _ in CALENDARS], device=random.device, dtype=torch.float32)[kind]
    first = random.log_uniform(rows, low=2.5, high=300.0)
    first = torch.where(random.chance(0.6, rows), first.round(), first)
    second = first * random.log_uniform(rows, low=2.0, high=12.0).round()
    second = torch.where(random.chance(0.4, rows), second, 0.0)
    free = torch.stack([first, second, torch.zeros_like(first)], -1)
    return torch.where((kind == len(CALENDARS) - 1)[:, None], free, known)


def seasonal(random: Random, period: torch.Tensor, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A repeating pattern with the period of each series, `[series, 1]`, and which cycle each step is in."""
    series = period.shape[0]
    safe = period.clamp_min(2.0)
    cycles = torch.arange(steps, device=random.device) / safe + 7 * random.uniform(series, 1)
    # Some clocks run unevenly: cycles of varying length, as of sunspots or of animals.
    wander = smooth(random, series, steps, safe * random.uniform(series, 1, low=0.7, high=4.0))
    uneven = random.chance(0.12, series, 1) * random.log_uniform(series, 1, low=0.02, high=0.35)
    cycles = (cycles + uneven * wander).clamp_min(0)
    table = templates(random, series)
    place = (cycles % 1.0) * TABLE
    index = place.long().clamp_max(TABLE - 1)
    fraction = place - index
    pattern = torch.lerp(table.gather(1, index), table.gather(1, (index + 1) % TABLE), fraction)
    # Amplitudes: constant, slowly changing, or drawn for each cycle.
    slow = torch.exp(random.uniform(series, 1, high=0.6) * smooth(random, series, steps, safe * 4))
    pattern = torch.where(random.chance(0.25, series, 1), pattern * slow, pattern)
    number = cycles.long().clamp_max(1023)
    drawn = torch.exp(0.4 * random.normal(series, 1024)).gather(1, number)
    return torch.where(random.chance(0.12, series, 1), pattern * drawn, pattern), number


def day_gains(random: Random, day: torch.Tensor) -> torch.Tensor:
    """A factor for each of seven days: a working week and a weekend, or any seven."""
    series = day.shape[0]
    week = (torch.arange(7, device=random.device) < 5).float()
    weekend = random.uniform(series, 1, low=-0.1, high=0.9)
    gains = torch.where(random.chance(0.7, series, 1), week + (1 - week) * weekend, random.uniform(series, 7, high=1.5))
    gains = gains * (1 + 0.1 * random.normal(series, 7) * random.chance(0.5, series, 1))
    return gains.gather(1, (day + random.integer(7, series, 1)) % 7)


def innovations(random: Random, series: int, steps: int) -> torch.Tensor:
    """White noise: Gaussian, heavy-tailed or skewed."""
    gaussian = random.normal(series, steps)
    heavy = random.student_t(random.log_uniform(series, 1, low=2.2, high=10.0), steps).clamp(-40, 40)
    skewed = torch.exp(random.uniform(series, 1, low=0.3, high=1.0) * gaussian)
    kind = random.choice([65, 23, 12], series)[:, None]
    return standardize(torch.where(kind == 1, heavy, torch.where(kind == 2, skewed, gaussian)))


def coloured(random: Random, series: int, steps: int) -> torch.Tensor:
    """ARMA noise with a real pole, a pair of complex ones and a zero, each there or not; some with a power law."""
    length = filter_length(steps)
    real = torch.where(random.chance(0.35, series, 1), random.uniform(series, 1, low=-0.6, high=0.6),
                       1 - random.log_uniform(series, 1, low=0.004, high=0.5))
    real = real * random.chance(0.85, series, 1)
    radius = random.uniform(series, 1, low=0.5, high=0.99) * random.chance(0.3, series, 1)
    angle = 2 * math.pi / random.log_uniform(series, 1, low=2.5, high=150.0)
    zero = random.uniform(series, 1, low=-0.8, high=0.8) * random.chance(0.4, series, 1)
    power = random.uniform(series, 1, low=0.3, high=1.8) * random.chance(0.12, series, 1)

    def response(omega):
        delay = torch.exp(-1j * omega)
        poles = (1 - real * delay) * (1 - 2 * radius * torch.cos(angle) * delay + (radius * delay) ** 2)
        return (1 + zero * delay) / poles * omega.clamp_min(2 * math.pi / length) ** (-power / 2)

    return standardize(filtered(innovations(random, series, length), response, steps))


def volatility(random: Random, series: int, steps: int) -> torch.Tensor:
    """A positive factor for noise whose size clusters."""
    slow = smooth(random, series, steps, random.log_uniform(series, 1, low=3.0, high=200.0))
    return torch.exp(random.uniform(series, 1, low=0.2, high=1.0) * slow)


def trend(random: Random, series: int, steps: int) -> torch.Tensor:
    """A slow change: a line, a broken line, a random walk, growth, saturation, level shifts, a smooth wave."""
    time = torch.linspace(-1, 1, steps, device=random.device).expand(series, -1)
    line = time * (1 - 2 * random.chance(0.4, series, 1).float())
    breaks = random.chance(random.log_uniform(series, 1, low=0.002, high=0.02), series, steps)
    broken = torch.cumsum(torch.cumsum(breaks * random.normal(series, steps), -1) + 0.5 * random.normal(series, 1), -1)
    walk = torch.cumsum(innovations(random, series, steps), -1)
    drift = walk + torch.arange(steps, device=random.device) * random.normal(series, 1) * 0.08
    growth = torch.exp(random.uniform(series, 1, low=0.3, high=2.0) * time)
    steepness, middle = random.log_uniform(series, 1, low=2.0, high=15.0), random.uniform(series, 1, low=-0.8, high=0.8)
    saturating = torch.sigmoid(steepness * (time - middle))
    jumps = random.chance(random.log_uniform(series, 1, low=0.001, high=0.012), series, steps)
    levels = torch.cumsum(jumps * random.normal(series, steps), -1)
    wave = smooth(random, series, steps, random.log_uniform(series, 1, low=15.0, high=300.0))
    # Integrated twice, with damped slopes: the local linear trend of exponential smoothing.
    local = torch.cumsum(damped(random.normal(series, filter_length(steps)), 0.985, steps), -1)
    result = line
    kind = random.choice([20, 9, 20, 8, 5, 13, 13, 12], series)[:, None]
    for number, other in enumerate([broken, drift, growth, saturating, levels, wave, local], start=1):
        result = torch.where(kind == number, other, result)
    return standardize(result)


def events(random: Random, series: int, steps: int) -> torch.Tensor:
    """Rare things, in units of the deviation of the rest: spikes that decay, on and off, ramps with resets."""
    rate = random.log_uniform(series, 1, low=0.0015, high=0.04)
    happens = random.chance(rate, series, steps).float()
    size = torch.exp(0.7 * random.normal(series, steps)) * random.log_uniform(series, 1, low=0.7, high=8.0)
    sign = torch.where(random.chance(0.15, series, 1), -1.0, 1.0)
    length = filter_length(steps)
    impulses = torch.nn.functional.pad(happens * size * sign, (length - steps, 0))
    keep = torch.exp(-1 / random.log_uniform(series, 1, low=0.5, high=30.0)) * random.chance(0.6, series, 1)
    spikes = damped(impulses, keep, steps)

    switch = random.chance(random.log_uniform(series, 1, low=0.004, high=0.12), series, steps)
    on = (torch.cumsum(switch, -1) % 2).float() * random.uniform(series, 1, low=0.5, high=4.0)

    steps_range = torch.arange(steps, device=random.device).expand(series, -1)
    resets = random.chance(random.log_uniform(series, 1, low=0.003, high=0.05), series, steps)
    reset = torch.where(resets, steps_range, 0)
    since = (steps_range - torch.cummax(reset, -1).values).float()
    ramp = since / since.amax(-1, keepdim=True).clamp_min(1) * random.uniform(series, 1, low=1.0, high=5.0)
    kind = random.choice([70, 18, 12], series)[:, None]
    return torch.where(kind == 1, on, torch.where(kind == 2, ramp, spikes))
