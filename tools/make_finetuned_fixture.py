#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/finetuned with the public implementation's own fine-tuning: what tools/convert_checkpoint.py reads,
and what it should write.

    python3 tools/make_finetuned_fixture.py tests/data/finetuned

Needs `pip install toto-ts torch` (the fixture in the repository is from toto-ts 0.2.0 with torch 2.7) and runs on the
CPU. A small model is trained for two steps on a sine, by Lightning's trainer, which saves two checkpoints:

  described.ckpt  of a model made from arguments: its hyper-parameters describe it; with model.safetensors and
                  config.json, its weights and configuration as the implementation's own libraries write them
  exogenous.ckpt  of a pretrained backbone with labels of variates, as scripts/finetune_toto.py makes it: its
                  hyper-parameters tell nothing of the model; with exogenous.safetensors, its weights
"""
import json
import pathlib
import sys

import lightning
import torch
from safetensors.torch import save_file

from toto.data.util.dataset import CausalMaskedTimeseries
from toto.model.backbone import TotoBackbone
from toto.model.lightning_module import TotoForFinetuning

ARGUMENTS = dict(
    patch_size=4, stride=4, embed_dim=8, num_layers=2, num_heads=2, mlp_hidden_dim=12, dropout=0.1,
    spacewise_every_n_layers=2, spacewise_first=False,
    scaler_cls="<class 'model.scaler.CausalPatchStdMeanScaler'>",
    output_distribution_classes=["<class 'model.distribution.MixtureOfStudentTsOutput'>"],
    output_distribution_kwargs={"k_components": 2},
    use_memory_efficient_attention=False, stabilize_with_global=True, scale_factor_exponent=10.0,
)


def batch():
    steps = torch.arange(32, dtype=torch.float32)
    series = torch.stack([torch.sin(steps / 3), torch.cos(steps / 5)])[None]
    return CausalMaskedTimeseries(
        series=series, padding_mask=torch.ones_like(series, dtype=torch.bool),
        id_mask=torch.zeros_like(series, dtype=torch.int32),
        timestamp_seconds=torch.zeros_like(series, dtype=torch.int64),
        time_interval_seconds=torch.ones(1, 2, dtype=torch.int64), input_slice=slice(0, 28), target_slice=slice(4, 32),
        num_exogenous_variables=0)


def tune(module, path):
    """Trains for two steps and saves a checkpoint, with all that Lightning puts into one."""
    trainer = lightning.Trainer(max_steps=2, logger=False, enable_checkpointing=False, accelerator="cpu",
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(module, torch.utils.data.DataLoader([batch()] * 2, batch_size=None))
    trainer.save_checkpoint(path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lightning.seed_everything(1)
    described = TotoForFinetuning(**ARGUMENTS)
    tune(described, folder / "described.ckpt")
    save_file({name: tensor.contiguous() for name, tensor in described.state_dict().items()},
              folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(ARGUMENTS, indent=2) + "\n")
    exogenous = TotoForFinetuning(pretrained_backbone=TotoBackbone(**ARGUMENTS), add_exogenous_features=True)
    tune(exogenous, folder / "exogenous.ckpt")
    save_file({name: tensor.contiguous() for name, tensor in exogenous.state_dict().items()},
              folder / "exogenous.safetensors")


if __name__ == "__main__":
    main()
