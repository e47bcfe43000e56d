# SPDX-License-Identifier: Apache-2.0
"""In place of `toto2.model.Toto2Model` of `toto-2`, to forecast:

    from totograph.toto2 import Toto2Model
    quantiles = Toto2Model(tg.load("checkpoint/")).forecast(inputs, horizon=96)  # [9, batch, variates, 96]

What differs: packages are compiled with the arguments with which the authors evaluate, in one pass, a fallback for fewer
than 8 observations and a cap of 1e4; others are an error. A `decode_block_size` that holds the horizon is one pass, too.
There is one batch axis or none. Contexts need not be whole
patches. NaN where nothing is observed is a gap.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._model import Model
from ._tensors import array_of, like


class Toto2Model:
    """Raises `ValueError` for a model that samples."""

    def __init__(self, model: Model):
        if not model.levels:
            raise ValueError("Toto2Model is of Toto 2.0, and this model samples; use totograph.toto_ts.")
        self.model = model

    def forecast(
        self,
        inputs: Mapping[str, Any],
        horizon: int,
        decode_block_size: int | None = None,
        has_missing_values: bool = True,
        scaler_fallback_min_obs: int = 8,
        quantile_real_cap_k: float = 1e4,
    ) -> Any:
        """The quantiles at 0.1 ... 0.9: `[9, batch, variates, horizon]`.

        inputs: `target`, `target_mask` and `series_ids`, and together or not at all `known_dynamic`, which goes on into
        the future, `known_dynamic_mask` and `known_dynamic_series_ids`. Raises `ValueError`."""
        # A block that holds the whole horizon is one pass as well.
        if decode_block_size and (decode_block_size < horizon or decode_block_size % self.model.patch_size != 0):
            raise ValueError(f"Packages forecast in one pass: a decode_block_size holds the horizon, {horizon}, in whole "
                             f"patches of {self.model.patch_size}; found {decode_block_size}. Leave it out.")
        if (scaler_fallback_min_obs, quantile_real_cap_k) != (8, 1e4):
            raise ValueError("Packages forecast with scaler_fallback_min_obs=8 and quantile_real_cap_k=1e4; leave these "
                             "arguments out.")
        target = array_of(inputs["target"], np.float32)
        parts = [(target, inputs["target_mask"], inputs["series_ids"])]
        if "known_dynamic" in inputs:
            parts.append((array_of(inputs["known_dynamic"], np.float32), inputs["known_dynamic_mask"],
                          inputs["known_dynamic_series_ids"]))
        if target.ndim not in (2, 3):
            raise ValueError(f"The target has the axes [batch, variates, steps] or [variates, steps]; found the shape "
                             f"{target.shape}.")
        steps = target.shape[-1]
        masks = [array_of(mask, np.bool_) for _, mask, _ in parts]
        if not has_missing_values and not all(mask[..., :steps].all() for mask in masks):
            raise ValueError("Values are missing: has_missing_values has to be true.")
        future = None
        if len(parts) == 2:
            known = np.where(masks[1], parts[1][0], np.float32(np.nan))
            ahead = known[..., steps : steps + horizon]
            missing = [(0, 0)] * (known.ndim - 1) + [(0, horizon - ahead.shape[-1])]
            future = np.pad(ahead, missing, constant_values=np.nan)
        values = np.concatenate([part[..., :steps] for part, _, _ in parts], axis=-2)
        # The reference takes the newest patch of the target for observed, with the values that the caller put there.
        observed = np.concatenate([mask[..., :steps] for mask in masks], axis=-2)
        observed[..., : target.shape[-2], -self.model.patch_size :] = True
        ids = np.concatenate([array_of(ids, np.int32) for _, _, ids in parts], axis=-1)
        made = self.model.forecast(values, horizon, self.model.levels, future=future, extend=True, observed=observed,
                                   groups=ids)
        return like(inputs["target"], made.quantiles[..., : target.shape[-2], :])
