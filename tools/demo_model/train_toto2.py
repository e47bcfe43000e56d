#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a Toto 2.0 of the 4m configuration on generated series and writes it as a checkpoint folder.

    python3 tools/demo_model/train_toto2.py --out build/demo_toto2 --minutes 7.5 --compile

Needs PyTorch and safetensors and, to be done in minutes, a large GPU. The run ends by the clock: the learning rate
falls to zero at the end of --minutes, and what there is then is written. Every minute a checkpoint of the averaged
weights replaces the one before; `log.csv` beside it has the loss.
"""
import argparse
import math
import pathlib
import random
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import components as parts
import toto2
from generator import PLAIN_FROM, Batch, Generator

SIZES = {"4m": toto2.Config(),
         "tiny": toto2.Config(d_model=64, d_ff=176, num_heads=2, num_groups=2, qk_dim=32, v_dim=32, num_layers=2,
                              layer_group_size=2)}
PATCH = toto2.Config().patch_size
# Lengths of generated rows in patches, and how often each is drawn; rows may be cut into 2 or 4 on top of that.
LENGTHS = {64: 50, 32: 30, 16: 20}
CUTS = {1: 55, 2: 25, 4: 20}
SHORTEST = 8
# As forecasts do: patches with fewer observations before their end take the statistics of the first ones.
LEAST_OBSERVED = 8
LONGEST_SPAN = 16


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the checkpoint and the log")
    parser.add_argument("--minutes", type=float, default=7.5, help="length of the run, all in all")
    parser.add_argument("--size", choices=SIZES, default="4m")
    parser.add_argument("--tokens", type=int, default=131072, help="patches of a batch")
    parser.add_argument("--pool", type=int, default=24, help="generated chunks, of two batches each, that are kept")
    parser.add_argument("--generator-share", type=float, default=0.35, help="part of the time for new series")
    parser.add_argument("--rate", type=float, default=0.6, help="peak learning rate, for weights of unit deviation")
    parser.add_argument("--warmup", type=int, default=300, help="steps of rising learning rate")
    parser.add_argument("--average", type=float, default=0.998, help="decay of the averaged weights")
    parser.add_argument("--decay", type=float, default=3e-5, help="what a step at the peak rate takes off a matrix")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-every", type=int, default=50)
    parser.add_argument("--save-seconds", type=float, default=60)
    parser.add_argument("--compile", action="store_true", help="use torch.compile where it works")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def drawn(choices: dict[int, int], order: random.Random) -> int:
    return order.choices(list(choices), list(choices.values()))[0]


class Pool:
    """Generated series on the device; each is used several times, cut and masked anew, before it is replaced."""

    def __init__(self, device: torch.device, seed: int, tokens: int, size: int):
        self.order = random.Random(seed)
        self.tokens = tokens
        self.size = size
        self.chunks: list[tuple[int, Batch]] = []
        # The numbers decide what batches hold: from PLAIN_FROM on, plainer series are among them.
        self.number = PLAIN_FROM
        self.generators = {
            length: Generator(device, seed + length, 2 * tokens // (Generator.variates * length), (length + 1) * PATCH)
            for length in LENGTHS}

    def refresh(self, length: int | None = None) -> None:
        """Generates a chunk of two batches; the oldest one goes when there are enough."""
        length = length or drawn(LENGTHS, self.order)
        self.chunks.append((length, self.generators[length].batch(self.number)))
        self.chunks = self.chunks[-self.size :]
        self.number += 1

    def draw(self) -> Batch:
        """Rows of `tokens` patches together, and one patch more each, which is only forecast."""
        length, chunk = self.order.choice(self.chunks)
        cut = length // drawn({part: often for part, often in CUTS.items() if length // part >= SHORTEST}, self.order)
        rows = len(chunk.groups) // 2
        half = slice(0, rows) if self.order.random() < 0.5 else slice(rows, 2 * rows)
        values, observed = (
            part[half].unfold(-1, (cut + 1) * PATCH, cut * PATCH).transpose(1, 2).flatten(0, 1)
            for part in (chunk.values, chunk.observed))
        groups = chunk.groups[half].repeat_interleave(length // cut, 0)
        if self.order.random() < 0.2:
            values, observed, groups = wider(values, observed, groups)
        return Batch(values, observed, groups)


def wider(values: torch.Tensor, observed: torch.Tensor, groups: torch.Tensor) -> Batch:
    """Two rows as one, side by side; every other one as a single group, most of which has nothing to tell."""
    pairs = groups.unflatten(0, (-1, 2)) + groups.shape[1] * torch.arange(2, device=groups.device)[:, None]
    pairs[::2] = 0
    values, observed = (part.unflatten(0, (-1, 2)).flatten(1, 2) for part in (values, observed))
    return Batch(values, observed, pairs.flatten(1, 2))


def spans(draw: parts.Random, rows: int, variates: int, patches: int) -> torch.Tensor:
    """Patches that are hidden as those of a horizon are, `[rows, variates, patches]`; some variates stay known."""
    place = torch.arange(patches, device=draw.device)
    result = torch.zeros(rows, 1, patches, dtype=torch.bool, device=draw.device)
    for _ in range(1 + patches // 24):
        start = 1 + (draw.uniform(rows, 1, 1) * (patches - 1)).floor()
        length = draw.log_uniform(rows, 1, 1, low=1.0, high=LONGEST_SPAN + 1.0).floor()
        result = result | (draw.chance(0.55, rows, 1, 1) & (place >= start) & (place < start + length))
    known = draw.chance(0.15, rows, 1, 1) & draw.chance(0.4, rows, variates, 1)
    return result & ~known


@torch.no_grad()
def prepared(batch: Batch, hidden: torch.Tensor, begin: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What the network reads, and the patch after each one in the units known then: as forecasts have them."""
    steps = torch.arange(batch.values.shape[-1], device=begin.device)
    observed = batch.observed & (steps >= begin[:, None, None])
    context = batch.values[..., :-PATCH]
    visible = observed[..., :-PATCH] & ~hidden.repeat_interleave(PATCH, -1)
    loc, scale, count = toto2.statistics(context, visible, PATCH)
    following, known = (part[..., PATCH:].unfold(-1, PATCH, PATCH) for part in (batch.values, observed))
    target = torch.asinh((following.double() - loc[..., None]) / scale[..., None]).float()
    weight = known & (count >= LEAST_OBSERVED)[..., None]
    loc, scale = toto2.with_fallback(context, visible, loc, scale, count, LEAST_OBSERVED)
    scaled, missing = toto2.embedded(context, visible, loc, scale, PATCH)
    ids = torch.where(missing.all(-1) & ~hidden, -1, batch.groups[:, :, None])
    return scaled, missing, ids, target, weight.float()


def pinball(z: torch.Tensor, target: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Twice the quantile loss, averaged over levels and the steps of a patch: `[B, N, n]`."""
    levels = torch.arange(1, 10, device=z.device) / 10
    gap = target[..., None] - z
    loss = 2 * torch.maximum(levels * gap, (levels - 1) * gap).mean(-1)
    return (loss * weight).sum(-1) / weight.sum(-1).clamp_min(1)


def importance(losses: torch.Tensor, weight: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    """More for series that were forecast well so far, since errors are judged relative to a series' own.

    Only what the network sees before a patch decides: otherwise large deviations would count too little.
    """
    some = weight.mean(-1)
    counts = (some > 0).float()
    counts[..., :-1] *= ~hidden[..., 1:]
    past = losses.detach() * counts
    before, number = past.cumsum(-1) - past, counts.cumsum(-1) - counts
    return some * ((before + 0.15) / (number + 1) + 0.01) ** -0.6


def parameter_groups(model: toto2.Toto2, decay: float, rate: float) -> list[dict]:
    """Rates by layer: what a layer multiplies with moves by rate / inputs, as for unit scaling; biases by rate / 256.

    Weights are divided by their layer's factor to have unit deviation, so are their rates.
    """
    groups = []
    for module in model.modules():
        if isinstance(module, toto2.ScaledLinear):
            weight = 1 / (max(128, module.weight.shape[1]) * module.factor)
            groups.append({"params": [module.weight], "share": weight, "weight_decay": decay / (rate * weight)})
            if module.bias is not None:
                groups.append({"params": [module.bias], "share": 1 / (256 * module.factor), "weight_decay": 0.0})
        elif isinstance(module, toto2.PerDimScale):
            groups.append({"params": [module.per_dim_scale], "share": 0.02, "weight_decay": 0.0})
    return groups


class Training:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.start = time.monotonic()
        self.device = torch.device(arguments.device)
        torch.manual_seed(arguments.seed)
        self.config = SIZES[arguments.size]
        self.model = toto2.Toto2(self.config).to(self.device)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(
            parameter_groups(self.model, arguments.decay, arguments.rate), lr=arguments.rate, betas=(0.9, 0.98),
            eps=1e-16, fused=self.device.type == "cuda")
        self.average = [value.detach().clone() for value in self.parameters]
        self.usual_norm = torch.tensor(0.0, device=self.device)
        self.pool = Pool(self.device, arguments.seed, arguments.tokens, arguments.pool)
        self.random = parts.Random(self.device)
        self.random.seed(arguments.seed)
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.step = 0

    def compile(self) -> None:
        """Compiles what works token by token, whose sizes are the same for rows of any length."""
        self.model.patch_proj.compile(dynamic=False)
        self.model.output_head.param_projection.proj.compile(dynamic=False)
        for layer in self.model.transformer.layers:
            layer.heads = torch.compile(layer.heads, dynamic=False)
            layer.close = torch.compile(layer.close, dynamic=False)

    def losses(self, batch: Batch, hidden: torch.Tensor, begin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scaled, missing, ids, target, weight = prepared(batch, hidden, begin)
        with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
            z = self.model(scaled, missing, ids, self.dtype)
        return pinball(z, target, weight), weight

    def gradients(self) -> torch.Tensor:
        batch = self.pool.draw()
        rows, variates = batch.groups.shape
        hidden = spans(self.random, rows, variates, batch.values.shape[-1] // PATCH - 1)
        # Series rarely begin with a whole patch.
        begin = self.random.integer(PATCH, rows) * self.random.chance(0.7, rows)
        losses, weight = self.losses(batch, hidden, begin)
        share = importance(losses, weight, hidden)
        ((losses * share).sum() / share.sum().clamp_min(1e-6)).backward()
        some = weight.mean(-1)
        return (losses.detach() * some).sum() / some.sum().clamp_min(1.0)

    def advance(self, rate: float) -> torch.Tensor:
        """One step; returns the loss and the norm of the gradient, still on the device."""
        loss = self.gradients()
        gradients = [value.grad for value in self.parameters]
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        # A batch whose gradient is not finite is left out, a far larger one than usual is cut; decided on the device.
        ok = torch.isfinite(norm)
        usual = torch.where(self.usual_norm > 0, self.usual_norm, norm)
        factor = (3 * usual / norm).clamp_max(1.0)
        self.usual_norm = torch.where(ok, torch.lerp(usual, torch.minimum(norm, 3 * usual), 0.02), self.usual_norm)
        for value in self.parameters:
            value.grad = torch.where(ok, value.grad * factor, 0.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["share"]
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        decay = min(self.arguments.average, (self.step + 1) / (self.step + 10))
        torch._foreach_lerp_(self.average, [value.detach() for value in self.parameters], 1 - decay)
        self.step += 1
        return torch.stack([loss, norm])

    def averaged_state(self) -> dict[str, torch.Tensor]:
        names = [name for name, _ in self.model.named_parameters()]
        return self.model.state_dict() | dict(zip(names, self.average))

    def save(self) -> None:
        toto2.save(self.config, self.averaged_state(), self.arguments.out)

    def validate(self) -> float:
        """The loss of the averaged weights on series that are never trained on, the last quarter of them hidden."""
        unseen = Pool(self.device, self.arguments.seed + 1000, self.arguments.tokens, 1)
        unseen.refresh(32)
        batch = Batch(*(part[: len(part) // 2] for part in unseen.chunks[0][1]))
        rows, variates = batch.groups.shape
        hidden = torch.zeros(rows, variates, 32, dtype=torch.bool, device=self.device)
        hidden[..., 24:] = True
        current = [value.detach().clone() for value in self.parameters]
        self.set_weights(self.average)
        # With gradients, which nobody asks for: without them everything would be compiled again.
        losses, weight = self.losses(batch, hidden, torch.zeros(rows, device=self.device))
        self.set_weights(current)
        some = weight.mean(-1)
        return ((losses.detach() * some).sum() / some.sum().clamp_min(1.0)).item()

    @torch.no_grad()
    def set_weights(self, values: list[torch.Tensor]) -> None:
        for parameter, value in zip(self.parameters, values):
            parameter.copy_(value)

    def seconds(self, work, times: int) -> float:
        """What one call takes, the device's work included."""
        def wait():
            if self.device.type == "cuda":
                torch.cuda.synchronize()
        wait()
        start = time.monotonic()
        for _ in range(times):
            work()
        wait()
        return (time.monotonic() - start) / times

    def warm_up(self) -> int:
        """Fills the pool a little and returns after how many steps a chunk is to be replaced."""
        for length in LENGTHS:
            self.pool.refresh(length)
        generate = self.seconds(self.pool.refresh, 3)
        if self.arguments.compile:
            try:
                self.advance(0.0)
            except Exception as error:  # Whatever the compiler lacks: the same steps run without it.
                print(f"torch.compile failed, so steps are not compiled: {str(error)[:300]}", flush=True)
                torch.compiler.set_stance("force_eager")
                self.optimizer.zero_grad(set_to_none=True)
        for _ in range(4):
            self.advance(0.0)
        step = self.seconds(lambda: self.advance(0.0), 4)
        share = self.arguments.generator_share
        every = max(1, round(generate * (1 - share) / (share * step)))
        print(f"a chunk of two batches takes {1e3 * generate:.1f} ms, a step {1e3 * step:.1f} ms; a new chunk every "
              f"{every} steps; {time.monotonic() - self.start:.1f} s after the start", flush=True)
        return every

    def run(self) -> None:
        arguments = self.arguments
        arguments.out.mkdir(parents=True, exist_ok=True)
        log = (arguments.out / "log.csv").open("w", buffering=1)
        log.write("step,loss,gradient,rate,validation,seconds\n")
        print(f"{sum(value.numel() for value in self.parameters)} parameters on {self.device}", flush=True)
        if arguments.compile:
            self.compile()
        every = self.warm_up()
        begin = time.monotonic()
        length = self.start + 60 * arguments.minutes - begin
        saved, recent, done = begin, [], False
        while not done:
            passed = (time.monotonic() - begin) / length
            rate = arguments.rate * min(1.0, (self.step + 1) / arguments.warmup)
            rate *= 0.5 * (1 + math.cos(math.pi * min(1.0, passed)))
            recent.append(self.advance(rate))
            if self.step % every == 0:
                self.pool.refresh()
            if self.step % arguments.log_every == 0:
                loss, norm = torch.stack(recent).nanmean(0).tolist()
                recent, now = [], time.monotonic()
                done = now - begin >= length
                validation = ""
                if now - saved >= arguments.save_seconds or done:
                    saved = now
                    validation = f"{self.validate():.5f}"
                    self.save()
                line = f"{self.step},{loss:.5f},{norm:.3e},{rate:.3e},{validation},{now - self.start:.1f}"
                log.write(line + "\n")
                print(line, flush=True)


def main() -> None:
    torch.backends.cuda.matmul.allow_tf32 = True
    Training(parse_arguments()).run()


if __name__ == "__main__":
    main()
