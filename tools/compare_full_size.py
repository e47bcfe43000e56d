#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the CUDA executor at full size with the public implementation of Toto 1.0, on the same device.

    python3 tools/compare_full_size.py build/cuda/tests/full_size_forecast

Needs `pip install toto-ts torch` and a CUDA device. Makes an untrained model of the size of Toto Open Base 1.0 (seed 0),
runs it with PyTorch in f64, f32, tf32 and bf16 (autocast) on several series, runs the program on the same weights and
series in f32, tf32 and bf16, and prints for each tensor the largest difference from the f64 run and the root mean square
of the differences, both relative to the tensor's largest magnitude. Ends with an error when the largest difference is
beyond the bound of its precision or more than half again the reference's in that precision (maxima of rounding errors
differ by some tens of percent by chance), or when the root mean square is beyond the reference's.
"""
import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.torch import save_file

from toto.data.util.dataset import MaskedTimeseries, pad_array, pad_id_mask
from toto.inference.forecaster import TotoForecaster
from toto.model.backbone import TotoBackbone

BOUNDS = {"f32": 1e-4, "tf32": 2e-3, "bf16": 2e-2}
VARIATES, CONTEXT, HORIZON = 3, 1000, 192
NAMES = ("df", "loc", "scale", "probs", "mean")


def make_model():
    """An untrained reference model of the open base size; norms are not 1 and biases are not 0."""
    torch.manual_seed(0)
    model = TotoBackbone(
        patch_size=64, stride=64, embed_dim=768, num_layers=12, num_heads=12, mlp_hidden_dim=3072, dropout=0.1,
        spacewise_every_n_layers=12, spacewise_first=False, scaler_cls="<class 'model.scaler.CausalPatchStdMeanScaler'>",
        output_distribution_classes=["<class 'model.distribution.MixtureOfStudentTsOutput'>"],
        output_distribution_kwargs={"k_components": 24}, use_memory_efficient_attention=False,
        stabilize_with_global=True, scale_factor_exponent=10.0)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if key.endswith(("norm1.scale", "norm2.scale")):
                parameter.copy_(1 + 0.2 * torch.randn(parameter.shape))
            elif parameter.ndim == 1:
                parameter.copy_(0.1 * torch.randn(parameter.shape))
    return model.eval()


@torch.no_grad()
def run_reference(model, series, precision):
    """The head's parameters of the first patch and the mean forecast, of one series after the other."""
    dtype = torch.float64 if precision == "f64" else torch.float32
    torch.set_default_dtype(dtype)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    model = model.to(device="cuda", dtype=dtype)
    results = {name: [] for name in NAMES}
    cast = torch.autocast("cuda", dtype=torch.bfloat16) if precision == "bf16" else contextlib.nullcontext()
    for one in series.to(device="cuda", dtype=dtype).split(1):
        observed = torch.ones_like(one, dtype=torch.bool)
        groups = torch.zeros_like(one)
        with cast:
            patch = 64
            padded = pad_array(one, patch), pad_array(observed, patch), pad_id_mask(groups, patch)
            hidden, _, _ = model.backbone(*padded, None, padded[0].shape[-1], 0)
            distribution = model.output_distribution(hidden[:, :, -patch:])
            component = distribution.component_distribution
            inputs = MaskedTimeseries(one, observed, groups, torch.zeros_like(one),
                                      torch.full((1, VARIATES), 60, device="cuda"))
            tensors = (component.df, component.loc, component.scale, distribution.mixture_distribution.probs,
                       TotoForecaster(model).forecast(inputs, prediction_length=HORIZON).mean)
        for name, tensor in zip(NAMES, tensors):
            results[name].append(tensor.double().cpu().numpy().ravel())
    torch.set_default_dtype(torch.float32)
    return {name: numpy.concatenate(parts) for name, parts in results.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program full_size_forecast")
    parser.add_argument("--series", type=int, default=8, help="how many series are forecast")
    arguments = parser.parse_args()
    model = make_model()
    generator = torch.Generator().manual_seed(1)
    series = torch.randn(arguments.series, VARIATES, CONTEXT, generator=generator).cumsum(-1)
    ours = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        save_file({"model." + key: value.contiguous().clone() for key, value in model.state_dict().items()},
                  folder / "model.safetensors")
        series.numpy().tofile(folder / "series")
        subprocess.run([arguments.program, folder, folder / "series", folder], check=True)
        for precision in BOUNDS:
            ours[precision] = {name: numpy.fromfile(folder / f"{precision}_{name}", numpy.float32).astype(float)
                               for name in NAMES}
    exact = run_reference(model, series, "f64")
    failed = False
    print(f"{'precision':10}{'tensor':8}{'largest: ours':>14}{'toto-ts':>10}{'bound':>8}"
          f"{'rms: ours':>14}{'toto-ts':>10}")
    for precision, bound in BOUNDS.items():
        reference = run_reference(model, series, precision)
        for name, truth in exact.items():
            magnitude = abs(truth).max()
            own, theirs = ours[precision][name] - truth, reference[name] - truth
            largest = [abs(difference).max() / magnitude for difference in (own, theirs)]
            rms = [numpy.sqrt((difference**2).mean()) / magnitude for difference in (own, theirs)]
            fits = largest[0] <= min(bound, 1.5 * largest[1]) and rms[0] <= rms[1]
            failed = failed or not fits
            print(f"{precision:10}{name:8}{largest[0]:14.2e}{largest[1]:10.2e}{bound:8.0e}"
                  f"{rms[0]:14.2e}{rms[1]:10.2e}{'' if fits else '  too far'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
