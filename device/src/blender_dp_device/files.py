"""Small files that must not be lost, not be half written, and not be read by others."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_over(path: Path, content: bytes) -> None:
    """Replace a file whole: whoever reads it finds the old or the new one, and the new one is on the disk."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)  # of a crash
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        write_whole(handle, content)
    finally:
        os.close(handle)
    partial.replace(path)
    sync_folder(path.parent)


def write_whole(handle: int, content: bytes) -> None:
    """Write all of it, to the disk; a disk that takes only a part of it is full."""
    if os.write(handle, content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Have on the disk which files are in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
