# SPDX-License-Identifier: Apache-2.0
"""Sampled forecasts with the reference's model: as its forecaster makes them, but the history is computed only once."""
import numpy as np
import torch
from torch.distributions import Categorical, MixtureSameFamily
from toto.data.util.dataset import pad_array, replace_extreme_values
from toto.inference.forecaster import TotoForecaster
from toto.model.backbone import TotoBackbone


def latest(distribution: MixtureSameFamily, patch: int) -> MixtureSameFamily:
    """The distribution of the last patch alone."""
    component = distribution.component_distribution
    cut = [value[:, :, -patch:] for value in (component.df, component.loc, component.scale)]
    weights = Categorical(probs=distribution.mixture_distribution.probs[:, :, -patch:])
    return MixtureSameFamily(weights, type(component)(*cut))


@torch.no_grad()
def sample(model: TotoBackbone, history: np.ndarray, horizon: int, samples: int, seed: int) -> np.ndarray:
    """Sample paths of one window, `[samples, variates, horizon]`; a gap in the history is NaN."""
    torch.manual_seed(seed)
    device = model.device
    patch = model.patch_embed.stride
    values = torch.tensor(history, dtype=torch.float32, device=device)[None]
    observed = ~values.isnan()
    series = pad_array(values.nan_to_num(0.0), patch)
    mask = pad_array(observed, patch)
    variates, context = series.shape[1:]
    patches = -(-horizon // patch)
    length = context + patches * patch

    def cache(batch: int):
        return model.allocate_kv_cache(batch, variates, length, device, torch.float32)

    first, state = cache(1), cache(samples)
    ids = torch.zeros_like(series)
    distribution, loc, scale = model(series, mask, ids, first, context)
    distribution = latest(distribution, patch)
    drawn = TotoForecaster.create_affine_transformed(distribution, loc, scale).sample((samples,))[:, 0]
    # Every path starts from the same keys and values.
    state._keys.copy_(first._keys.repeat(1, samples, 1, 1, 1))
    state._values.copy_(first._values.repeat(1, samples, 1, 1, 1))
    state._current_idx.copy_(first._current_idx)
    series, mask, ids = (tensor.expand(samples, -1, -1) for tensor in (series, mask, ids))
    for step in range(patches):
        if step > 0:
            distribution, loc, scale = model(series, mask, ids, state, context)
            drawn = TotoForecaster.create_affine_transformed(distribution, loc, scale).sample()
        series = torch.cat([series, replace_extreme_values(drawn)], -1)
        mask = torch.cat([mask, torch.ones_like(drawn, dtype=torch.bool)], -1)
        ids = torch.cat([ids, torch.zeros_like(drawn)], -1)
    return series[..., context : context + horizon].cpu().numpy()
