#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the parity fixtures of tests/data/toto1 with the public implementation of Toto 1.0.

    python3 tools/make_toto1_fixtures.py tests/data/toto1 [CASE ...]

Needs `pip install toto-ts torch` (the fixtures in the repository are from toto-ts 0.2.0) and runs on the CPU. Each case
becomes a folder with config.json, model.safetensors and io.safetensors; tests/data/README.md says what is in them. The
weights are random: nothing here is trained.
"""
import argparse
import json
import pathlib

import torch
from safetensors.torch import save_file

from toto.data.util.dataset import MaskedTimeseries, pad_array, pad_id_mask, replace_extreme_values
from toto.inference.forecaster import TotoForecaster
from toto.model.backbone import TotoBackbone

SCALER = "<class 'model.scaler.%s'>"
HEAD = "<class 'model.distribution.%s'>"


def config(**changes):
    """The reference model's constructor arguments: a small model, with some of them changed."""
    arguments = dict(
        patch_size=8, stride=8, embed_dim=32, num_layers=4, num_heads=4, mlp_hidden_dim=64, dropout=0.1,
        spacewise_every_n_layers=2, spacewise_first=False,
        scaler_cls=SCALER % "CausalPatchStdMeanScaler",
        output_distribution_classes=[HEAD % "MixtureOfStudentTsOutput"],
        output_distribution_kwargs={"k_components": 3},
        use_memory_efficient_attention=False, stabilize_with_global=True, scale_factor_exponent=10.0,
    )
    arguments.update(changes)
    return arguments


CASES = {
    # name: (config, batch, variates, context, horizon, exogenous variates, how the series looks)
    "mixture": (config(), 1, 3, 64, 20, 0, {}),
    "univariate_one_patch": (config(), 1, 1, 8, 8, 0, {}),
    "student_t": (
        config(output_distribution_classes=[HEAD % "StudentTOutput"], output_distribution_kwargs=None),
        1, 2, 48, 24, 0, {}),
    "space_first": (config(spacewise_first=True), 2, 3, 40, 30, 0, {}),
    "time_only": (config(spacewise_every_n_layers=-1, num_layers=3), 1, 4, 56, 16, 0, {}),
    "groups_and_gaps": (config(), 2, 5, 61, 17, 0, {"groups": True, "gaps": True, "regrouped_steps": 24}),
    "all_padding_patch": (config(), 1, 2, 64, 16, 0, {"hole": True}),
    "std_mean_scaler": (config(scaler_cls=SCALER % "StdMeanScaler"), 1, 3, 48, 16, 0, {"gaps": True}),
    "causal_scaler": (config(scaler_cls=SCALER % "CausalStdMeanScaler"), 1, 3, 48, 16, 0, {"gaps": True}),
    "unstabilized": (config(stabilize_with_global=False), 1, 3, 48, 16, 0, {}),
    "tight_stabilizer": (config(scale_factor_exponent=0.3), 1, 3, 72, 24, 0, {"kind": "constant"}),
    "large_offset": (config(), 1, 3, 64, 24, 0, {"kind": "offset"}),
    "constant": (config(), 1, 3, 64, 24, 0, {"kind": "constant"}),
    "exogenous": (config(), 2, 5, 64, 20, 2, {}),
    "wide_heads": (
        config(embed_dim=96, num_heads=3, mlp_hidden_dim=128, patch_size=16, stride=16, num_layers=6,
               spacewise_every_n_layers=3, output_distribution_kwargs={"k_components": 5}),
        1, 7, 256, 64, 0, {}),
}


def wave(batch, variates, steps, generator, kind="mixed"):
    """A sine with noise and a trend; `offset` makes it tiny beside its mean, `constant` makes parts of it flat."""
    time = torch.arange(steps, dtype=torch.float32)
    period = 5 + 40 * torch.rand(batch, variates, 1, generator=generator)
    x = torch.sin(6.2831853 * time / period) * (1 + 3 * torch.rand(batch, variates, 1, generator=generator))
    x = x + 0.3 * torch.randn(batch, variates, steps, generator=generator)
    x = x + 0.02 * time * torch.randn(batch, variates, 1, generator=generator)
    if kind == "offset":
        x = x * 1e-2 + 1e6
    if kind == "constant":
        x[:, 0] = 3.25
        x[:, -1, steps // 2:] = -1e4
    return x


def make_model(arguments, has_exogenous, generator):
    """An untrained reference model none of whose weights is trivial: norms are not 1 and biases are not 0."""
    model = TotoBackbone(**arguments)
    if has_exogenous:
        model.enable_variate_labels()
    for key, parameter in model.named_parameters():
        if key.endswith(("norm1.scale", "norm2.scale")):
            parameter.copy_(1 + 0.2 * torch.randn(parameter.shape, generator=generator))
        elif parameter.ndim == 1 and "label" not in key:
            parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def make_inputs(batch, variates, context, options, generator):
    """A series with its padding mask (true where observed) and its group ids, each [batch, variates, context]."""
    series = wave(batch, variates, context, generator, options.get("kind", "mixed"))
    observed = torch.ones(batch, variates, context, dtype=torch.bool)
    groups = torch.zeros(batch, variates, context)
    if options.get("groups"):
        groups[:, variates // 2:] = 1
        groups[-1, 0] = 1
    if "regrouped_steps" in options:  # the newest of them, whole patches: a patch belongs to one group
        groups[-1, :, -options["regrouped_steps"]:] = (torch.arange(variates) % 2).unsqueeze(-1).float()
    if options.get("gaps"):
        observed = torch.rand(batch, variates, context, generator=generator) > 0.2
        observed[:, 0, :11] = False
        series = torch.where(observed, series, torch.zeros(()))
    if options.get("hole"):
        observed[:, 1, 16:32] = False
        series = torch.where(observed, series, torch.zeros(()))
    return series, observed, groups


def head_parameters(model, hidden):
    """The output distribution and its raw parameters."""
    distribution = model.output_distribution(hidden)
    is_mixture = isinstance(distribution, torch.distributions.MixtureSameFamily)
    component = distribution.component_distribution if is_mixture else distribution
    parameters = {"df": component.df, "loc": component.loc, "scale": component.scale}
    if is_mixture:
        parameters["probs"] = distribution.mixture_distribution.probs
    return distribution, parameters


def run_context(model, series, observed, groups, exogenous):
    """Every intermediate tensor of one pass over the padded context."""
    length = series.shape[-1]
    scaled, location, scale = model.scaler(
        series, weights=torch.ones_like(series), padding_mask=observed, prefix_length=length)
    tensors = {"scaled": scaled, "loc": location.expand_as(scaled), "scale": scale.expand_as(scaled)}
    tensors["patch_embeddings"], _ = model.patch_embed(scaled, groups)

    def keep_output(name):
        return lambda module, arguments, output: tensors.__setitem__(name, output)

    hooks = [layer.register_forward_hook(keep_output(f"layer_{number:02d}"))
             for number, layer in enumerate(model.transformer.layers)]
    hidden, _, _ = model.backbone(series, observed, groups, None, length, exogenous)
    for hook in hooks:
        hook.remove()
    return tensors | {f"head_{key}": value for key, value in head_parameters(model, hidden)[1].items()}


def run_teacher_forced(model, series, observed, groups, exogenous, future):
    """The head's parameters at each step of a decode with the KV cache that is fed `future` in place of forecasts."""
    batch, variates, length = series.shape
    patch = model.patch_embed.stride
    steps = future.shape[-1] // patch
    cache = model.allocate_kv_cache(
        batch, variates, length + steps * patch + patch, torch.device("cpu"), torch.float32)
    trace = {}
    for step in range(steps):
        hidden, location, scale = model.backbone(series, observed, groups, cache, length, exogenous)
        distribution, tensors = head_parameters(model, hidden[:, :, -patch:])
        affine = TotoForecaster.create_affine_transformed(distribution, location, scale)
        tensors["affine_loc"] = affine.loc.expand_as(affine.mean)
        tensors["affine_scale"] = affine.scale.expand_as(affine.mean)
        tensors["mean"] = replace_extreme_values(affine.mean)
        tensors["variance"] = affine.variance
        for key, value in tensors.items():
            trace.setdefault(f"trace_{key}", []).append(value)
        series = torch.cat([series, future[:, :, step * patch:(step + 1) * patch]], -1)
        observed = torch.cat([observed, torch.ones(batch, variates, patch, dtype=torch.bool)], -1)
        groups = torch.cat([groups, groups[:, :, -1:].expand(-1, -1, patch)], -1)
    return {key: torch.stack(values) for key, values in trace.items()}


@torch.no_grad()
def write_case(name, folder):
    arguments, batch, variates, context, horizon, exogenous, options = CASES[name]
    seed = sum(ord(character) for character in name)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed + 1)
    model = make_model(arguments, exogenous > 0, generator)

    series, observed, groups = make_inputs(batch, variates, context, options, generator)
    tensors = {"series": series, "padding_mask": observed.float(), "id_mask": groups}
    future_exogenous = None
    if exogenous:
        future_exogenous = wave(batch, exogenous, horizon, generator)
        tensors["future_exogenous"] = future_exogenous

    patch = model.patch_embed.stride
    padded = pad_array(series, patch), pad_array(observed, patch), pad_id_mask(groups, patch)
    tensors |= {"padded_series": padded[0], "padded_padding_mask": padded[1].float(), "padded_id_mask": padded[2]}
    tensors |= run_context(model, *padded, exogenous)

    inputs = MaskedTimeseries(
        series, observed, groups, torch.zeros_like(series), torch.full((batch, variates), 60), exogenous)
    forecaster = TotoForecaster(model)
    common = dict(prediction_length=horizon, future_exogenous_variables=future_exogenous)
    tensors["mean_kv"] = forecaster.forecast(inputs, use_kv_cache=True, **common).mean
    tensors["mean_nokv"] = forecaster.forecast(inputs, use_kv_cache=False, **common).mean

    tensors["future"] = wave(batch, variates, -(-horizon // patch) * patch, generator)
    tensors |= run_teacher_forced(model, *padded, exogenous, tensors["future"])

    case_folder = pathlib.Path(folder) / name
    case_folder.mkdir(parents=True, exist_ok=True)
    fields = arguments | {"variate_labels": bool(exogenous), "num_exogenous": exogenous, "horizon": horizon}
    (case_folder / "config.json").write_text(json.dumps(fields, indent=1), encoding="ascii")
    weights = {"model." + key: value.contiguous().clone() for key, value in model.state_dict().items()}
    save_file(weights, case_folder / "model.safetensors")

    # The same forecast in f64 tells how much of a difference is the reference's own rounding.
    torch.set_default_dtype(torch.float64)
    try:
        wide = inputs._replace(series=series.double(), id_mask=groups.double())
        tensors["mean_kv_f64"] = TotoForecaster(model.double()).forecast(
            wide, prediction_length=horizon, use_kv_cache=True,
            future_exogenous_variables=None if future_exogenous is None else future_exogenous.double()).mean
    finally:
        torch.set_default_dtype(torch.float32)
    save_file({key: value.contiguous().clone() for key, value in tensors.items()}, case_folder / "io.safetensors")
    error = (tensors["mean_kv"] - tensors["mean_kv_f64"]).abs().max().item()
    print(f"{name:22s} mean forecast: f32 differs from f64 by {error:.2e}, "
          f"largest magnitude {tensors['mean_kv_f64'].abs().max().item():.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("cases", nargs="*", metavar="case", help="one of " + ", ".join(CASES) + "; all by default")
    arguments = parser.parse_args()
    for case in arguments.cases:
        if case not in CASES:
            parser.error(f"there is no case '{case}'")
    for case in arguments.cases or CASES:
        write_case(case, arguments.folder)


if __name__ == "__main__":
    main()
