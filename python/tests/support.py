# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""
import os
from pathlib import Path

import numpy as np

PACKAGE = Path(os.environ["TOTOGRAPH_TEST_PACKAGE"])
CHECKPOINT = Path(os.environ["TOTOGRAPH_TEST_CHECKPOINT"])


def waves(*shape):
    return np.sin(0.3 * np.arange(np.prod(shape))).astype(np.float32).reshape(shape)


class Tensor:
    """What other libraries hand over: DLPack, and nothing else."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)
