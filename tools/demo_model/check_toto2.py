#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares toto2.py with what the public implementation of Toto 2.0 computed in f64.

    python3 tools/demo_model/check_toto2.py tests/data/toto2/{published_shape,levels,one_patch}

Each folder has a model, inputs and quantiles; those that forecast in blocks or have known future variates are not for
this check. Needs `pip install torch safetensors`. Exits with 1 when a quantile is too far off.
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file

import toto2

# Of a variate's largest value. The reference's own f32 results are up to 2e-5 from its f64 ones.
TOLERANCE = 3e-5


def largest_difference(folder: pathlib.Path) -> float:
    options = json.loads((folder / "config.json").read_text())
    call = options["forecast"]
    if call.get("decode_block_size"):
        raise SystemExit(f"{folder} forecasts in blocks, which toto2.py does not. Leave it out.")
    inputs = load_file(folder / "io.safetensors")
    if "known_dynamic" in inputs:
        raise SystemExit(f"{folder} has known future variates, which toto2.py does not take. Leave it out.")
    result = toto2.forecast(
        toto2.load(folder), inputs["target"], inputs["target_mask"] > 0, inputs["series_ids"].long(),
        options["horizon"], call.get("scaler_fallback_min_obs", 0), call.get("quantile_real_cap_k", 0.0),
        call.get("has_missing_values", True))
    expected = inputs["quantiles"].double()
    largest = expected.abs().amax((0, 3), keepdim=True)
    return ((result - expected).abs() / largest).max().item()


def main() -> None:
    folders = [pathlib.Path(name) for name in sys.argv[1:]]
    if not folders:
        raise SystemExit(__doc__)
    torch.set_num_threads(1)
    failed = False
    for folder in folders:
        difference = largest_difference(folder)
        failed = failed or not difference <= TOLERANCE
        print(f"{folder.name}: {difference:.1e} of the largest value, allowed {TOLERANCE:.0e}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
