# SPDX-License-Identifier: Apache-2.0
"""What teams change in Toto 1.0 so that it compiles into one graph a step: a cache of fixed capacity.

As shipped, the cache keeps its lengths in a tensor and reads them with `.item()` in each layer, its keys get longer
with each step, and so do the series. Compiled, that breaks the graph and compiles again. Here the module gets, at run
time and without a change to the package:

- a cache of fixed capacity in place of `toto.model.util.KVCache`; the position is a tensor, and a mask hides the rest;
- a series of fixed length, whose steps to come are masked, which the causal scaler does not see;
- the head for the last patch alone, and one prefill for all samples, whose keys and values are then repeated.

The layers, the scaler and the head's parameters are the package's own. compare_peers.py prints how far forecasts are
from those of the unpatched model.
"""
import torch
from toto.data.util.dataset import is_extreme_value
from toto.model.attention import AttentionAxis, TimeWiseMultiheadAttention

PATCH = 64


class Prefilled:
    """The cache of a first pass: keeps each layer's keys and values, and attends to them alone."""

    def __init__(self):
        self.keys, self.values = {}, {}

    def seq_len(self, layer):
        return 0

    def append(self, layer, pair):
        self.keys[layer], self.values[layer] = pair

    def __getitem__(self, layer):
        return self.keys[layer], self.values[layer]

    def stacked(self):
        return torch.stack(list(self.keys.values())), torch.stack(list(self.values.values()))


class Fixed:
    """The cache of a step: [layers over time, rows, heads, capacity, width], written at `position`, in place or not."""

    def __init__(self, slots, keys, values, position, in_place):
        self.slots, self.keys, self.values, self.position, self.in_place = slots, keys, values, position, in_place
        self.now, self.new = {}, {}

    def seq_len(self, layer):
        return self.position

    def append(self, layer, pair):
        key, value = (new.to(self.keys.dtype) for new in pair)
        slot = self.slots[layer]
        if self.in_place:
            self.keys[slot].index_copy_(2, self.position, key)
            self.values[slot].index_copy_(2, self.position, value)
            self.now[layer] = (self.keys[slot], self.values[slot])
        else:
            here = (torch.arange(self.keys.shape[3], device=key.device) == self.position)[:, None]
            self.now[layer] = (torch.where(here, key, self.keys[slot]), torch.where(here, value, self.values[slot]))
        self.new[layer] = (key, value)

    def __getitem__(self, layer):
        return self.now[layer]

    def stacked(self):
        return (torch.stack([key for key, _ in self.new.values()]), torch.stack([value for _, value in self.new.values()]))


class FixedAttention(TimeWiseMultiheadAttention):
    """Attention over time that takes a position on the device: a mask in place of a slice."""

    def run_attention(self, attention_mask, q, k, v, seq_pos_offset, dropout, seq_len, variate):
        if not torch.is_tensor(seq_pos_offset):
            return super().run_attention(attention_mask, q, k, v, seq_pos_offset, dropout, seq_len, variate)
        seen = torch.arange(k.shape[2], device=k.device)[None, :] <= seq_pos_offset
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


class Filled(torch.overrides.TorchFunctionMode):
    """Makes `torch.tensor(number, device=...)` fill a tensor there. The scaler's copies from the host, which no CUDA graph
    can hold."""

    def __torch_function__(self, function, types, arguments=(), options=None):
        if function is torch.tensor and isinstance(arguments[0], (int, float)):
            return torch.full((), arguments[0], **(options or {}))
        return function(*arguments, **(options or {}))

    @staticmethod
    def around(call):
        def filled():
            with Filled():
                call()

        return filled


def patch(model):
    """Makes a TotoBackbone take `Prefilled` and `Fixed`. Returns the slots of the layers over time."""
    slots = {}
    for index, layer in enumerate(model.transformer.layers):
        if layer.attention_axis == AttentionAxis.TIME:
            layer.attention.__class__ = FixedAttention
            slots[index] = len(slots)
    return slots


def unpatch(model):
    for layer in model.transformer.layers:
        if layer.attention_axis == AttentionAxis.TIME:
            layer.attention.__class__ = TimeWiseMultiheadAttention


def parameters(model, hidden):
    """The mixture of a patch in the model's units, [rows, variates, PATCH, components]: df, loc, scale, weights."""
    flat = model.unembed(hidden[:, :, -1]).unflatten(-1, (PATCH, model.embed_dim))
    head, softplus = model.output_distribution, torch.nn.functional.softplus
    least = torch.finfo(flat.dtype).eps
    return (2.0 + softplus(head.df(flat)).clamp_min(least), head.loc_proj(flat).float(),
            softplus(head.scale_proj(flat)).clamp_min(least), head.mixture_weights(flat).float().softmax(-1))


class Prefill(torch.nn.Module):
    """The first pass over [series, variates, context]: the next patch's mixture and units, and keys and values."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, series, observed):
        scaled, loc, scale = self.model.scaler(series, weights=torch.ones_like(series), padding_mask=observed,
                                               prefix_length=series.shape[-1])
        patches = scaled.unflatten(-1, (-1, PATCH))
        cache = Prefilled()
        one_group = torch.zeros(patches.shape[:3], dtype=torch.int, device=series.device)
        hidden = self.model.transformer(self.model.patch_embed.projection(patches), one_group, cache)
        return (*parameters(self.model, hidden), loc[..., -1:], scale[..., -1:], *cache.stacked())


class Step(torch.nn.Module):
    """One further patch: the mixture after the patch at `position`. Writes keys and values in place, or returns them."""

    def __init__(self, model, slots, context, in_place=True):
        super().__init__()
        self.model, self.slots, self.context, self.in_place = model, slots, context, in_place

    def forward(self, history, observed, keys, values, position):
        known = torch.arange(history.shape[-1], device=history.device) < (position + 1) * PATCH
        scaled, loc, scale = self.model.scaler(history, weights=torch.ones_like(history),
                                               padding_mask=(observed * known).expand_as(history),
                                               prefix_length=self.context)
        def here(steps):
            return steps.unflatten(-1, (-1, PATCH)).index_select(2, position)

        cache = Fixed(self.slots, keys, values, position, self.in_place)
        newest = here(scaled)
        one_group = torch.zeros(newest.shape[:3], dtype=torch.int, device=history.device)
        hidden = self.model.transformer(self.model.patch_embed.projection(newest), one_group, cache)
        result = (*parameters(self.model, hidden), here(loc)[..., 0, :1], here(scale)[..., 0, :1])
        return result if self.in_place else (*result, *cache.stacked())


def draw(mixture, loc, scale, samples):
    """A patch of values: the mixture's mean, or with `samples` one draw a row; rows are repeated as they need be."""
    df, centre, width, weights = mixture
    if samples == 0:
        patch = (weights * centre).sum(-1)
    else:
        chosen = (weights.log() - (-torch.rand_like(weights).log()).log()).argmax(-1, keepdim=True)
        df, centre, width = (each.float().gather(-1, chosen).squeeze(-1) for each in (df, centre, width))
        patch = centre + width * torch.randn_like(centre) * (df / (2 * torch._standard_gamma(df / 2))).sqrt()
    patch = patch * scale + loc
    return torch.where(is_extreme_value(patch), 0.0, patch)


class FixedForecast(torch.nn.Module):
    """A whole forecast on buffers that stay where they are: `start()`, then `step()` for each further patch."""

    def __init__(self, model, slots, sizes, device, cache_dtype):
        super().__init__()
        variates, context, horizon, samples = sizes
        rows = max(1, samples)
        self.sizes, self.rows, self.patches = sizes, rows, -(-horizon // PATCH)
        capacity = context // PATCH + self.patches
        width = model.embed_dim // model.transformer.layers[0].num_heads
        heads = model.transformer.layers[0].num_heads
        # With one patch there is no step, and nobody reads a cache.
        shape = (len(slots), rows * variates, heads, capacity if self.patches > 1 else 0, width)
        self.prefill, self.decode = Prefill(model), Step(model, slots, context)
        for name, buffer in {"series": torch.zeros(1, variates, context), "observed": torch.ones(1, variates, capacity * PATCH),
                             "history": torch.zeros(rows, variates, capacity * PATCH), "keys": torch.zeros(shape, dtype=cache_dtype),
                             "values": torch.zeros(shape, dtype=cache_dtype), "position": torch.zeros(1, dtype=torch.long)}.items():
            self.register_buffer(name, buffer.to(device))

    def start(self):
        variates, context, _, samples = self.sizes
        *mixture, loc, scale, keys, values = self.prefill(self.series, self.observed[..., :context])
        if samples:
            mixture = [each.repeat(samples, 1, 1, 1) for each in mixture]
        self.history[..., :context] = self.series
        self.history[..., context:context + PATCH] = draw(mixture, loc, scale, samples)
        if self.patches > 1:
            self.keys[:, :, :, :context // PATCH] = keys.repeat(1, self.rows, 1, 1, 1)
            self.values[:, :, :, :context // PATCH] = values.repeat(1, self.rows, 1, 1, 1)
            self.position.fill_(context // PATCH)

    def step(self):
        *mixture, loc, scale = self.decode(self.history, self.observed, self.keys, self.values, self.position)
        patch = draw(mixture, loc, scale, self.sizes[3])
        self.history.unflatten(-1, (-1, PATCH)).index_copy_(2, self.position + 1, patch[:, :, None])
        self.position.add_(1)

    def forecast(self):
        """[rows, variates, horizon], on the device."""
        _, context, horizon, _ = self.sizes
        return self.history[..., context:context + horizon]
