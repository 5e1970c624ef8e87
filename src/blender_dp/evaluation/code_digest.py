"""A digest of the code that results depend on: a resumed evaluation must not use the results of other code."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import blender_dp_device

_PARTS = (
    "evaluation", "logs", "mechanisms", "parameters", "pipeline", "privacy", "release", "sampling", "stages", "engines",
)  # fmt: skip


@cache
def code_digest() -> str:
    """Changes with every file of the packages that simulate, count, estimate or score."""
    server, device = Path(__file__).parent.parent, Path(blender_dp_device.__file__ or "").parent
    folders = [*(server / part for part in _PARTS), device]
    digest = hashlib.sha256()
    for file in sorted(file for folder in folders for file in folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
