# SPDX-License-Identifier: Apache-2.0
"""Runs the tests beside this file, or says what is missing for them and ends with 77."""

import sys
from pathlib import Path

try:
    import numpy  # noqa: F401
    import pytest
except ImportError as missing:
    print(f"skipped: the tests of the Python package need numpy and pytest ({missing}).")
    sys.exit(77)

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", str(Path(__file__).parent)]))
