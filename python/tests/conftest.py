# SPDX-License-Identifier: Apache-2.0
import pytest
from support import CHECKPOINT, PACKAGE

import totograph as tg


@pytest.fixture(scope="module")
def model():
    return tg.load(CHECKPOINT, PACKAGE)


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A compiler that has the test's package ready."""
    file = tmp_path / "c++"
    file.write_text(f"""#!/bin/sh
for argument; do
    [ "$argument" = -E ] && exit
    [ "${{last:-}}" = -o ] && target=$argument
    last=$argument
done
[ "$1" = --version ] && echo one && exit
case "$target" in *.so) cp '{PACKAGE}' "$target" ;; *) : >"$target" ;; esac
""")
    file.chmod(0o755)
    monkeypatch.setenv("CXX", str(file))
    monkeypatch.setenv("TOTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TOTOGRAPH_PACKAGE_PATH", raising=False)
    return file
