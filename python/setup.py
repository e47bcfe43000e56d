# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

from setuptools import setup

# The version is written in one place.
header = (Path(__file__).resolve().parent.parent / "include" / "totograph" / "version.hpp").read_text()
parts = [re.search(rf"#define TOTOGRAPH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
setup(version=".".join(parts))
