# SPDX-License-Identifier: Apache-2.0
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent

# The version is written in one place.
header = (ROOT / "include" / "totograph" / "version.hpp").read_text()
parts = [re.search(rf"#define TOTOGRAPH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]


class WithLibrary(build_py):
    """Adds what packages are compiled from, and the demo model."""

    def run(self):
        super().run()
        to = Path(self.build_lib)
        for source, target in [
            ("include/totograph", "totograph_package/library/include/totograph"),
            ("cmake/package", "totograph_package/library/cmake/package"),
            ("cmake/compiled", "totograph_package/library/cmake/compiled"),
            ("models/demo", "totograph/models/demo"),
        ]:
            shutil.copytree(ROOT / source, to / target, dirs_exist_ok=True)


setup(version=".".join(parts), cmdclass={"build_py": WithLibrary})
