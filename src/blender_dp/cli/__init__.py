"""The command `blender-dp`: one file per verb."""

from blender_dp.cli.app import main

__all__ = ["main"]
