# SPDX-License-Identifier: Apache-2.0
"""Runs the tests beside this file, or those of the files that are named; or says what is missing for them and ends with
77."""

import sys
from pathlib import Path

try:
    import numpy  # noqa: F401
    import pytest
except ImportError as missing:
    print(f"skipped: the tests of the Python package need numpy and pytest ({missing}).")
    sys.exit(77)

folder = Path(__file__).parent
wanted = [str(folder / name) for name in sys.argv[1:]] or [str(folder)]
status = pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *wanted])
sys.exit(77 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status)  # all of a file was skipped
