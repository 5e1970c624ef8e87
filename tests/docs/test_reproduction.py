"""docs/reproduce.md states what the commands compute with today's code."""

from __future__ import annotations

from pathlib import Path

import pytest

from blender_dp.evaluation.reproduction.run import chosen, reproduce
from tools.reproduction_page import section

PAGE = Path(__file__).parents[2] / "docs/reproduce.md"


@pytest.mark.slow
def test_the_page_has_todays_values():
    """Figure 9 runs every stage of both profiles; the other figures would take minutes."""
    page = PAGE.read_text(encoding="utf-8")
    for finished in reproduce(chosen(["figure-9", "figure-11"]), 20):
        assert section(finished.to_document()) in page, f"run tools/reproduction_page.py: {finished.figure.name} has changed"
