#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/ops/ops.safetensors: what PyTorch computes for ops that no fixture of a model has.

    python3 tools/make_op_fixtures.py tests/data/ops

Needs `pip install torch safetensors` (the file in the repository is from torch 2.7) and runs on the CPU. Inputs are
f32; results are computed in f64 from them and stored so.
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file


def filtered_shares(logits, temperature, top_k, top_p):
    """The shares of a vocabulary after a temperature, then top-k, then top-p, as generation loops write them."""
    logits = logits.double() / temperature
    if top_k > 0:
        smallest = torch.topk(logits, top_k).values[..., -1, None]
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if top_p < 1:
        ordered, places = torch.sort(logits, descending=True, stable=True)
        cumulative = torch.cumsum(torch.softmax(ordered, -1), -1)
        drop = torch.zeros_like(ordered, dtype=torch.bool)
        drop[..., 1:] = cumulative[..., :-1] > top_p  # the one that crosses stays
        logits = logits.masked_fill(drop.scatter(-1, places, drop), -torch.inf)
    return torch.softmax(logits, -1)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(3)
    tensors = {}

    sizes = torch.tensor([0.0, 1e-30, 1e-6, 1e-3, 0.05, 0.3, 0.9, 1.0, 2.5, 6.0, 11.0, 30.0, 79.0, 81.0, 88.0, 89.0])
    x = torch.cat([sizes, -sizes])
    tensors["x"] = x
    tensors["sinh"] = torch.sinh(x.double())
    tensors["gelu"] = torch.nn.functional.gelu(x.double(), approximate="tanh")
    wide = torch.cat([x, torch.tensor([1e7, -1e7, 3e8, -3e8, 1e19, 3e38, -3e38])])
    tensors["wide"] = wide
    tensors["asinh"] = torch.asinh(wide.double())

    rows = torch.randn(5, 12) * 3 + 2
    scale, shift = torch.randn(12), torch.randn(12)
    tensors.update(rows=rows, scale=scale, shift=shift)
    tensors["layer_norm"] = torch.nn.functional.layer_norm(rows.double(), (12,), scale.double(), shift.double(), 1e-5)

    table, ids = torch.randn(7, 5), torch.tensor([[6, 0, 3], [3, 5, 1]])
    tensors.update(table=table, ids=ids.double(), embedding=torch.nn.functional.embedding(ids, table).double())

    scores = torch.randn(6, 9)
    scores[1, 4] = scores[1, 7] = 5.0
    scores[2, :] = -torch.inf
    scores[3, 5] = torch.nan
    scores[4, :] = 0.0
    scores[4, 3] = -0.0
    tensors.update(scores=scores, argmax=torch.argmax(scores, -1).double())

    signs = torch.randn(8, 10)
    signs[0, 2], signs[0, 5] = 0.0, torch.nan
    bits = (signs > 0).double()
    tensors.update(signs=signs, bits=bits, packed=(bits * 2.0 ** torch.arange(10)).sum(-1))

    logits = torch.randn(6, 40) * 2
    logits[1, 7] = logits[1, 30] = logits[1].max() + 1  # ties at the top
    logits[2, ::3] = 0.25                                # and in the middle
    logits[3, 5:] = -torch.inf
    logits[4, :] = -3.0
    tensors["logits"] = logits
    cases = [(1.0, 0, 1.0), (0.6, 0, 0.9), (1.0, 5, 1.0), (1.7, 0, 0.3), (0.5, 8, 0.7), (1.0, 1, 1.0), (1.0, 0, 0.0)]
    tensors["cases"] = torch.tensor(cases, dtype=torch.float64)
    tensors["shares"] = torch.stack([filtered_shares(logits, *case) for case in cases])
    save_file(tensors, folder / "ops.safetensors")


if __name__ == "__main__":
    main()
