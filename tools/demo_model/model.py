# SPDX-License-Identifier: Apache-2.0
"""The demo model: its architecture, and its checkpoint as a folder that `toto-ts` and totograph both load."""
import json
import pathlib

import torch
from safetensors.torch import save_file
from toto.model.backbone import TotoBackbone
from toto.model.toto import Toto

# As in include/totograph/models/toto1/demo_1_0.hpp, in the reference's own terms.
CONFIG = {
    "patch_size": 16,
    "stride": 16,
    "embed_dim": 192,
    "num_layers": 6,
    "num_heads": 6,
    "mlp_hidden_dim": 384,
    "dropout": 0.0,
    "spacewise_every_n_layers": 3,
    "spacewise_first": False,
    "scaler_cls": "<class 'model.scaler.CausalPatchStdMeanScaler'>",
    "output_distribution_classes": ["<class 'model.distribution.MixtureOfStudentTsOutput'>"],
    "output_distribution_kwargs": {"k_components": 16},
    "use_memory_efficient_attention": True,
    "stabilize_with_global": True,
    "scale_factor_exponent": 10.0,
}


def build() -> TotoBackbone:
    """A model with random weights. It uses PyTorch's own attention: the memory-efficient one is another package."""
    return TotoBackbone(**CONFIG | {"use_memory_efficient_attention": False})


def save(state: dict[str, torch.Tensor], folder: pathlib.Path) -> None:
    """Writes a checkpoint folder with weights in bf16."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    weights = {"model." + name: value.detach().to("cpu", torch.bfloat16).contiguous() for name, value in state.items()}
    path = folder / "model.safetensors"
    save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)


def load(folder: pathlib.Path) -> TotoBackbone:
    """Reads a checkpoint folder; the weights become f32."""
    return Toto.load_from_checkpoint(str(folder)).model.float().eval()
