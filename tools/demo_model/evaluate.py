#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a demo model, of Toto 1.0 or 2.0, on data that it was not trained on, and prints a Markdown table.

    python3 tools/demo_model/evaluate.py --checkpoint models/demo --ett ETTh1.csv

Beside it are seasonal naive, auto-ETS and auto-ARIMA; `--alone` leaves the last two out. Needs `pip install torch
pandas safetensors`, `toto-ts` for a Toto 1.0, R for the classical series (Debian: r-base-core) and its package
`forecast` (r-cran-forecast) for the last two. ETTh1.csv is that of https://github.com/zhouhaoyi/ETDataset. The fits of
the classical methods are kept in --work and used again.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
from collections.abc import Callable

import numpy as np
import torch

import data

LEVELS = np.arange(1, 10) / 10
NORMAL_QUANTILES = np.array([-1.2815516, -0.8416212, -0.5244005, -0.2533471, 0.0])
HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True)
    parser.add_argument("--ett", type=pathlib.Path, help="ETTh1.csv; left out if not given")
    parser.add_argument("--machine-metrics", type=pathlib.Path,
                        default=HERE.parents[1] / "examples/data/machine_metrics.csv")
    parser.add_argument("--alone", action="store_true", help="without auto-ETS and auto-ARIMA")
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/demo_model"))
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def toto1(arguments: argparse.Namespace) -> Callable:
    """Forecasts of a Toto 1.0, by the reference: quantiles `[levels, variates, horizon]` of samples of one window."""
    import model as demo
    from sampling import sample

    torch.distributions.Distribution.set_default_validate_args(False)
    model = demo.load(arguments.checkpoint).to(arguments.device)

    def forecast(history: np.ndarray, horizon: int, number: int) -> np.ndarray:
        return np.quantile(sample(model, history, horizon, arguments.samples, number), LEVELS, axis=0)

    return forecast


def toto2(arguments: argparse.Namespace) -> Callable:
    """Forecasts of a Toto 2.0 in one pass; the history is padded on the left to whole patches."""
    import toto2 as network

    model = network.load(arguments.checkpoint).to(arguments.device)

    def forecast(history: np.ndarray, horizon: int, number: int) -> np.ndarray:
        values = torch.tensor(history, device=arguments.device)[None]
        lacking = -values.shape[-1] % model.config.patch_size
        observed = torch.nn.functional.pad(torch.ones_like(values, dtype=torch.bool), (lacking, 0))
        values = torch.nn.functional.pad(values, (lacking, 0))
        ids = torch.zeros(values.shape[:2], dtype=torch.long, device=arguments.device)
        return network.forecast(model, values, observed, ids, horizon)[:, 0].cpu().numpy()

    return forecast


def seasonal_naive(dataset: data.DataSet) -> list[np.ndarray]:
    """The last season again; the intervals are normal, with the deviation of past seasonal differences."""
    season = dataset.season
    cycle = np.arange(dataset.horizon) // season
    units = np.concatenate([NORMAL_QUANTILES, -NORMAL_QUANTILES[3::-1]])
    result = []
    for window in dataset.windows:
        last = window.history[:, -season:]
        middle = np.tile(last, cycle[-1] + 1)[:, : dataset.horizon]
        differences = window.history[:, season:] - window.history[:, :-season]
        deviation = np.sqrt((differences**2).mean(-1, keepdims=True)) * np.sqrt(cycle + 1)
        result.append(middle + units[:, None, None] * deviation)
    return result


def classical(dataset: data.DataSet, arguments: argparse.Namespace) -> dict[str, list[np.ndarray]]:
    """Forecasts of auto-ETS and, for single series, auto-ARIMA, each variate by itself."""
    variates = len(dataset.windows[0].history)
    with_arima = variates == 1
    # Multiplicative models of series that come close to zero can forecast numbers without bound.
    additive = any(window.history.min() < 0.01 * np.abs(window.history).mean() for window in dataset.windows)
    lines = [",".join([str(number * variates + variate), str(dataset.season), str(dataset.horizon)]
                      + [repr(float(value)) for value in window.history[variate]])
             for number, window in enumerate(dataset.windows) for variate in range(variates)]
    text = "\n".join(lines) + "\n"
    script = HERE / "baselines.R"
    key = hashlib.sha256((text + f"{additive}{with_arima}" + script.read_text()).encode()).hexdigest()[:16]
    cached = arguments.work / f"baselines-{key}.csv"
    if not cached.exists():
        arguments.work.mkdir(parents=True, exist_ok=True)
        given, partial = cached.with_suffix(".in"), cached.with_suffix(".partial")
        given.write_text(text)
        switches = [str(arguments.cores), str(int(additive)), str(int(with_arima))]
        subprocess.run(["Rscript", script, given, partial, *switches], check=True)
        given.unlink()
        partial.replace(cached)
    shape = (len(dataset.windows), variates, dataset.horizon, len(LEVELS))
    result = {name: np.full(shape, np.nan) for name in (["ets", "arima"] if with_arima else ["ets"])}
    for line in cached.read_text().splitlines():
        name, identity, step, *quantiles = line.split(",")
        result[name][int(identity) // variates, int(identity) % variates, int(step) - 1] = [float(q) for q in quantiles]
    return {name: list(values.transpose(0, 3, 1, 2)) for name, values in result.items()}


def score(dataset: data.DataSet, forecasts: list[np.ndarray]) -> tuple[float, float, float]:
    """MASE, CRPS and the coverage of the 80% interval.

    MASE: the error of the median over the mean seasonal difference of the history, averaged over windows and variates.
    CRPS: twice the quantile loss, averaged over the levels, summed over windows and steps, over the sum of magnitudes;
    averaged over variates. A variate whose history never changes has no MASE, one that is zero has no CRPS.
    """
    errors, losses, magnitudes, inside = [], [], [], []
    for window, forecast in zip(dataset.windows, forecasts):
        differences = np.abs(window.history[:, dataset.season :] - window.history[:, : -dataset.season]).mean(-1)
        error = np.abs(window.future - forecast[4]).mean(-1)
        errors.append(np.where(differences > 1e-6, error / np.maximum(differences, 1e-6), np.nan))
        gap = window.future - forecast
        levels = LEVELS[:, None, None]
        losses.append(2 * np.maximum(levels * gap, (levels - 1) * gap).mean(0).sum(-1))
        magnitudes.append(np.abs(window.future).sum(-1))
        inside.append((window.future >= forecast[0]) & (window.future <= forecast[-1]))
    total = np.sum(magnitudes, 0)
    crps = np.mean((np.sum(losses, 0) / np.maximum(total, 1e-9))[total > 0])
    return float(np.nanmean(errors)), float(crps), float(np.mean(inside))


def main() -> None:
    arguments = parse_arguments()
    is_second = "d_model" in json.loads((arguments.checkpoint / "config.json").read_text())
    forecast = (toto2 if is_second else toto1)(arguments)
    datasets = data.ett(arguments.ett) if arguments.ett else []
    datasets += [data.machine_metrics(arguments.machine_metrics)]
    rows = []
    for dataset in datasets + data.classical():
        demo = [forecast(window.history, dataset.horizon, number) for number, window in enumerate(dataset.windows)]
        forecasts = {"demo": demo, "naive": seasonal_naive(dataset)}
        if not arguments.alone:
            forecasts |= classical(dataset, arguments)
        rows.append((dataset, {name: score(dataset, result) for name, result in forecasts.items()}))

    names = {"demo": "demo", "naive": "seasonal naive"}
    if not arguments.alone:
        names |= {"ets": "auto-ETS", "arima": "auto-ARIMA"}
    for place, (measure, digits) in enumerate([("MASE", 3), ("CRPS", 4), ("Coverage of the 80% interval", 2)]):
        print(f"\n| {measure} | windows | {' | '.join(names.values())} |\n|---|---:|{'---:|' * len(names)}")
        for dataset, scores in rows:
            cells = [f"{scores[name][place]:.{digits}f}" if name in scores else "" for name in names]
            print(f"| {dataset.name} | {len(dataset.windows)} | {' | '.join(cells)} |")
        everywhere = [name for name in names if all(name in scores for _, scores in rows)]
        means = [f"{np.mean([s[name][place] for _, s in rows]):.{digits}f}" if name in everywhere else ""
                 for name in names]
        print(f"| mean | | {' | '.join(means)} |")
        if place < 2:
            ratios = [f"{np.exp(np.mean([np.log(s[name][place] / s['naive'][place]) for _, s in rows])):.3f}"
                      if name in everywhere else "" for name in names]
            print(f"| geometric mean, of seasonal naive | | {' | '.join(ratios)} |")


if __name__ == "__main__":
    main()
