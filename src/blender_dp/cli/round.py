"""blender-dp round"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from blender_dp.cli.budget import print_next_round
from blender_dp.cli.operate import LOCAL, Name, Token, Url, campaign_path, client, current_round, wait_for
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import Steps, ask, note, print_json, print_table, say
from blender_dp.cli.times import iso, seconds, with_iso_times
from blender_dp.errors import ParameterError

if TYPE_CHECKING:
    from blender_dp_device.agent.client import CollectorClient

RoundId = Annotated[str | None, typer.Argument(metavar="[ROUND]", help="Id of the round; by default the current one.")]

_PAGE = 100

round_ = typer.Typer(help="Manage the rounds of a campaign: open, make-list, close, list.", no_args_is_help=True)


@round_.command("open")
def open_round(
    name: Annotated[str, typer.Argument(help="Name or id of the campaign.")],
    token: Token,
    lists_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When to make the list (ISO 8601); this spends the budget without confirmation."),
    ] = None,
    closes_at: Annotated[str | None, typer.Option(metavar="TIME", help="When to stop accepting reports (ISO 8601).")] = None,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Open the next round of a campaign, so that opt-in users can upload.

    \b
    Examples:
      blender-dp round open searches
      blender-dp round open searches --lists-at 2026-12-01T09:00:00Z --closes-at 2026-12-08T10:00+01:00
    """
    message = {"lists_at": seconds(lists_at, "lists_at"), "closes_at": seconds(closes_at, "closes_at")}
    collector = client(url, token)
    _show(collector.post(f"{campaign_path(collector, name)}/rounds", message), as_json)


@round_.command("list")
def list_rounds(
    token: Token,
    name: Annotated[str | None, typer.Option("--campaign", metavar="NAME", help="Only this campaign's rounds.")] = None,
    limit: Annotated[int, typer.Option("-n", min=1, metavar="N", help="Number of rounds to show.")] = 20,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """List rounds, newest first.

    \b
    Examples:
      blender-dp round list
      blender-dp round list --campaign searches -n 100 --json
    """
    rounds = _rounds(client(url, token), name, limit)
    if as_json:
        print_json([with_iso_times(one) for one in rounds])
        return
    columns = {"campaign": False, "round": True, "state": False, "opened": False, "list": False, "close": False, "id": False}
    rows = [
        [
            one["campaign_name"],
            str(one["number"]),
            one["state"],
            *("" if one[at] is None else iso(one[at]) for at in ("opened", "lists_at", "closes_at")),
            one["id"],
        ]
        for one in rounds
    ]
    print_table("", columns, rows, fold=False)  # so that ids and times can be copied and searched


@round_.command("make-list")
def make_list(
    token: Token,
    name: Name = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Spend the budget without confirmation.")] = False,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Make the head list of a campaign's current round, and wait for it. This permanently SPENDS privacy budget.

    First it shows what each group of users will have spent, and asks for confirmation.

    \b
    Examples:
      blender-dp round make-list
      blender-dp round make-list --campaign searches --yes
    """
    collector = client(url, token)
    current = current_round(collector, name)
    if current["state"] == "open" and not yes:  # in later states it is already spent
        _confirm(collector, current)
    _show(_change(collector, current["id"], "list", "listed", as_json), as_json)


@round_.command("close")
def close(token: Token, name: Name = None, url: Url = LOCAL, as_json: AsJson = False) -> None:
    """Stop accepting reports in a campaign's current round, and wait for its release."""
    collector = client(url, token)
    _show(_change(collector, current_round(collector, name)["id"], "close", "released", as_json), as_json)


@round_.command("abort")
def abort(
    reason: Annotated[str, typer.Argument(help="The reason, which becomes public.")],
    token: Token,
    name: Name = None,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """End a campaign's current round without a release. Budget that was spent stays spent; the reason becomes public."""
    collector = client(url, token)
    path = f"/v1/operator/rounds/{current_round(collector, name)['id']}/abort"
    _show(collector.post(path, {"reason": reason}), as_json)


@round_.command("export")
def export(
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write (Parquet).")],
    token: Token,
    round_id: RoundId = None,
    name: Name = None,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Write the reports of a closed or released round to a file for blender-dp aggregate.

    \b
    Example:
      blender-dp round export --out reports.parquet
    """
    from blender_dp.release.files import write_atomically

    collector = client(url, token)
    chosen = round_id or current_round(collector, name)["id"]
    path = f"/v1/operator/rounds/{quote(chosen, safe='')}/reports"
    write_atomically(out_file, lambda file: collector.download(path, file))
    if as_json:
        print_json({"round": chosen, "file": str(out_file), "bytes": out_file.stat().st_size})
    else:
        say(f"The reports of round {chosen} are in {out_file}.")


@round_.command("show")
def show(token: Token, round_id: RoundId = None, name: Name = None, url: Url = LOCAL, as_json: AsJson = False) -> None:
    """Show a round; by default the current one of the campaign."""
    collector = client(url, token)
    path = f"/v1/operator/rounds/{quote(round_id or '', safe='')}"
    _show(collector.get(path) if round_id else current_round(collector, name), as_json)


def _rounds(collector: CollectorClient, campaign: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest rounds, page by page."""
    rounds: list[dict[str, Any]] = []
    query = {} if campaign is None else {"campaign": campaign}
    while len(rounds) < limit:
        size = min(limit - len(rounds), _PAGE)
        page = collector.get("/v1/operator/rounds", limit=size, **query)
        rounds += page
        if len(page) < size:
            break
        query["before"] = page[-1]["id"]
    return rounds


def _confirm(collector: CollectorClient, current: dict[str, Any]) -> None:
    """Show what a list will spend, and continue only if the operator confirms."""
    budget = collector.get(f"/v1/operator/campaigns/{current['campaign']}/budget")
    if not sys.stdin.isatty():
        what = f"making the list of round {current['number']} of {budget['name']}"
        problem = f"{what} spends budget, and there is no terminal to confirm that"
        raise ParameterError("yes", problem, "Pass --yes to spend it without a confirmation")
    print_next_round(budget, current["number"])
    if not ask("Spend it?"):
        note("Nothing was spent.")
        raise typer.Exit(2)


def _change(collector: CollectorClient, round_id: str, verb: str, state: str, quiet: bool) -> dict[str, Any]:
    with Steps(quiet=quiet).shown() as step:
        step(f"waiting until the round is {state}")
        collector.post(f"/v1/operator/rounds/{round_id}/{verb}", None)
        return wait_for(collector, round_id, state)


def _show(described: dict[str, Any], as_json: bool) -> None:
    shown = with_iso_times(described)
    if as_json:
        print_json(shown)
        return
    print_table("", {"": False, " ": False}, [[name, str(value)] for name, value in shown.items() if value is not None])
