#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the Python module with the public PyTorch implementations at full size, on three workloads each.

    cmake --preset dev && cmake --build --preset dev --target totograph_python
    PYTHONPATH=build/dev/python python3 tools/compare_python.py [open_base_1_0] [toto2_4m] [toto2_22m]

Makes an untrained model of the size (seed 0), compiles a package for the workloads, and gives the same arguments to
`totograph.toto_ts` and `toto-ts`, or to `totograph.toto2` and `toto-2`, which have to be installed. Differences are of a
variate's largest value; those of the implementation's own f32 from its f64 stand beside them, for rounding is all that
may differ: ours may not pass the bound.
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import torch
from safetensors.torch import save_file

import totograph as tg
from totograph_package import Recipe, build, read_model
from totograph_package.buckets import by_cost, parse
from totograph_package.compiler import find_compiler
from totograph_package.library import find_library
from totograph_package.published import PUBLISHED

# Variates, steps, horizon, the share of values that are missing.
WORKLOADS = {"one series": (1, 512, 96, 0.0), "a group with gaps": (7, 448, 96, 0.1), "long": (3, 2048, 336, 0.0)}
BOUND = 2e-6  # of f32: some times what either is off by, 1e-7 to 5e-7; a wrong mask or position moves it by 1e-2


def untrained(model):
    """Weights of which none is neutral: norms are not 1, biases are not 0."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator) + ("norm" in name))
    return model.eval()


def toto_1(config):
    from toto.model.backbone import TotoBackbone

    classes = {"scaler_cls": f"<class 'model.scaler.{config['scaler_cls']}'>",
               "output_distribution_classes": [f"<class 'model.distribution.{config['output_distribution_classes'][0]}'>"]}
    own = {**config, **classes, "stride": config["patch_size"], "dropout": 0.0, "use_memory_efficient_attention": False}
    return untrained(TotoBackbone(**own)), {**own, "use_memory_efficient_attention": True}, "model."


def toto_2(config):
    from toto2.configuration import Toto2ModelConfig
    from toto2.model import Toto2Model

    ratio = Toto2ModelConfig.compute_residual_attn_ratio(4096, config["patch_size"])
    return untrained(Toto2Model(Toto2ModelConfig(**config, residual_attn_ratio=ratio))), config, ""


def forecasts_of_toto_1(model, packaged, values, observed, horizon):
    from toto.data.util.dataset import MaskedTimeseries
    from toto.inference.forecaster import TotoForecaster
    from totograph.toto_ts import TotoForecaster as Ours

    def inputs(dtype):
        series = values.to(dtype)
        return MaskedTimeseries(series, observed, torch.zeros_like(series), torch.zeros_like(series),
                                torch.full(series.shape[:2], 60))

    ours = Ours(packaged).forecast(inputs(torch.float32), prediction_length=horizon).mean
    theirs = TotoForecaster(model.float()).forecast(inputs(torch.float32), prediction_length=horizon).mean
    torch.set_default_dtype(torch.float64)
    exact = TotoForecaster(model.double()).forecast(inputs(torch.float64), prediction_length=horizon).mean
    torch.set_default_dtype(torch.float32)
    return ours, theirs, exact


def forecasts_of_toto_2(model, packaged, values, observed, horizon):
    from totograph.toto2 import Toto2Model as Ours

    inputs = {"target": values, "target_mask": observed, "series_ids": torch.zeros(values.shape[:2], dtype=torch.long)}
    how = {"scaler_fallback_min_obs": 8, "quantile_real_cap_k": 1e4}
    ours = Ours(packaged).forecast(inputs, horizon, **how)
    theirs = model.float().forecast(inputs, horizon, **how)
    exact = model.double().forecast({**inputs, "target": values.double()}, horizon, **how)
    return ours, theirs, exact


def packaged_model(name, folder):
    model = read_model(folder)
    sizes = [parse(f"variates={variates} context={-(-steps // 64) * 64} horizon={horizon}", model)
             for variates, steps, horizon, _ in WORKLOADS.values()]
    recipe = Recipe(name, model, tuple(by_cost(sizes, model)), find_compiler(None, None), find_library())
    return tg.load(folder, build(recipe, say=lambda text: print(text, file=sys.stderr)))


@torch.no_grad()
def compare(name, folder):
    """Whether all differences are within the bound."""
    torch.manual_seed(0)
    is_first = "embed_dim" in PUBLISHED[name]
    model, config, prefix = (toto_1 if is_first else toto_2)(PUBLISHED[name])
    (folder / "config.json").write_text(json.dumps(config))
    save_file({prefix + key: one.contiguous().clone() for key, one in model.state_dict().items()},
              folder / "model.safetensors")
    packaged = packaged_model(name, folder)
    generator = torch.Generator().manual_seed(2)
    fits = True
    for workload, (variates, steps, horizon, missing) in WORKLOADS.items():
        values = torch.randn(1, variates, steps, generator=generator).cumsum(-1)
        observed = torch.rand(values.shape, generator=generator) >= missing
        values = torch.where(observed, values, 0.0)
        ours, theirs, exact = (forecasts_of_toto_1 if is_first else forecasts_of_toto_2)(
            model, packaged, values, observed, horizon)
        axes = (-1,) if is_first else (0, -1)
        largest = exact.abs().amax(axes, keepdim=True)
        apart = [((one.double() - exact).abs() / largest).max().item() for one in (ours, theirs)]
        fits = fits and bool(np.isfinite(apart).all()) and apart[0] <= BOUND
        print(f"{name:14} {workload:18} {tuple(ours.shape)!s:18} totograph {apart[0]:.1e}, PyTorch's f32 {apart[1]:.1e}",
              flush=True)
    return fits


def main():
    names = sys.argv[1:] or ["open_base_1_0", "toto2_4m", "toto2_22m"]
    if any(name not in PUBLISHED for name in names):
        sys.exit(re.sub(r"\n\n.*", "", __doc__, flags=re.S) + f" The models are {', '.join(PUBLISHED)}.")
    fits = True
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            fits = compare(name, pathlib.Path(folder)) and fits
    sys.exit(0 if fits else f"A forecast is further than {BOUND:.0e} from that in f64.")


if __name__ == "__main__":
    main()
