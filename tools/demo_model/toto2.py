# SPDX-License-Identifier: Apache-2.0
"""Toto 2.0 in PyTorch, to train small models of it: the network, the scaler, one-pass forecasts, the checkpoint folder.

It covers what the published configurations use: a scale for each dimension of queries, xPos, no weights in norms, as
many heads of keys as of queries. `check_toto2.py` compares it with what the public implementation computed.
Shapes: B rows of a batch, N variates, n patches of P steps; tokens are ordered row, variate, patch.
"""
import dataclasses
import json
import math
import pathlib

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
LEAST_SCALE = 1e-6
ROTARY_BASE = 10000.0
XPOS_SCALE = 256.0
# What keeps the deviation of the two-layer projections' hidden values near one.
MLP_GAIN = 2**0.2 * (2 / (1 - 1 / math.pi)) ** 0.4


@dataclasses.dataclass(frozen=True)
class Config:
    """An architecture, with the names of `config.json`; the defaults are those of the published 4m model."""

    patch_size: int = 32
    d_model: int = 256
    num_heads: int = 4
    num_layers: int = 4
    layer_group_size: int = 4
    num_variate_layers_per_group: int = 1
    variate_layer_first: bool = False
    dropout_p: float = 0.0
    norm_eps: float = 1e-4
    attn_bias: bool = True
    mlp_bias: bool = False
    num_output_patches: int = 1
    pre_norm: bool = True
    d_ff: int = 688
    qk_dim: int = 64
    v_dim: int = 64
    num_groups: int = 4
    heads_per_group: int = 1
    residual_mult: float = 0.75
    residual_attn_ratio: float = math.sqrt(128 / math.log(128))
    qk_norm: bool = False
    norm_include_weight: bool = False
    qk_norm_include_weight: bool = False
    per_dim_scale: bool = True
    use_xpos: bool = True

    def __post_init__(self):
        fixed = {"attn_bias": True, "mlp_bias": False, "num_output_patches": 1, "num_groups": self.num_heads,
                 "qk_norm": False, "norm_include_weight": False, "per_dim_scale": True}
        for name, value in fixed.items():
            if getattr(self, name) != value:
                raise ValueError(f"This module has {name} {value} only, not {getattr(self, name)}.")

    def is_variate_layer(self, layer: int) -> bool:
        place = layer % self.layer_group_size
        if self.variate_layer_first:
            return place < self.num_variate_layers_per_group
        return place >= self.layer_group_size - self.num_variate_layers_per_group

    def residual_weights(self, layer: int) -> tuple[float, float]:
        """The weights of attention and of the feed-forward part beside the stream."""
        feed = self.residual_mult * math.sqrt(2 / (1 + self.residual_attn_ratio**2))
        attention = self.residual_attn_ratio * feed
        depth = self.num_layers + 2 * self.residual_mult**2 * layer
        return attention / math.sqrt(depth), feed / math.sqrt(depth + attention**2)


class ScaledLinear(nn.Module):
    """A constant times a linear layer whose weights start with unit deviation; the bias is scaled, too."""

    def __init__(self, inputs: int, outputs: int, factor: float, bias: bool = True):
        super().__init__()
        self.factor = factor
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        bias = None if self.bias is None else (self.bias * self.factor).to(x.dtype)
        return functional.linear(x, (self.weight * self.factor).to(x.dtype), bias)


def hidden(inputs: int, outputs: int, bias: bool = True) -> ScaledLinear:
    return ScaledLinear(inputs, outputs, inputs**-0.5, bias)


def readout(inputs: int, outputs: int) -> ScaledLinear:
    return ScaledLinear(inputs, outputs, 1 / inputs)


class Mlp(nn.Module):
    """Two layers with a linear path around them."""

    def __init__(self, inputs: int, width: int, outputs: int, last):
        super().__init__()
        self.linear1 = hidden(inputs, width)
        self.linear2 = last(width, outputs)
        self.skip_proj = last(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.linear2(MLP_GAIN * functional.silu(self.linear1(x))) + self.skip_proj(x)) / math.sqrt(2)


class PerDimScale(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.per_dim_scale = nn.Parameter(torch.zeros(size))

    def forward(self, q: torch.Tensor) -> torch.Tensor:
        return q * (functional.softplus(self.per_dim_scale) / math.log(2)).to(q.dtype)


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        heads, qk, v = config.num_heads, config.qk_dim, config.v_dim
        self.in_proj = hidden(config.d_model, heads * (2 * qk + v))
        self.out_proj = hidden(heads * v, config.d_model)
        self._pds = PerDimScale(qk)


class FeedForward(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.fc1 = hidden(config.d_model, 2 * config.d_ff, bias=False)
        self.fc2 = hidden(config.d_ff, config.d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = self.fc1(x).chunk(2, -1)
        return self.fc2(first * functional.silu(second))


def rms(x: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    """The first half of each head turned, neighbours as pairs; the tables are `[tokens, 1, pairs]`."""
    pairs = cosine.shape[-1]
    turned = x[..., : 2 * pairs].unflatten(-1, (pairs, 2))
    a, b = turned[..., 0], turned[..., 1]
    turned = torch.stack([a * cosine - b * sine, b * cosine + a * sine], -1).flatten(-2)
    return torch.cat([turned.to(x.dtype), x[..., 2 * pairs :]], -1)


def rotary_tables(config: Config, rows: int, patches: int, device: torch.device) -> tuple[torch.Tensor, ...]:
    """Cosine and sine for queries, then for keys, with xPos' growth in them: `[tokens, 1, pairs]` each."""
    width = config.qk_dim // 2
    pair = torch.arange(width // 2, dtype=torch.float32, device=device)
    position = torch.arange(patches, dtype=torch.float32, device=device)
    angle = position[:, None] * ROTARY_BASE ** (-2 * pair / width)
    growth = torch.ones_like(angle)
    if config.use_xpos:
        base = (2 * pair + 0.4 * width) / (1.4 * width)
        growth = base ** ((position - patches // 2)[:, None] / XPOS_SCALE)
    tables = angle.cos() * growth, angle.sin() * growth, angle.cos() / growth, angle.sin() / growth
    return tuple(table.repeat(rows, 1)[:, None] for table in tables)


class Layer(nn.Module):
    """One layer; the stream `x` is `[tokens, d_model]` in f32, products are taken in `dtype`."""

    def __init__(self, config: Config, number: int):
        super().__init__()
        self.config = config
        self.is_variate = config.is_variate_layer(number)
        self.attn = Attention(config)
        self.ffn = FeedForward(config)
        for name, tau in zip(("attn_tau", "mlp_tau"), config.residual_weights(number)):
            self.register_buffer(name, torch.tensor(tau))

    def heads(self, x: torch.Tensor, tables: tuple[torch.Tensor, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values, `[tokens, heads, size]`."""
        config = self.config
        sizes = [config.num_heads * size for size in (config.qk_dim, config.qk_dim, config.v_dim)]
        split = self.attn.in_proj(rms(x, config.norm_eps).to(dtype)).split(sizes, -1)
        q, k, v = (part.unflatten(-1, (config.num_heads, -1)) for part in split)
        q = self.attn._pds(q)
        if not self.is_variate:
            q, k = rotated(q, *tables[:2]), rotated(k, *tables[2:])
        return q, k, v

    def close(self, x: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """The rest of the layer, from the heads' weighted values `[tokens, heads * v_dim]` on."""
        x = (self.attn_tau * self.attn.out_proj(attended) + x) * torch.rsqrt(1 + self.attn_tau**2)
        feed = self.ffn(rms(x, self.config.norm_eps).to(attended.dtype))
        return (self.mlp_tau * feed + x) * torch.rsqrt(1 + self.mlp_tau**2)

    def forward(self, x, shape, tables, biases, dtype):
        q, k, v = self.heads(x, tables, dtype)
        rows, variates, patches = shape
        if self.is_variate:
            q, k, v = (part.view(rows, variates, patches, *part.shape[1:]).permute(0, 2, 3, 1, 4).flatten(0, 1)
                       for part in (q, k, v))
        else:
            q, k, v = (part.view(rows * variates, patches, *part.shape[1:]).transpose(1, 2) for part in (q, k, v))
        bias = biases[self.is_variate].to(q.dtype)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=1 / self.config.qk_dim)
        if self.is_variate:
            mixed = mixed.unflatten(0, (rows, patches)).permute(0, 3, 1, 2, 4)
        else:
            mixed = mixed.transpose(1, 2)
        return self.close(x, mixed.reshape(len(x), -1))


class Toto2(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        patch, d = config.patch_size, config.d_model
        self.patch_proj = Mlp(2 * patch, 4 * d, d, hidden)
        self.transformer = nn.Module()
        self.transformer.layers = nn.ModuleList(Layer(config, number) for number in range(config.num_layers))
        self.output_head = nn.Module()
        self.output_head.param_projection = nn.Module()
        self.output_head.param_projection.proj = Mlp(d, 4 * d, len(LEVELS) * patch, readout)

    def forward(self, scaled: torch.Tensor, missing: torch.Tensor, ids: torch.Tensor, dtype=torch.float32):
        """Quantiles of the next patch at every token, `[B, N, n, P, 9]`, in units of asinh.

        `scaled` and `missing` are `[B, N, n, P]`; `ids` are `[B, N, n]`: tokens with the same id may see each other.
        """
        shape = ids.shape
        x = self.patch_proj(torch.cat([scaled, missing.to(scaled.dtype)], -1).flatten(0, 2))
        tables = rotary_tables(self.config, shape[0] * shape[1], shape[2], x.device)
        biases = time_bias(ids, dtype), variate_bias(ids, dtype)
        for layer in self.transformer.layers:
            x = layer(x, shape, tables, biases, dtype)
        z = self.output_head.param_projection.proj(rms(x, self.config.norm_eps))
        return z.view(*shape, self.config.patch_size, len(LEVELS))


def bias_of(allowed: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill(~allowed, -torch.inf)[:, None]


def time_bias(ids: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Patches of the same id, now and before: `[B * N, 1, n, n]`."""
    flat = ids.flatten(0, 1)
    return bias_of((flat[:, :, None] == flat[:, None, :]).tril(), dtype)


def variate_bias(ids: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Variates of the same id: `[B * n, 1, N, N]`."""
    flat = ids.transpose(1, 2).flatten(0, 1)
    return bias_of(flat[:, :, None] == flat[:, None, :], dtype)


def statistics(values: torch.Tensor, observed: torch.Tensor, patch: int) -> tuple[torch.Tensor, ...]:
    """Mean, deviation and count of what was observed up to each patch's end, `[B, N, n]`; in f64."""
    x = torch.where(observed, values, 0).double()
    count = observed.double().cumsum(-1)
    mean = x.cumsum(-1) / count.clamp_min(1)
    before = functional.pad(mean[..., :-1], (1, 0))
    squares = torch.where(observed, (x - before) * (x - mean), 0).cumsum(-1)
    ends = slice(patch - 1, None, patch)
    mean, squares, count = mean[..., ends], squares[..., ends], count[..., ends]
    return mean, (squares / (count - 1).clamp_min(1)).sqrt().clamp_min(LEAST_SCALE), count


def with_fallback(values, observed, loc, scale, count, least: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Patches with fewer observations than `least` take the statistics of the row's first `least`."""
    first = observed & (observed.cumsum(-1) <= least)
    number = first.sum(-1, keepdim=True)
    x = torch.where(first, values, 0).double()
    mean = x.sum(-1, keepdim=True) / number.clamp_min(1)
    squares = torch.where(first, (x - mean) ** 2, 0).sum(-1, keepdim=True)
    deviation = (squares / (number - 1).clamp_min(1)).sqrt().clamp_min(LEAST_SCALE)
    few = count < least
    return torch.where(few, mean, loc), torch.where(few, deviation, scale)


def embedded(values, observed, loc, scale, patch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """What the network reads: asinh of scaled values, 0 where nothing was observed, and where that is; by patches."""
    x, seen = (part.unfold(-1, patch, patch) for part in (values, observed))
    y = torch.asinh((x.double() - loc[..., None]) / scale[..., None]).float()
    return torch.where(seen, y, 0), ~seen


@torch.no_grad()
def forecast(model: Toto2, values: torch.Tensor, observed: torch.Tensor, ids: torch.Tensor, horizon: int,
             least: int = 8, cap: float = 1e4, has_missing_values: bool = True) -> torch.Tensor:
    """Quantiles `[9, B, N, horizon]` in one pass; `values` are `[B, N, T]`, T a multiple of the patch, `ids` `[B, N]`.

    `least` and `cap` are the reference's scaler_fallback_min_obs and quantile_real_cap_k.
    """
    patch = model.config.patch_size
    patches = -(-horizon // patch)
    context = values.shape[-1] // patch
    observed = observed.clone()
    observed[..., -patch:] = True
    values, observed = (functional.pad(part, (0, patches * patch)) for part in (values, observed))
    loc, scale, count = statistics(values, observed, patch)
    if least > 0:
        loc, scale = with_fallback(values, observed, loc, scale, count, least)
    scaled, missing = embedded(values, observed, loc, scale, patch)
    empty = missing.all(-1)
    empty[..., context:] = False
    tokens = ids[:, :, None].expand(empty.shape)
    if has_missing_values:
        tokens = torch.where(empty, -1, tokens)
    z = model(scaled, missing, tokens)[:, :, context - 1 : -1].double()
    result = z.sinh() * scale[..., context:, None, None] + loc[..., context:, None, None]
    if cap > 0:
        low = torch.where(observed, values, torch.inf).amin(-1)[..., None, None, None]
        high = torch.where(observed, values, -torch.inf).amax(-1)[..., None, None, None]
        reach = cap * scale[..., context - 1, None, None, None]
        result = torch.minimum(torch.maximum(result, low - reach), high + reach)
    return result.sort(-1).values.flatten(2, 3)[..., :horizon, :].movedim(-1, 0)


def save(config: Config, state: dict[str, torch.Tensor], folder: pathlib.Path) -> None:
    """Writes a checkpoint folder in the published layout, with weights in f16; an older one is replaced at once."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dataclasses.asdict(config), indent=2) + "\n")
    weights = {name: value.detach().to("cpu", torch.float16).contiguous() for name, value in state.items()}
    partial = folder / "model.safetensors.partial"
    save_file(weights, partial, metadata={"format": "pt"})
    partial.chmod(0o644)
    partial.replace(folder / "model.safetensors")


def load(folder: pathlib.Path) -> Toto2:
    """Reads a checkpoint folder; the weights become f32."""
    fields = json.loads((folder / "config.json").read_text())
    names = {field.name for field in dataclasses.fields(Config)}
    model = Toto2(Config(**{name: value for name, value in fields.items() if name in names}))
    model.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    return model.eval()
