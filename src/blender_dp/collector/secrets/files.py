"""Small files outside the database: written once, or appended to by one process at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from blender_dp_device.entropy import system_bytes
from blender_dp_device.files import sync_folder, write_whole


def write_once(path: Path, content: bytes) -> None:
    """Write a file that no other user may read. It is complete on disk before it gets its name, and replaces no other file.

    Of several processes that try at once, one succeeds, and the others leave its file in place.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(f".{system_bytes(8).hex()}.partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        write_whole(handle, content)
        with contextlib.suppress(FileExistsError):
            os.link(partial, path)
    finally:
        os.close(handle)
        partial.unlink()
    sync_folder(path.parent)


@contextlib.contextmanager
def locked(path: Path, seconds: float = 10.0) -> Iterator[int]:
    """Lock a file, to read it and to append to it; no other user may read it. It is created if it does not exist.

    A lock is held for milliseconds. A `TimeoutError` comes from a shared disk on which a machine that has disappeared still
    holds it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            _lock(handle, path, end)
            if _is_at(handle, path):  # otherwise it was replaced while we waited
                yield handle
                return
        finally:
            os.close(handle)


def whole_lines(path: Path, handle: int) -> list[str]:
    """The lines of a `locked` file. A last line that a crash has cut short is removed."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.ftruncate(handle, whole)
    return content[:whole].decode().split("\n")[:-1]


def _lock(handle: int, path: Path, end: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "is locked by another process", str(path)) from None
            time.sleep(0.01)
        else:
            return


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
