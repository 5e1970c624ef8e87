"""The keys of raw records: one file per round, outside the database, so that its backups are unreadable without them.

Never back up this folder with the database. Once a round's list is made, its key is overwritten and removed, and every copy
of the raw records becomes unreadable.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from blender_dp.collector.secrets.files import write_once
from blender_dp.collector.secrets.vault import KEY_BYTES, new_key
from blender_dp.collector.storage.crash_points import reached
from blender_dp.errors import DocumentError
from blender_dp_device.entropy import system_bytes
from blender_dp_device.files import sync_folder, write_whole


@dataclass(frozen=True)
class KeyFolder:
    """The folder of the keys. All processes of a collector share it."""

    folder: Path

    @property
    def id(self) -> str | None:
        """The id of this folder; None if it has none yet."""
        try:
            return self._id.read_text(encoding="ascii")
        except FileNotFoundError:
            return None

    def initialise(self) -> None:
        """Give the folder an id unless it has one."""
        if self.id is None:
            write_once(self._id, system_bytes(16).hex().encode())

    def create(self, name: str) -> None:
        """Create a round's key; it is on disk before this returns."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        reached("key: made empty")
        self._write(handle, new_key())
        sync_folder(self.folder)
        reached("key: made")

    def read(self, name: str) -> bytes:
        """A round's key."""
        try:
            key = self._path(name).read_bytes()
        except FileNotFoundError:
            key = b""
        if len(key) != KEY_BYTES or not any(key):  # it may have been overwritten but not yet removed
            problem = "not found: it was destroyed, or the folder was not restored"
            raise DocumentError("key of the raw records", problem, "Abort the round")
        return key

    def has(self, name: str) -> bool:
        """Whether a round's key can be read."""
        try:
            self.read(name)
        except DocumentError:
            return False
        return True

    def destroy(self, name: str) -> None:
        """Overwrite and remove a round's key, if it still exists."""
        try:
            handle = os.open(self._path(name), os.O_WRONLY)
        except FileNotFoundError:
            return
        self._write(handle, bytes(KEY_BYTES))
        reached("key: overwritten")
        self._path(name).unlink(missing_ok=True)
        sync_folder(self.folder)
        reached("key: removed")

    def names(self) -> list[str]:
        """The rounds that have a key."""
        return sorted(path.stem for path in self.folder.glob("*.key"))

    @property
    def _id(self) -> Path:
        return self.folder / "folder.id"

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def _write(self, handle: int, content: bytes) -> None:
        try:
            write_whole(handle, content)
        finally:
            os.close(handle)
