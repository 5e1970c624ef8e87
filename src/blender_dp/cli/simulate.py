"""blender-dp simulate"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from blender_dp.cli.operate import LOCAL, Token, Url, campaign_found, client, wait_for
from blender_dp.cli.output import AsJson, Steps, print_json, print_table, say
from blender_dp.errors import StateError


def simulate(
    name: Annotated[str, typer.Argument(help="The campaign.")],
    token: Token,
    clients: Annotated[int, typer.Option(min=1000, help="How many made-up users.")] = 100_000,
    opt_in: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Share of them who opt in.")] = 0.05,
    attackers: Annotated[int, typer.Option(min=0, help="How many of each kind of attacker come besides.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the made-up population; the noise is real.")] = 1,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Drive a live collector through one round with made-up users: honest ones, and four kinds of attackers.

    Replaying attackers send a report again and again, stale ones answer another list, malformed ones send nonsense, and
    stuffing ones send as many reports as they like for one record: those count, as nobody can tell them from honest ones.
    The round is a real one: it spends the campaign's budget for one round, without asking.
    If the collector has counted anything but the honest and the stuffed ones, each once, the command fails.

    \b
    Examples:
      blender-dp simulate searches --clients 100000
      blender-dp simulate searches --clients 20000 --opt-in 0.1 --json
    """
    from blender_dp.evaluation.crowd import Crowd

    collector = client(url, token)
    with Steps(quiet=as_json).shown() as step:
        found = campaign_found(collector, name)
        crowd = Crowd(collector, client(url), found, users=clients, opt_in=opt_in, attackers=attackers, seed=seed)
        step(f"enrolling {crowd.opt_in_users:,} opt-in users, who upload")
        round_id = crowd.upload()
        step("making the head list")
        collector.post(f"/v1/operator/rounds/{round_id}/list", None)
        listed = wait_for(collector, round_id, "listed")
        step(f"{crowd.clients:,} clients report, and {4 * attackers:,} attackers")
        outcome = crowd.report(listed)
        step("closing and blending")
        collector.post(f"/v1/operator/rounds/{round_id}/close", None)
        done = wait_for(collector, round_id, "released")
    release = json.loads(collector.document(f"/v1/releases/{done['release']}"))["content"]["release"]
    counted = release["manifest"]["reports"]
    top = sorted((row for row in release["queries"] if row["query"]), key=lambda row: -row["share"])[:10]
    if counted != outcome.honest + outcome.stuffed:
        said = f"counted {counted:,} reports, and {outcome.honest + outcome.stuffed:,} were sent that count"
        raise StateError("collector", said, "Look for whoever else reports, or for a fault")
    if as_json:
        print_json({"sent": asdict(outcome), "counted": counted, "release": done["release"], "top": top})
        return
    print_table(
        "What came of the reports",
        {"": False, "reports": True},
        [
            ["honest", f"{outcome.honest:,}"],
            ["stuffed into one record", f"{outcome.stuffed:,}"],
            ["replays, which change nothing", f"{outcome.replayed:,}"],
            ["refused: another list, or nonsense", f"{outcome.refused:,}"],
            ["counted", f"{counted:,}"],
        ],
    )
    say()
    rows = [[row["query"], f"{row['share']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"] for row in top]
    print_table("Most popular queries", {"query": False, "share": True, "95 % interval": True}, rows)
