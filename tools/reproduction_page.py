"""Write docs/reproduce.md's figures and captions from the output of `blender-dp reproduce all --json --out FOLDER`.

blender-dp reproduce all --out FOLDER --json > FOLDER/all.json && python tools/reproduction_page.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
START, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def section(figure: dict[str, Any]) -> str:
    """One figure: its command, its picture, and what agrees."""
    name = figure["name"]
    rows = [f"| {claim['claim']} | {claim['source']} | {_verdict(claim)} |" for claim in figure["claims"]]
    table = ["| the papers say | where | | here |", "|---|---|---|---|", *rows]
    remark = [figure["remark"], ""] if figure["remark"] else []
    command, picture = f"`blender-dp reproduce {name}`", f"![{name}](figures/{name}.svg)"
    lines = [f"### {name}: {figure['title']}", "", command, "", picture, ""]
    return "\n".join([*lines, *remark, *table]) + "\n"


def _verdict(claim: dict[str, Any]) -> str:
    """Two cells: whether the claim agrees, and what is measured here, with the reason if it does not agree."""
    return f"agrees | {claim['measured']}" if claim["agrees"] else f"**differs** | {claim['measured']}. {claim['why']}"


def main(folder: Path) -> None:
    """Copy the pictures and replace the captions."""
    figures = json.loads((folder / "all.json").read_text(encoding="utf-8"))["figures"]
    for figure in figures:
        shutil.copy(folder / f"{figure['name']}.svg", ROOT / "docs/figures")
    page = ROOT / "docs/reproduce.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    sections = "\n".join(section(figure) for figure in figures)
    page.write_text(f"{before}{START}{sections}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
