#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the public PyTorch implementation of Toto 2.0 on the workloads of bench/toto2.cpp, with untrained weights.

    python3 bench/reference_toto2.py [--workloads small_4m,batch_22m] [--threads 2] [--repeats 5] [--modes eager,default]
                                     [--precisions f32,bf16] [--device cuda]

Needs the packages `toto-2` and `torch`. bf16 is by autocast, tf32 is of a device alone. A mode other than eager is torch.compile's, of the
transformer: compiling the model compiles nothing. Prints one JSON object a line, as bench_toto2 does; what fails has
an `error` in place of times.
"""
import argparse
import contextlib
import json
import warnings

warnings.filterwarnings("ignore")
import torch
from toto2.configuration import Toto2ModelConfig
from toto2.model import Toto2Model

from timing import timed
from workloads import TOTO2_WORKLOADS

# Width, feed-forward width, heads, layers: as published.
SIZES = {"4m": (256, 688, 4, 4), "22m": (512, 1368, 8, 6), "313m": (1024, 2736, 16, 24),
         "2_5b": (2048, 5464, 32, 48)}
# Batch, variates, context, horizon, block: as in bench/toto2.cpp.
WORKLOADS = {
    "small": (1, 1, 512, 96, None),
    "batch": (64, 1, 2048, 96, None),
    "readme": (1, 7, 4096, 336, None),
    "block_decode": (1, 1, 1024, 2048, 768),
}


def published_model(size, device):
    width, feed_forward, heads, layers = SIZES[size]
    with torch.device(device):
        return Toto2Model(Toto2ModelConfig(
            patch_size=32, d_model=width, num_heads=heads, num_layers=layers, layer_group_size=layers,
            num_variate_layers_per_group=1, variate_layer_first=False, norm_eps=5e-4 if size == "2_5b" else 1e-4,
            attn_bias=True, mlp_bias=False, d_ff=feed_forward, qk_dim=64, v_dim=64, residual_mult=0.75,
            residual_attn_ratio=5.136215466577748, qk_norm=False, norm_include_weight=False, per_dim_scale=True,
            use_xpos=True)).eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=TOTO2_WORKLOADS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--modes", default="eager")
    parser.add_argument("--precisions", default="f32")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    device = arguments.device
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    models = {}
    for name in arguments.workloads.split(","):
        workload = next(known for known in WORKLOADS if name.startswith(known + "_"))
        size = name[len(workload) + 1:]
        if size not in models:
            models = {size: published_model(size, device)}
        model = models[size]
        batch, variates, context, horizon, block = WORKLOADS[workload]
        series = torch.randn(batch, variates, context, device=device).cumsum(-1)
        inputs = {"target": series, "target_mask": torch.ones_like(series, dtype=torch.bool),
                  "series_ids": torch.zeros(batch, variates, dtype=torch.long, device=device)}
        for mode in arguments.modes.split(","):
            torch._dynamo.reset()
            model.transformer._compiled_call_impl = None
            if mode != "eager":
                model.transformer.compile(mode=None if mode == "default" else mode)
            for precision in arguments.precisions.split(","):
                torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
                rounding = (torch.autocast(device, dtype=torch.bfloat16) if precision == "bf16"
                            else contextlib.nullcontext())
                row = {"implementation": "toto-2", "workload": name, "mode": mode, "weights": precision,
                       "threads": arguments.threads}
                try:
                    with torch.no_grad(), rounding:
                        row |= timed(lambda: model.forecast(inputs, horizon, decode_block_size=block,
                                                            has_missing_values=False),
                                     arguments.repeats, device, warm_up=2)
                except RuntimeError as error:  # block decoding under autocast, for one
                    row["error"] = str(error).splitlines()[0]
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
