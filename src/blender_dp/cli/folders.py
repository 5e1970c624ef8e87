"""Folders for output, checked before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from blender_dp.errors import ParameterError


def check_folder(folder: Path, field: str = "out") -> None:
    """Create a folder, or refuse one in which no files can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = "is a file" if isinstance(error, FileExistsError) else f"cannot be created ({error.strerror})"
        raise ParameterError(field, f"{str(folder)!r} {problem}", "Use another folder") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ParameterError(field, f"{str(folder)!r} is not writable", "Use another folder")
