#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the public PyTorch implementation of Toto 1.0 on the workloads of bench/forecast.cpp, with untrained weights.

    python3 bench/reference.py [--workloads one_patch,long_mean] [--threads 2] [--repeats 3]
    python3 bench/reference.py --device cuda [--precisions bf16,tf32,f32]

On a CUDA device the workloads are those of bench/cuda, which take more samples; bf16 is by autocast. Needs the packages
`toto-ts` and `torch`. Prints one JSON object a line, as bench_forecast and bench_cuda do.
"""
import argparse
import contextlib
import json
import statistics
import time
import warnings

warnings.filterwarnings("ignore")
import torch
from toto.data.util.dataset import MaskedTimeseries
from toto.inference.forecaster import TotoForecaster
from toto.model.backbone import TotoBackbone

from workloads import WORKLOADS, sizes


def full_size_model():
    return TotoBackbone(
        patch_size=64, stride=64, embed_dim=768, num_layers=12, num_heads=12, mlp_hidden_dim=3072, dropout=0.1,
        spacewise_every_n_layers=12, spacewise_first=False, scaler_cls="<class 'model.scaler.CausalPatchStdMeanScaler'>",
        output_distribution_classes=["<class 'model.distribution.MixtureOfStudentTsOutput'>"],
        output_distribution_kwargs={"k_components": 24}, use_memory_efficient_attention=False,
        stabilize_with_global=True, scale_factor_exponent=10.0,
    ).eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precisions", default="f32", help="on a device, of bf16, tf32 and f32")
    arguments = parser.parse_args()
    on_device = arguments.device == "cuda"
    if not on_device and arguments.precisions != "f32":
        parser.error("--precisions is for --device cuda; on the CPU it is f32.")
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    forecaster = TotoForecaster(full_size_model().to(arguments.device))
    warm_up = 3 if on_device else 1
    for name in arguments.workloads.split(","):
        variates, context, horizon, samples = sizes(name, on_device)
        series = torch.randn(1, variates, context, device=arguments.device).cumsum(-1)
        inputs = MaskedTimeseries(series, torch.ones_like(series, dtype=torch.bool), torch.zeros_like(series),
                                  torch.zeros_like(series), torch.full((1, variates), 60, device=arguments.device))
        for precision in arguments.precisions.split(","):
            torch.backends.cuda.matmul.allow_tf32 = precision != "f32"
            rounding = (torch.autocast("cuda", dtype=torch.bfloat16) if precision == "bf16"
                        else contextlib.nullcontext())
            times = []
            for _ in range(arguments.repeats + warm_up):
                start = time.perf_counter()
                with torch.no_grad(), rounding:
                    forecaster.forecast(inputs, prediction_length=horizon, num_samples=samples or None,
                                        samples_per_batch=samples or 1)
                if on_device:
                    torch.cuda.synchronize()
                times.append((time.perf_counter() - start) * 1e3)
            kept = times[warm_up:]
            print(json.dumps({"implementation": "toto-ts", "workload": name, "weights": "f32",
                              "precision": precision, "threads": arguments.threads, "samples": samples,
                              "median_ms": round(statistics.median(kept), 3), "min_ms": round(min(kept), 3),
                              "max_ms": round(max(kept), 3), "first_ms": round(times[0], 3)}), flush=True)


if __name__ == "__main__":
    main()
