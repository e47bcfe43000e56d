# SPDX-License-Identifier: Apache-2.0
"""Files that took long to make, kept for whoever needs the same. What is loaded runs, so it is trusted as the library
trusts its tuning files: only this process's user and the superuser may have written it (`io/cache/trusted_file.hpp`)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Callable, Iterator


def cache_folder() -> Path | None:
    """`TOTOGRAPH_CACHE_DIR` (empty: none), `$XDG_CACHE_HOME/totograph`, `~/.cache/totograph`: as the library does."""
    own = os.environ.get("TOTOGRAPH_CACHE_DIR")
    if own is not None:
        return Path(own) if own else None
    for variable, below in (("XDG_CACHE_HOME", "totograph"), ("HOME", ".cache/totograph")):
        value = os.environ.get(variable, "")
        if os.path.isabs(value):
            return Path(value) / below
    return None


def reason_to_distrust(status: os.stat_result) -> str:
    """Why somebody else could have written a file, or could replace what is in a folder; empty when nobody could."""
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
    if is_folder and status.st_mode & stat.S_ISVTX:
        return ""
    for right, who in ((stat.S_IWOTH, "everybody"), (stat.S_IWGRP, "its group")):
        if status.st_mode & right:
            return f"{who} may write to it (mode {stat.S_IMODE(status.st_mode):03o})"
    return ""


def require_own_folder(folder: Path) -> None:
    """Makes a folder that only its owner writes to, where it is missing. Raises `PermissionError` for another's."""
    for part in (*reversed(folder.parents), folder):
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o755)
    reason = reason_to_distrust(folder.stat())
    if reason or not folder.is_dir():
        raise PermissionError(f"The folder '{folder}' is not used: {reason or 'it is no folder'}. Take that right from "
                              "all but its owner (chmod go-w), or name another one with TOTOGRAPH_CACHE_DIR.")


def find_trusted(path: Path) -> bool:
    """Whether the file is there. Raises `PermissionError` where somebody else could have written it."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    reason = reason_to_distrust(status)
    if reason:
        raise PermissionError(f"The file '{path}' is not used: {reason}. Remove it, to have it built anew.")
    return True


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps out other processes and threads. The system takes the lock back when its owner dies."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def cached(folder: Path, name: str, make: Callable[[Path], None]) -> tuple[Path, bool]:
    """The file of this name, and whether it was made now: `make` writes it to a path that it is given. Of many
    processes that want it at the same time one makes it, and the others wait. Nobody sees half of it."""
    require_own_folder(folder)
    path = folder / name
    if find_trusted(path):
        return path, False
    with _locked(folder / (name + ".lock")):
        if find_trusted(path):
            return path, False
        prefix = f"making-{name}-"
        for left in folder.glob(prefix + "*"):  # by one that was killed: who holds the lock is the only one
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as scratch:
            made = Path(scratch) / name
            make(made)
            made.chmod(0o644 if made.suffix != ".so" else 0o755)
            os.replace(made, path)
    return path, True
