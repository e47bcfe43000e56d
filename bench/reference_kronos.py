#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the public PyTorch implementation of Kronos on the workloads of bench/kronos.cpp, with untrained weights.

    python3 bench/reference_kronos.py KRONOS [--workloads mini_one_symbol,small_one_symbol] [--threads 2] [--repeats 3]

KRONOS is a checkout of shiyu-coder/Kronos. Needs torch, numpy, pandas, einops, tqdm, huggingface_hub and safetensors.
Draws 32 candles behind 400 with top_p 0.9, in f32. Prints one JSON object a line, as bench_kronos does.
"""
import argparse
import json
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch

# Layers, width, heads, feed-forward width, longest window: as published.
SIZES = {"mini": (4, 256, 4, 512, 2048), "small": (8, 512, 8, 1024, 512)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kronos")
    parser.add_argument("--workloads", default="mini_one_symbol,small_one_symbol")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.kronos)
    from model.kronos import Kronos, KronosTokenizer, auto_regressive_inference
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    tokenizer = KronosTokenizer(6, 256, 4, 512, 4, 4, 0.0, 0.0, 0.0, 10, 10, 0.05, 1.0, 1.1, 0.05, 4).eval()
    candles, stamps, future = torch.randn(1, 400, 6), torch.ones(1, 400, 5), torch.ones(1, 32, 5)
    for name in arguments.workloads.split(","):
        layers, width, heads, feed_forward, window = SIZES[name.split("_")[0]]
        model = Kronos(10, 10, layers, width, heads, feed_forward, 0.0, 0.0, 0.0, 0.0, True).eval()
        times = []
        for _ in range(arguments.repeats + 1):
            start = time.perf_counter()
            auto_regressive_inference(tokenizer, model, candles, stamps, future, window, 32, T=1.0, top_k=0, top_p=0.9,
                                      sample_count=1)
            times.append((time.perf_counter() - start) * 1e3)
        kept = times[1:]
        print(json.dumps({"implementation": "Kronos", "workload": name, "weights": "f32", "threads": arguments.threads,
                          "median_ms": round(statistics.median(kept), 1), "min_ms": round(min(kept), 1),
                          "max_ms": round(max(kept), 1)}), flush=True)


if __name__ == "__main__":
    main()
