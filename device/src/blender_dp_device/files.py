"""Small files that must not be lost, half written or readable by others; and a lock between processes.

On Windows a file mode protects nothing (a user's folder does), and a folder cannot be synced (renaming is durable there).
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BINARY = getattr(os, "O_BINARY", 0)  # otherwise Windows would translate line ends
_RETRY_SECONDS = 0.05
_TRIES = 100

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # LK_LOCK would give up after ten seconds
            except OSError as error:
                if error.errno not in {errno.EACCES, errno.EDEADLK}:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def write_over(path: Path, content: bytes) -> None:
    """Replace a whole file: a reader sees either the old or the new one, and the new one is on disk."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)  # left by a crash
    with _opened(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY) as handle:
        write_whole(handle, content)
    replace(partial, path)
    sync_folder(path.parent)


def replace(source: Path, target: Path) -> None:
    """Rename a file over another one; on Windows, retry while the other one is being read."""
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        try:
            source.replace(target)
        except PermissionError:
            time.sleep(_RETRY_SECONDS)
        else:
            return
    source.replace(target)


def create(path: Path) -> None:
    """Create an empty file durably, unless it already exists."""
    with _opened(path, os.O_WRONLY | os.O_CREAT) as handle:
        os.fsync(handle)
    sync_folder(path.parent)


def write_whole(handle: int, content: bytes) -> None:
    """Write all bytes to disk; if only some of them are written, the disk is full."""
    if os.write(handle, content) != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Write a folder's list of files to disk."""
    if sys.platform == "win32":
        return
    with _opened(folder, os.O_RDONLY) as handle:
        os.fsync(handle)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock that only one thread of one process has at a time. It is released when the process ends."""
    with _opened(path, os.O_RDWR | os.O_CREAT | _BINARY) as handle:
        _lock(handle)
        try:
            yield
        finally:
            _unlock(handle)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file that, if it is new, only its owner can read."""
    handle = os.open(path, flags, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)
