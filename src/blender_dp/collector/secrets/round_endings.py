"""How rounds ended, in a file outside the database, on disk before it is in the database.

A database that was restored from a backup does not know which rounds have ended since. Released again, with other reports, a
round would have two signed releases, which together reveal more than was accounted for; so the first ending counts. The
file is stored beside the ledger's journal, which is never restored either, and contains nothing that is not public.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from blender_dp.collector.secrets.files import locked, whole_lines
from blender_dp.collector.storage.crash_points import reached
from blender_dp.errors import DocumentError
from blender_dp_device.files import sync_folder, write_whole


@dataclass(frozen=True)
class Ending:
    """A round's end: the digest of its release, or why it was aborted."""

    round: str
    end: Literal["released", "aborted"]
    detail: str

    @property
    def problem(self) -> str:
        """Why a round that is still under way in the database is aborted."""
        if self.end == "aborted":
            return self.detail
        return f"this round was released before the database was restored ({self.detail}), and is not released again"


@dataclass(frozen=True)
class Endings:
    """The file in a folder. All processes of a collector share it."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file: one line of JSON per ending."""
        return self.folder / "rounds.journal"

    def of(self, name: str) -> Ending | None:
        """How a round ended; None if it did not."""
        if not self.path.exists():
            return None
        with locked(self.path) as handle:
            return self._read(handle).get(name)

    def note(self, ending: Ending) -> Ending:
        """Record an ending unless the round has one; return the one that counts. It is on disk before this returns."""
        with locked(self.path) as handle:
            known = self._read(handle).get(ending.round)
            if known is None:
                write_whole(handle, json.dumps(asdict(ending)).encode() + b"\n")
                sync_folder(self.folder)
        reached("ending: written")
        return known or ending

    def _read(self, handle: int) -> dict[str, Ending]:
        endings: dict[str, Ending] = {}
        try:
            for line in whole_lines(self.path, handle):
                one = Ending(**json.loads(line))
                endings.setdefault(one.round, one)
        except (ValueError, TypeError):
            raise DocumentError(str(self.path), "has an invalid line", "Restore the file from a copy") from None
        return endings
