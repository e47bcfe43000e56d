#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/attention/io.safetensors: attentions as PyTorch's scaled_dot_product_attention computes them.

    python3 tools/make_attention_fixture.py tests/data/attention

Needs `pip install torch safetensors` (the fixture in the repository is from torch 2.7) and runs on the CPU. For each
case the file has `<case>.query`, `.key`, `.value` and `.out`, f32 `[batch, 1, 1, positions, heads * head_dim]`; results
are computed in f64 and rounded once.
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file
from torch.nn.functional import scaled_dot_product_attention


def rows(tensor):
    """[batch, heads, positions, head_dim] as rows of all heads."""
    batch, heads, positions, width = tensor.shape
    return tensor.transpose(1, 2).reshape(batch, 1, 1, positions, heads * width).to(torch.float32).contiguous()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(20260)
    tensors = {}

    def add(name, heads, kv_heads, queries, keys, head_dim, value_dim, batch=2, **options):
        shape = dict(query=(heads, queries, head_dim), key=(kv_heads, keys, head_dim), value=(kv_heads, keys, value_dim))
        inputs = {part: torch.randn(batch, *of, dtype=torch.float32) for part, of in shape.items()}
        out = scaled_dot_product_attention(*(x.double() for x in inputs.values()), enable_gqa=True, **options)
        for part, tensor in {**inputs, "out": out}.items():
            tensors[f"{name}.{part}"] = rows(tensor)

    add("grouped", 8, 2, 6, 6, 16, 16, is_causal=True)
    # The last four of nine positions, at a scale of 1 / head_dim.
    behind = torch.ones(4, 9, dtype=torch.bool).tril(5)
    add("block", 4, 1, 4, 9, 20, 12, attn_mask=behind, scale=1 / 20)
    # Keys 1, 2, 4 count, for all queries.
    counts = torch.tensor([False, True, True, False, True])
    add("by_key", 3, 3, 5, 5, 52, 52, attn_mask=counts.expand(5, 5))
    # Positions of two groups, each seeing those of its own before it.
    group = torch.tensor([0, 1, 1, 0, 1, 0])
    add("by_group", 2, 2, 6, 6, 64, 32, attn_mask=(group[:, None] == group[None, :]).tril())
    add("wide", 2, 1, 1, 7, 256, 256, batch=1)
    save_file(tensors, folder / "io.safetensors")


if __name__ == "__main__":
    main()
