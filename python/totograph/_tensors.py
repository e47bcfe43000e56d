# SPDX-License-Identifier: Apache-2.0
"""Arrays of callers that use PyTorch, which this package does not need."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt


def array_of(tensor: Any, dtype: Any) -> npt.NDArray[Any]:
    """A tensor or an array as one of NumPy, without a copy where it is one of the type on the host."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().numpy()
    return np.asarray(tensor, dtype=dtype)


def like(tensor: Any, array: npt.NDArray[np.float32]) -> Any:
    """An array as a tensor of PyTorch where the caller's was one, on its device."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return torch.from_numpy(array).to(tensor.device)
    return array
