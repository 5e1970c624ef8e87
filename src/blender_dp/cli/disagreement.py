"""blender-dp disagreement"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from blender_dp.brief import brief
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import note, print_json, print_table, say


def disagreement(
    release: Annotated[Path, typer.Argument(help="A release: its folder or its release.json.")],
    n: Annotated[int, typer.Option("-n", min=1, help="Number of queries and records to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show how much opt-in users and clients differ, in standard errors. This spends no privacy budget.

    \b
    Examples:
      blender-dp disagreement blender-demo
      blender-dp disagreement blender-demo --json | jq .p_value
    """
    from blender_dp.cli.files import load_release
    from blender_dp.poisoning.prediction import poisoning, response_of
    from blender_dp.release.explanation import why_empty

    loaded = load_release(release)
    report, forging = loaded.disagreement(), poisoning(loaded, response_of(loaded))
    if as_json:
        print_json({**asdict(report), "poisoning": asdict(forging)})
        return
    for title, name, rows in (("Queries", "query", report.queries), ("Records", "record", report.records)):
        if rows:
            print_table(
                f"{title} on which opt-in users and clients differ most",
                {name: False, "opt-in": True, "client": True, "standard errors apart": True, "": False},
                [
                    [
                        row.query if row.url is None else f"{row.query} → {row.url}",
                        "" if row.opt_in_share is None else f"{row.opt_in_share:z.4f}",
                        f"{row.client_share:z.4f}",
                        "" if row.score is None else f"{row.score:+z.1f}",
                        "differs" if row.is_plain else "",
                    ]
                    for row in rows[:n]
                ],
            )
            say()
    if not len(loaded.head_list):
        say("No overall comparison is possible: no query is listed.")
        note(why_empty(loaded.manifest))
        return
    if not report.degrees:
        say(
            "No overall comparison is possible: as in the papers, the opt-in users' shares of queries exclude unlisted URLs."
        )
        return
    say(
        f"Overall: χ² = {report.chi_square:.1f} with {report.degrees} degrees of freedom; if the groups "
        f"had the same shares, they would differ this much or more with a probability of {report.p_value:.2g}."
    )
    cheapest = next((one for one in forging.queries if one.forged is not None), None)
    if cheapest:
        say(
            f"An attacker could bring {brief(cheapest.query)} into the top {forging.top} with about {cheapest.forged:,} "
            f"forged reports in addition to the {forging.reports:,} received. No other query needs fewer."
        )
