#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the public PyTorch implementation of nanoVLM's language model on the workloads of bench/cuda/nanovlm, with
untrained weights.

    python3 bench/reference_nanovlm.py NANOVLM [--workloads short,long,batch] [--repeats 3] [--precisions f32,bf16]
                                       [--modes eager,default] [--device cuda]

NANOVLM is a checkout of huggingface/nanoVLM. Needs torch, transformers, huggingface_hub and safetensors. The likeliest
64 tokens behind prompts of ids. bf16 is by autocast; a mode other than eager is torch.compile's. Prints one JSON object
a line, as bench_cuda_nanovlm does; what fails has an `error` in place of times.
"""
import argparse
import contextlib
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import torch

from timing import timed

# Prompts, ids of each.
WORKLOADS = {"short": (1, 128), "long": (1, 1024), "batch": (8, 256)}
NEW_TOKENS = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nanovlm")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--precisions", default="f32,bf16")
    parser.add_argument("--modes", default="eager")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.nanovlm)
    from models.config import VLMConfig
    from models.language_model import LanguageModel
    device = arguments.device
    torch.manual_seed(1)
    # The published model of 460M: width, feed-forward width, layers, heads, heads of keys and values.
    config = VLMConfig(lm_hidden_dim=960, lm_inter_dim=2560, lm_n_blocks=32, lm_n_heads=15, lm_n_kv_heads=5,
                       lm_use_tokens=True)
    model = LanguageModel(config).to(device).eval()
    eager = model.forward
    for mode in arguments.modes.split(","):
        torch._dynamo.reset()
        model.forward = eager if mode == "eager" else torch.compile(eager, mode=None if mode == "default" else mode)
        for name in arguments.workloads.split(","):
            prompts, length = WORKLOADS[name]
            ids = torch.randint(0, 49152, (prompts, length), device=device)
            for precision in arguments.precisions.split(","):
                torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
                rounding = (torch.autocast(device, dtype=torch.bfloat16) if precision == "bf16"
                            else contextlib.nullcontext())
                row = {"implementation": "nanoVLM", "workload": name, "mode": mode, "weights": precision}
                try:
                    with torch.no_grad(), rounding:
                        row |= timed(lambda: model.generate(ids, max_new_tokens=NEW_TOKENS), arguments.repeats, device)
                except RuntimeError as error:
                    row["error"] = str(error).splitlines()[0]
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
