"""blender-dp search"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.options import AsJson
from blender_dp.cli.output import note, print_json, print_table


def search(
    release: Annotated[Path, typer.Argument(help="A release: its folder or its release.json.")],
    prefix: Annotated[str, typer.Argument(help="First characters of the query.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Number of queries to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search a release by prefix, as a device does offline.

    \b
    Examples:
      blender-dp search blender-demo goo
      blender-dp search blender-demo mapq --json
    """
    from blender_dp.cli.files import load_release

    loaded = load_release(release)
    suggestions = loaded.search(prefix, n)
    if as_json:
        print_json([asdict(suggestion) for suggestion in suggestions])
        return
    if not suggestions:
        note(f"No listed query starts with {prefix!r}.")
    elif loaded.head_list.levels == 1:
        print_table("", {"query": False, "share": True}, [[s.query, f"{s.share:z.4f}"] for s in suggestions])
    else:
        rows = [
            [s.query if i == 0 else "", url, f"{share:z.4f}"] for s in suggestions for i, (url, share) in enumerate(s.urls)
        ]
        print_table("", {"query": False, "URL": False, "share": True}, rows)
