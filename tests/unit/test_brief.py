from __future__ import annotations

import pytest

from blender_dp.brief import LONGEST, brief


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("google", "google"),
        ("q" * LONGEST, "q" * LONGEST),
        ("q" * (LONGEST + 1), "q" * (LONGEST - 1) + "…"),
        ("q " * 5000, "q " * 29 + "q…"),
        ("", ""),
    ],
)
def test_only_long_names_are_shortened(text, shown):
    assert brief(text) == shown
