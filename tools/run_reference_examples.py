#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the usage examples that `toto-ts` and `toto-2` are published with against this module.

    cmake --preset dev && cmake --build --preset dev --target totograph_python
    PYTHONPATH=build/dev/python python3 tools/run_reference_examples.py [--first FOLDER] [--second FOLDER] [--package FOLDER]

Reads the examples from the descriptions of the installed packages, changes the lines that differ, which it prints as
docs/packages.md lists them, and runs the rest as it is. The models are those of --first and --second, by default the
small ones that come with the library; their packages are looked for, or compiled, as `totograph.load` does it.
"""
import argparse
import importlib.metadata
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Lines of an example by a pattern, and what stands there instead; all have to be found.
CHANGES = {
    "toto-ts": [
        (r"from toto\.data\.util\.dataset import MaskedTimeseries", "from totograph.toto_ts import MaskedTimeseries"),
        (r"from toto\.inference\.forecaster import TotoForecaster", "from totograph.toto_ts import TotoForecaster"),
        (r"from toto\.model\.toto import Toto", "import totograph as tg"),
        (r"toto = Toto\.from_pretrained\(.*\)", "model = tg.load({checkpoint!r}, {package!r})"),
        (r"toto\.to\('cuda'\).*", ""),
        (r"toto\.compile\(\).*", ""),
        (r"TotoForecaster\(toto\.model\)", "TotoForecaster(model)"),
        (r"\.to\('cuda'\)", ""),
    ],
    "toto-2": [
        (r"from toto2 import Toto2Model", "import totograph as tg\nfrom totograph.toto2 import Toto2Model"),
        (r"Toto2Model\.from_pretrained\(.*\)", "Toto2Model(tg.load({checkpoint!r}, {package!r}))"),
        (r"device = .*", "device = torch.device('cpu')"),
        (r"model = model\.to\(device\)\.eval\(\)", ""),
    ],
}


def example(distribution):
    """The first of the description's examples that forecasts."""
    text = importlib.metadata.metadata(distribution).get_payload() or importlib.metadata.metadata(distribution)["Description"]
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        if ".forecast(" in block:
            return block
    sys.exit(f"The description of {distribution} has no example that forecasts.")


def run(distribution, checkpoint, package):
    code = example(distribution)
    print(f"{distribution} {importlib.metadata.version(distribution)}")
    for pattern, instead in CHANGES[distribution]:
        found = re.search(pattern, code)
        if not found:
            sys.exit(f"The example of {distribution} has no line like '{pattern}' any more.")
        there = instead.format(checkpoint="checkpoint/", package="packages/")
        print(f"    {found[0]}  ->  {there or '(left out)'}")
        code = re.sub(pattern, lambda _: instead.format(checkpoint=checkpoint, package=package), code)
    names = {}
    exec(compile(code, distribution, "exec"), names)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", default=str(ROOT / "models" / "demo"), help="a checkpoint of Toto 1.0")
    parser.add_argument("--second", default=str(ROOT / "models" / "demo_2_0"), help="a checkpoint of Toto 2.0")
    parser.add_argument("--package", help="a folder of packages (default: as totograph.load finds them)")
    given = parser.parse_args()
    found = run("toto-ts", given.first, given.package)
    lower, median, upper = (np.asarray(found[name]) for name in ("lower_quantile", "median_prediction", "upper_quantile"))
    samples = np.asarray(found["prediction_samples"])
    assert median.shape == (1, 7, 336) and samples.shape == (1, 7, 336, 256), (median.shape, samples.shape)
    assert (lower <= median).all() and (median <= upper).all() and (lower < upper).any()
    # Between two samples of up to about 1, rounded to f32.
    np.testing.assert_allclose(median, np.median(samples, -1), rtol=1e-6, atol=1e-6)
    quantiles = np.asarray(run("toto-2", given.second, given.package)["quantiles"])
    assert quantiles.shape == (9, 1, 1, 96) and (np.diff(quantiles, axis=0) >= 0).all(), quantiles.shape
    print("Both ran, with results of the sizes that they name.")


if __name__ == "__main__":
    main()
