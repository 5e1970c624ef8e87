"""blender-dp simulate"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.operate import LOCAL, Token, Url, client, find_campaign, wait_for
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import Steps, print_json, print_table, say
from blender_dp.errors import StateError

if TYPE_CHECKING:
    from blender_dp.evaluation.crowd import Crowd, Outcome
    from blender_dp_device.agent.client import CollectorClient


def simulate(
    name: Annotated[str, typer.Argument(help="Name or id of the campaign.")],
    token: Token,
    clients: Annotated[int, typer.Option(min=1000, help="Number of synthetic users.")] = 100_000,
    opt_in: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Share of users who opt in.")] = 0.05,
    attackers: Annotated[int, typer.Option(min=0, help="Number of attackers of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic population; the noise is real.")] = 1,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Run one round on a live collector with synthetic users: honest clients and four kinds of attackers.

    Replay attackers send the same report repeatedly, stale attackers report on another list, malformed attackers send
    invalid reports, and stuffing attackers send many valid reports for one record. Stuffed reports count, because they look
    like honest ones. The round is real: it spends the campaign's budget for one round, without confirmation.
    The command fails if the collector counts anything except each honest and each stuffed report, once.

    \b
    Examples:
      blender-dp simulate searches --clients 100000
      blender-dp simulate searches --clients 20000 --opt-in 0.1 --json
    """
    from blender_dp.evaluation.crowd import Crowd
    from blender_dp.logs import aol_like

    collector = client(url, token)
    with Steps(quiet=as_json).shown() as step:
        campaign = find_campaign(collector, name)
        population = aol_like(seed, users=clients)
        users = list(zip(population["query"].to_pylist(), population["url"].to_pylist(), strict=True))
        crowd = Crowd(collector, client(url), campaign, users=users, opt_in=opt_in, attackers=attackers)
        outcome, done = run_round(collector, crowd, step)
    release = json.loads(collector.document(f"/v1/releases/{done['release']}"))["content"]["release"]
    counted = release["manifest"]["reports"]
    top = sorted((row for row in release["queries"] if row["query"]), key=lambda row: -row["share"])[:10]
    if counted != outcome.honest + outcome.stuffed:
        problem = f"counted {counted:,} reports instead of {outcome.honest + outcome.stuffed:,}"
        raise StateError("collector", problem, "Check whether other clients report to this round; otherwise this is a bug")
    if as_json:
        print_json({"sent": asdict(outcome), "counted": counted, "release": done["release"], "top": top})
        return
    print_table(
        "Reports",
        {"": False, "reports": True},
        [
            ["honest", f"{outcome.honest:,}"],
            ["stuffed into one record", f"{outcome.stuffed:,}"],
            ["replayed, without effect", f"{outcome.replayed:,}"],
            ["refused: another list, or invalid", f"{outcome.refused:,}"],
            ["counted", f"{counted:,}"],
        ],
    )
    say()
    rows = [[row["query"], f"{row['share']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"] for row in top]
    print_table("Most popular queries", {"query": False, "share": True, "95 % interval": True}, rows)


def run_round(collector: CollectorClient, crowd: Crowd, step: Callable[[str], None]) -> tuple[Outcome, dict[str, Any]]:
    """Run one round with a crowd, from its opening to its release; return what was sent, and the released round."""
    step(f"enrolling {crowd.opt_in_users:,} opt-in users, and uploading their records")
    round_id = crowd.upload()
    step("making the head list")
    collector.post(f"/v1/operator/rounds/{round_id}/list", None)
    listed = wait_for(collector, round_id, "listed")
    step(f"sending the reports of {crowd.clients:,} clients and {4 * crowd.attackers:,} attackers")
    outcome = crowd.report(listed)
    step("closing and blending")
    collector.post(f"/v1/operator/rounds/{round_id}/close", None)
    return outcome, wait_for(collector, round_id, "released")
