# SPDX-License-Identifier: Apache-2.0
"""What the tests share."""
import ctypes
import os
from pathlib import Path

import numpy as np

PACKAGE = Path(os.environ["TOTOGRAPH_TEST_PACKAGE"])
CHECKPOINT = Path(os.environ["TOTOGRAPH_TEST_CHECKPOINT"])


def waves(*shape):
    return np.sin(0.3 * np.arange(np.prod(shape))).astype(np.float32).reshape(shape)


pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Tensor:
    """What other libraries hand over: DLPack, and nothing else."""

    def __init__(self, array, device=1, number=0):
        self.array, self.device, self.number = array, device, number

    def __dlpack__(self, *, stream=None, **options):
        self.stream = stream
        capsule = self.array.__dlpack__(**options)
        if self.device != 1:
            address = pointer_of(capsule, b"dltensor")
            ctypes.c_int32.from_address(address + ctypes.sizeof(ctypes.c_void_p)).value = self.device  # behind the data
        return capsule

    def __dlpack_device__(self):
        return (self.device, self.number)
