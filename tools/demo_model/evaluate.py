#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the demo model on data that it was not trained on, beside classical methods, and prints a Markdown table.

    python3 tools/demo_model/evaluate.py --checkpoint models/demo --ett ETTh1.csv

Needs `pip install toto-ts torch pandas`, and R with its package `forecast` (Debian: r-cran-forecast) for the classical
series, auto-ETS and auto-ARIMA. ETTh1.csv is that of https://github.com/zhouhaoyi/ETDataset. The fits of the classical
methods are kept in --work and used again.
"""
import argparse
import hashlib
import pathlib
import subprocess

import numpy as np
import torch

import data
import model as demo
from sampling import sample

LEVELS = np.arange(1, 10) / 10
NORMAL_QUANTILES = np.array([-1.2815516, -0.8416212, -0.5244005, -0.2533471, 0.0])
HERE = pathlib.Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=pathlib.Path, required=True)
    parser.add_argument("--ett", type=pathlib.Path, help="ETTh1.csv; left out if not given")
    parser.add_argument("--machine-metrics", type=pathlib.Path,
                        default=HERE.parents[1] / "examples/data/machine_metrics.csv")
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/demo_model"))
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def toto(model, dataset: data.DataSet, samples: int) -> list[np.ndarray]:
    """Quantile forecasts `[levels, variates, horizon]` of each window; its variates are one group."""
    return [np.quantile(sample(model, window.history, dataset.horizon, samples, number), LEVELS, axis=0)
            for number, window in enumerate(dataset.windows)]


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
    torch.distributions.Distribution.set_default_validate_args(False)
    model = demo.load(arguments.checkpoint).to(arguments.device)
    datasets = data.ett(arguments.ett) if arguments.ett else []
    datasets += [data.machine_metrics(arguments.machine_metrics)]
    rows = []
    for dataset in datasets + data.classical():
        forecasts = {"demo": toto(model, dataset, arguments.samples), "naive": seasonal_naive(dataset)}
        forecasts |= classical(dataset, arguments)
        rows.append((dataset, {name: score(dataset, forecast) for name, forecast in forecasts.items()}))

    names = {"demo": "demo", "naive": "seasonal naive", "ets": "auto-ETS", "arima": "auto-ARIMA"}
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
