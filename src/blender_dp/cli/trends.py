"""blender-dp trends"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.options import AsJson
from blender_dp.cli.output import note, print_json, print_table


def trends(
    release: Annotated[Path, typer.Argument(help="A release: its folder or its release.json.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Number of queries to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the most popular queries of a release, with their errors.

    \b
    Examples:
      blender-dp trends blender-demo
      blender-dp trends blender-demo -n 50 --json
    """
    from blender_dp.cli.files import load_release
    from blender_dp.release.explanation import why_empty

    loaded = load_release(release)
    top = loaded.trends(n)
    if not top:
        note(why_empty(loaded.manifest))
    if as_json:
        print_json([asdict(row) for row in top])
        return
    columns = {"": True, "query": False, "share": True, "95 % interval": True, "opt-in weight": True}
    rows = [
        [str(rank), row.query or "", f"{row.share:.4f}", f"{row.low:.4f} to {row.high:.4f}", f"{row.opt_in_weight:.2f}"]
        for rank, row in enumerate(top, 1)
    ]
    print_table("", columns, rows)
