#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the public PyTorch implementation of Kronos on the workloads of bench/kronos.cpp and bench/cuda/kronos, with
untrained weights.

    python3 bench/reference_kronos.py KRONOS [--workloads mini_one_symbol,small_desk] [--threads 2] [--repeats 3]
                                      [--device cuda] [--precisions f32,tf32]

KRONOS is a checkout of shiyu-coder/Kronos. Needs torch, numpy, pandas, einops, tqdm, huggingface_hub and safetensors.
Draws 32 candles ahead with top_p 0.9. Prints one JSON object a line, as bench_kronos does. (Its calls fail under
autocast to bf16.)
"""
import argparse
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import torch

from timing import timed

# Layers, width, heads, feed-forward width, longest window: as published.
SIZES = {"mini": (4, 256, 4, 512, 2048), "small": (8, 512, 8, 1024, 512), "base": (12, 832, 16, 2048, 512)}
# Series, candles of each, paths of each.
WORKLOADS = {"one_symbol": (1, 400, 1), "paths": (1, 400, 64), "desk": (32, 400, 5), "sliding": (1, 512, 5)}
AHEAD = 32


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kronos")
    parser.add_argument("--workloads", default="mini_one_symbol,small_one_symbol")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precisions", default="f32")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.kronos)
    from model.kronos import Kronos, KronosTokenizer, auto_regressive_inference
    device = arguments.device
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    tokenizer = KronosTokenizer(6, 256, 4, 512, 4, 4, 0.0, 0.0, 0.0, 10, 10, 0.05, 1.0, 1.1, 0.05, 4).to(device).eval()
    for name in arguments.workloads.split(","):
        size, _, workload = name.partition("_")
        layers, width, heads, feed_forward, window = SIZES[size]
        series, history, paths = WORKLOADS[workload]
        model = Kronos(10, 10, layers, width, heads, feed_forward, 0.0, 0.0, 0.0, 0.0, True).to(device).eval()
        candles = torch.randn(series, history, 6, device=device)
        stamps = torch.ones(series, history, 5, device=device)
        future = torch.ones(series, AHEAD, 5, device=device)
        for precision in arguments.precisions.split(","):
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            # It copies what it found to the host.
            row = timed(lambda: auto_regressive_inference(tokenizer, model, candles, stamps, future, window, AHEAD, T=1.0,
                                                          top_k=0, top_p=0.9, sample_count=paths),
                        arguments.repeats, device)
            print(json.dumps({"implementation": "Kronos", "workload": name, "mode": "eager", "weights": precision,
                              "threads": arguments.threads} | row), flush=True)


if __name__ == "__main__":
    main()
