# SPDX-License-Identifier: Apache-2.0
"""Configurations of the published models, as their checkpoints have them: `totograph-package toto2_22m` needs none."""

from __future__ import annotations

from typing import Any


def _toto2(width: int, inner: int, heads: int, layers: int, eps: float = 1e-4) -> dict[str, Any]:
    return {"patch_size": 32, "d_model": width, "d_ff": inner, "num_heads": heads, "num_groups": heads,
            "num_layers": layers, "layer_group_size": layers, "num_variate_layers_per_group": 1,
            "variate_layer_first": False, "norm_eps": eps, "attn_bias": True, "mlp_bias": False, "qk_dim": 64, "v_dim": 64,
            "qk_norm": False, "norm_include_weight": False, "qk_norm_include_weight": False, "per_dim_scale": True,
            "use_xpos": True}


#: By the names that `totograph_add_package` gives them.
PUBLISHED: dict[str, dict[str, Any]] = {
    "open_base_1_0": {"patch_size": 64, "embed_dim": 768, "num_layers": 12, "num_heads": 12, "mlp_hidden_dim": 3072,
                      "spacewise_every_n_layers": 12, "spacewise_first": False, "scaler_cls": "CausalPatchStdMeanScaler",
                      "stabilize_with_global": True, "scale_factor_exponent": 10.0,
                      "output_distribution_classes": ["MixtureOfStudentTsOutput"],
                      "output_distribution_kwargs": {"k_components": 24}},
    "toto2_4m": _toto2(256, 688, 4, 4),
    "toto2_22m": _toto2(512, 1368, 8, 6),
    "toto2_313m": _toto2(1024, 2736, 16, 24),
    "toto2_1b": _toto2(1536, 4096, 24, 36, 5e-4),
    "toto2_2_5b": _toto2(2048, 5464, 32, 48, 5e-4),
}
