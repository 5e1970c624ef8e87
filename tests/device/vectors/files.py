"""The vectors in spec/vectors."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import ROOT


def vectors(name: str) -> dict[str, Any]:
    """One file of vectors."""
    return json.loads((ROOT / f"spec/vectors/{name}.json").read_text(encoding="utf-8"))
