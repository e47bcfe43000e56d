#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what `toto-ts` computes with the demo checkpoint, for tests/models/toto1/test_demo_model.cpp.

    python3 tools/demo_model/make_fixture.py --checkpoint models/demo --output tests/data/demo_model

The keys are those of tests/data/README.md: the inputs, the head's parameters over the context and while decoding a
given future, and the mean forecast. Prints how far the reference's own f32 is from its f64; the test's bounds of the
head are three times that.
"""
import argparse
import math
import pathlib

import torch
from safetensors.torch import save_file
from toto.data.util.dataset import MaskedTimeseries, pad_array, pad_id_mask
from toto.inference.forecaster import TotoForecaster

import model as demo

VARIATES, CONTEXT, HORIZON = 3, 77, 32


def series(steps: int, seed: int) -> torch.Tensor:
    """Three variates `[1, 3, steps]`: two that move together by day, and one with a trend."""
    generator = torch.Generator().manual_seed(seed)
    time = torch.arange(steps)
    day = torch.sin(2 * math.pi * time / 24)
    noise = torch.randn(VARIATES, steps, generator=generator)
    return torch.stack([40 + 12 * day + noise[0], 5 + 2 * day.roll(2) + 0.5 * noise[1], 0.3 * time + noise[2]])[None]


def parameters(prefix: str, distribution: torch.distributions.MixtureSameFamily) -> dict[str, torch.Tensor]:
    component = distribution.component_distribution
    return {f"{prefix}_df": component.df, f"{prefix}_loc": component.loc, f"{prefix}_scale": component.scale,
            f"{prefix}_probs": distribution.mixture_distribution.probs}


def heads(model: torch.nn.Module, inputs: dict[str, torch.Tensor], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The head's parameters over the context, and of each step of decoding the given future, computed in `dtype`."""
    torch.set_default_dtype(dtype)  # the cache's layers make tensors of it
    model, patch = model.to(dtype), model.patch_embed.stride
    context, future = inputs["series"].to(dtype), inputs["future"].to(dtype)
    padded, padded_mask = pad_array(context, patch), pad_array(inputs["padding_mask"].bool(), patch)
    ids = pad_id_mask(inputs["id_mask"].to(dtype), patch)
    length = padded.shape[-1]
    tensors = parameters("head", model(padded, padded_mask, ids, None, length).distribution)
    cache = model.allocate_kv_cache(1, VARIATES, length + HORIZON, torch.device("cpu"), dtype)
    trace: dict[str, list[torch.Tensor]] = {}
    for step in range(HORIZON // patch):
        distribution = model(padded, padded_mask, ids, cache, length).distribution
        for key, value in parameters("trace", distribution).items():
            trace.setdefault(key, []).append(value[:, :, -patch:])
        padded = torch.cat([padded, future[..., step * patch : (step + 1) * patch]], -1)
        padded_mask = torch.cat([padded_mask, torch.ones(1, VARIATES, patch, dtype=torch.bool)], -1)
        ids = torch.cat([ids, ids[..., -1:].expand(-1, -1, patch)], -1)
    torch.set_default_dtype(torch.float32)
    return tensors | {key: torch.stack(values) for key, values in trace.items()}


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    everything = series(CONTEXT + HORIZON, 1)
    context, future = everything[..., :CONTEXT], everything[..., CONTEXT:]
    mask = torch.ones_like(context, dtype=torch.bool)
    mask[:, 1, 30:37] = False
    context = torch.where(mask, context, 0.0)
    groups = torch.tensor([0.0, 0.0, 1.0])[None, :, None].expand_as(context).contiguous()
    given = {"series": context, "padding_mask": mask.float(), "id_mask": groups, "future": future}
    computed = heads(demo.load(arguments.checkpoint), given, torch.float32)
    for key, truth in heads(demo.load(arguments.checkpoint), given, torch.float64).items():
        difference, magnitude = (computed[key] - truth).abs(), truth.abs()
        print(f"{key}: {difference.max() / magnitude.max():.1e} of the tensor's largest, "
              f"{(difference.amax(-1) / magnitude.amax(-1)).max():.1e} of a row's")
    tensors = given | computed

    inputs = MaskedTimeseries(context, mask, groups, torch.zeros_like(context), torch.full((1, VARIATES), 3600))
    tensors["mean_kv"] = TotoForecaster(demo.load(arguments.checkpoint)).forecast(inputs, prediction_length=HORIZON).mean
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / "io.safetensors"
    save_file({key: value.contiguous().clone() for key, value in tensors.items()}, path)
    path.chmod(0o644)


if __name__ == "__main__":
    main()
