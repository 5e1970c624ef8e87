"""blender-dp compare"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blender_dp.cli.options import AsJson
from blender_dp.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from blender_dp.release import Change, Comparison

_CERTAIN = 0.995  # is printed as 1


def compare(
    old: Annotated[Path, typer.Argument(help="The older release: its folder or its release.json.")],
    new: Annotated[Path, typer.Argument(help="The newer release.")],
    fdr: Annotated[float, typer.Option(help="False-discovery rate: the expected share of false changes.")] = 0.05,
    same_users: Annotated[
        bool, typer.Option("--same-users", help="Both rounds had the same users; compare them, not their population.")
    ] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of queries to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two releases, and what may be noise. This spends no privacy budget.

    \b
    Examples:
      blender-dp compare june july
      blender-dp compare june july --fdr 0.01 --json
    """
    from blender_dp.cli.files import load_release

    comparison = load_release(old).compare(load_release(new), fdr=fdr, same_users=same_users)
    if as_json:
        print_json(asdict(comparison))
        return
    if not comparison.changes:
        say("Neither release lists a query.")
        return
    columns = {"query": False, "change": False, "old": True, "new": True, "difference": True, "95 % interval": True}
    print_table("", columns, [_row(change) for change in comparison.changes[:n]], fold=False)
    say()
    for line in _summary(comparison):
        say(line)


def _row(change: Change) -> list[str]:
    difference = "" if change.difference is None else f"{change.difference:+z.4f}"
    interval = f"{change.low:+z.4f} to {change.high:+z.4f}"
    return [change.query, change.kind, _share(change.old_share), _share(change.new_share), difference, interval]


def _share(share: float | None) -> str:
    return "not listed" if share is None else f"{share:z.4f}"


def _summary(comparison: Comparison) -> list[str]:
    kinds = Counter(change.kind for change in comparison.discoveries)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    limit = f"At most {100 * comparison.fdr:g} % of these are expected to be false."
    total = f"Of {len(comparison.changes)} queries"
    lines = [f"{total}: {counted}. {limit}" if kinds else f"{total}, none changed by more than noise explains."]
    noise = [change for change in comparison.changes if change.kind == "unchanged" and change.chance_missing is not None]
    if noise:
        left = sum(change.new_share is None for change in noise)
        moved = {"left the list": left, "joined it" if left else "joined the list": len(noise) - left}
        what = " and ".join(f"{count} {how}" for how, count in moved.items() if count)
        least = min(change.chance_missing or 0.0 for change in noise)
        chance = "almost certainly" if least >= _CERTAIN else f"with a probability of {least:.2g} or more"
        lines.append(f"Noise explains why {what}: with an unchanged share, each is missing from the other list {chance}.")
    return lines
