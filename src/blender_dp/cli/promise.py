"""The privacy promise of a release, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blender_dp.cli.output import out, say

if TYPE_CHECKING:
    from blender_dp.release import Manifest


def print_promise(manifest: Manifest) -> None:
    """Print what is promised to each group, with its size, and a warning about a run with a seed."""
    from blender_dp.privacy.statement import seeded_warning
    from blender_dp.release.manifest import statements

    out.print("[bold]Privacy promise[/]")
    for text in statements(manifest):
        say(text)
    if manifest.is_seeded:
        say(seeded_warning())
