#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model on generated series and writes it as a checkpoint folder.

    python3 tools/demo_model/train.py --work build/demo_model --checkpoint models/demo

Needs `pip install toto-ts torch` and, to be done in minutes, a large GPU. The model class, the scaling and the loss are
the reference's own. Stopped by `--minutes` it keeps its state in --work; stopped by hand, that of the last multiple of
1,000 steps (`--validate-every`) is there. The same command goes on from it; `log.csv` beside it has the loss of the
whole run.
"""
import argparse
import pathlib
import time

import torch
from toto.model.backbone import TotoBackbone
from toto.model.losses import CombinedLoss

import model as demo
from generator import Batch, Generator

PATCH = demo.CONFIG["patch_size"]
# A target gets noise of this deviation, in scaled units. Without it the likelihood of rounded or constant series has
# no bound, and they would rule the gradient.
TARGET_NOISE = 0.004


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder of the state and the log")
    parser.add_argument("--checkpoint", type=pathlib.Path, help="where to write the trained model")
    parser.add_argument("--steps", type=int, default=24000, help="length of the whole run")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long, to be resumed")
    parser.add_argument("--rows", type=int, default=128, help="rows of a batch, eight variates each")
    parser.add_argument("--patches", type=int, default=73, help="patches of a row; all but one are context")
    parser.add_argument("--rate", type=float, default=1.5e-3, help="peak learning rate")
    parser.add_argument("--warmup", type=int, default=400, help="steps of rising learning rate")
    parser.add_argument("--decay", type=float, default=0.4, help="part of the run, at its end, of falling rate")
    parser.add_argument("--weight-decay", type=float, default=0.02)
    parser.add_argument("--average", type=float, default=0.999, help="decay of the averaged weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-every", type=int, default=100)
    parser.add_argument("--validate-every", type=int, default=1000)
    parser.add_argument("--compile", action="store_true", help="use torch.compile, which needs a compiler")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def scaled_batch(model: TotoBackbone, batch: Batch, noise: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The scaled context and, one patch later, the targets in the same units; the reference's own causal scaling."""
    context = batch.values[..., :-PATCH]
    mask = batch.observed[..., :-PATCH].float()
    scaled, loc, scale = model.scaler(context, weights=torch.ones_like(context), padding_mask=mask)
    epsilon = torch.finfo(torch.float32).eps
    target = (batch.values[..., PATCH:] - loc) / (scale + epsilon) + TARGET_NOISE * noise
    # A patch is worth learning from once something was observed before it.
    known = mask.cumsum(-1).unfold(-1, PATCH, PATCH)[..., -1:] > 0
    weight = batch.observed[..., PATCH:] & known.expand(-1, -1, -1, PATCH).flatten(-2)
    return scaled, target, weight.float()


def mean_loss(
    model: TotoBackbone, criterion: CombinedLoss, scaled: torch.Tensor, target: torch.Tensor, weight: torch.Tensor,
    groups: torch.Tensor, mixed: bool,
) -> torch.Tensor:
    """The forward pass by the reference's modules, without its checks, which wait for the device; and the loss."""
    embedded = model.patch_embed.projection(scaled.unfold(-1, PATCH, PATCH))
    ids = groups[:, :, None].expand(-1, -1, embedded.shape[2])
    with torch.autocast(scaled.device.type, torch.bfloat16, enabled=mixed):
        hidden = model.unembed(model.transformer(embedded, ids))
    steps = hidden.unflatten(-1, (PATCH, model.embed_dim)).flatten(2, 3).float()
    loss = criterion(model.output_distribution(steps), target)
    return (loss * weight).sum() / weight.sum().clamp_min(1.0)


def rate_at(step: int, arguments: argparse.Namespace) -> float:
    """Warm up, stay, then fall in a line to nothing."""
    falling = max(1, int(arguments.decay * arguments.steps))
    return arguments.rate * min((step + 1) / arguments.warmup, 1.0, max(0.0, (arguments.steps - step) / falling))


class Training:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.device = torch.device(arguments.device)
        torch.manual_seed(arguments.seed)
        self.model = demo.build().to(self.device).train()
        parameters = list(self.model.parameters())
        matrices = [value for value in parameters if value.ndim > 1]
        others = [value for value in parameters if value.ndim <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": arguments.weight_decay}, {"params": others, "weight_decay": 0.0}],
            lr=arguments.rate, betas=(0.9, 0.98), fused=self.device.type == "cuda")
        self.average = [value.detach().clone() for value in parameters]
        self.generator = Generator(self.device, arguments.seed, arguments.rows, arguments.patches * PATCH)
        self.noise = torch.Generator(device=self.device)
        self.criterion = CombinedLoss()
        self.loss = torch.compile(mean_loss) if arguments.compile else mean_loss
        self.step = 0

    @property
    def state_file(self) -> pathlib.Path:
        return self.arguments.work / "state.pt"

    def save(self) -> None:
        state = {"step": self.step, "model": self.model.state_dict(), "average": self.average,
                 "optimizer": self.optimizer.state_dict()}
        partial = self.state_file.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(self.state_file)

    def resume(self) -> None:
        if self.state_file.exists():
            state = torch.load(self.state_file, map_location=self.device)
            self.step = state["step"]
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.average = [value.to(self.device) for value in state["average"]]

    def averaged_state(self) -> dict[str, torch.Tensor]:
        names = [name for name, _ in self.model.named_parameters()]
        return self.model.state_dict() | dict(zip(names, self.average))

    def loss_of(self, batch: Batch, number: int) -> torch.Tensor:
        self.noise.manual_seed(number)
        noise = torch.randn(batch.values[..., PATCH:].shape, generator=self.noise, device=self.device)
        scaled, target, weight = scaled_batch(self.model, batch, noise)
        mixed = self.device.type == "cuda"
        return self.loss(self.model, self.criterion, scaled, target, weight, batch.groups, mixed)

    def advance(self) -> torch.Tensor:
        """One step; returns the loss and the norm of the gradient, still on the device."""
        loss = self.loss_of(self.generator.batch(self.step), self.step)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = rate_at(self.step, self.arguments)
        # A batch whose gradient is not finite is left out, decided on the device.
        ok = torch.isfinite(norm)
        for value in self.model.parameters():
            value.grad = torch.where(ok, value.grad, 0.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        decay = min(self.arguments.average, (self.step + 1) / (self.step + 20))
        torch._foreach_lerp_(self.average, [value.detach() for value in self.model.parameters()], 1 - decay)
        self.step += 1
        return torch.stack([loss.detach(), norm])

    @torch.no_grad()
    def validate(self) -> float:
        """The loss of the averaged weights on batches that are never trained on."""
        current = [value.detach().clone() for value in self.model.parameters()]
        for value, average in zip(self.model.parameters(), self.average):
            value.copy_(average)
        unseen = Generator(self.device, self.arguments.seed + 1000, self.arguments.rows, self.arguments.patches * PATCH)
        losses = [self.loss_of(unseen.batch(number), number).item() for number in range(4)]
        for value, previous in zip(self.model.parameters(), current):
            value.copy_(previous)
        return sum(losses) / len(losses)

    def run(self) -> None:
        arguments = self.arguments
        arguments.work.mkdir(parents=True, exist_ok=True)
        self.resume()
        log = (arguments.work / "log.csv").open("a", buffering=1)
        if self.step == 0:
            log.write("step,loss,gradient,rate,validation,seconds\n")
        size = sum(value.numel() for value in self.model.parameters())
        print(f"{size} parameters, from step {self.step} on", flush=True)
        start = time.monotonic()
        recent = []
        while self.step < arguments.steps and time.monotonic() - start < 60 * arguments.minutes:
            recent.append(self.advance())
            is_last = self.step == arguments.steps
            if self.step % arguments.log_every == 0 or is_last:
                loss, norm = torch.stack(recent).nanmean(0).tolist()
                recent = []
                validation = ""
                if self.step % arguments.validate_every == 0 or is_last:
                    validation = f"{self.validate():.5f}"
                    self.save()
                line = (f"{self.step},{loss:.5f},{norm:.4f},{rate_at(self.step - 1, arguments):.3e},{validation},"
                        f"{time.monotonic() - start:.1f}")
                log.write(line + "\n")
                print(line, flush=True)
        self.save()
        if arguments.checkpoint:
            demo.save(self.averaged_state(), arguments.checkpoint)


def main() -> None:
    torch.distributions.Distribution.set_default_validate_args(False)
    torch.backends.cuda.matmul.allow_tf32 = True
    Training(parse_arguments()).run()


if __name__ == "__main__":
    main()
