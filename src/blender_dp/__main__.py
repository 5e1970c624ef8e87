"""`python -m blender_dp` is the command `blender-dp`."""

from blender_dp.cli import main

main()
