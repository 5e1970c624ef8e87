"""blender-dp campaign, and how an operator's verbs reach the collector's API"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from blender_dp.cli.output import AsJson, ForceWeakPrivacy, print_json, print_table, say, warn

if TYPE_CHECKING:
    from blender_dp_device.agent.client import CollectorClient

Url = Annotated[str, typer.Option(envvar="BLENDER_DP_URL", help="The collector.")]
Token = Annotated[str, typer.Option(envvar="BLENDER_DP_TOKEN", help="The operator's token.")]
Name = Annotated[
    str | None, typer.Option("--campaign", metavar="NAME", help="The campaign, by name or id, if there are several.")
]
LOCAL = "http://127.0.0.1:8000"
_MOST_BYTES = 64_000_000  # a long ledger, or a release of many queries

campaign = typer.Typer(help="Begin campaigns and enrol opt-in users.", no_args_is_help=True)


@campaign.command("create")
def create_campaign(
    name: Annotated[str, typer.Argument(help="A short name: small letters, digits and dashes.")],
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="Privacy loss ε of every user in a round.")],
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="Probability δ outside the ε bound.")],
    token: Token,
    max_queries: Annotated[int, typer.Option(metavar="N", help="How many queries to list at most.")] = 50,
    expected_clients: Annotated[int, typer.Option(metavar="N", help="About how many clients will report.")] = 100_000,
    min_opt_in: Annotated[int, typer.Option(metavar="N", help="Make no list from fewer opt-in users.")] = 1000,
    min_reports: Annotated[int, typer.Option(metavar="N", help="Make no release from fewer reports.")] = 10_000,
    max_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Limit of all rounds' ε together, or: unlimited. Required.")
    ] = None,
    max_delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Limit of all rounds' δ together.")] = None,
    period_epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Limit of the ε of some days.")] = None,
    period_days: Annotated[int | None, typer.Option(metavar="N", help="How many days that limit counts.")] = None,
    list_days: Annotated[int, typer.Option(metavar="N", help="Days until a list expires, if a round has no time.")] = 30,
    keep_reports_days: Annotated[int, typer.Option(metavar="N", help="Days to keep reports after the release.")] = 0,
    force_weak_privacy: ForceWeakPrivacy = False,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Begin a campaign. Its promise never changes: another promise is another campaign.

    \b
    Example:
      blender-dp campaign create searches --epsilon 4 --delta 1e-6 --max-epsilon 40
    """
    _check_limit(max_epsilon)
    message = {
        "name": name, "epsilon": epsilon, "delta": delta, "max_queries": max_queries,
        "expected_clients": expected_clients, "min_opt_in": min_opt_in, "min_reports": min_reports,
        "max_epsilon": max_epsilon, "max_delta": max_delta,
        "period_epsilon": period_epsilon, "period_days": period_days,
        "list_days": list_days, "keep_reports_days": keep_reports_days,
        "allow_weak_privacy": force_weak_privacy,
    }  # fmt: skip
    made = client(url, token).post("/v1/operator/campaigns", message)
    for text in made["warnings"]:
        warn(text)
    if as_json:
        print_json(made)
    else:
        say(f"Campaign {name} is {made['id']}.")
        say(made["exposure"])


@campaign.command("list")
def list_campaigns(token: Token, url: Url = LOCAL, as_json: AsJson = False) -> None:
    """Show all campaigns."""
    found = client(url, token).get("/v1/operator/campaigns")
    if as_json:
        print_json(found)
        return
    rows = [[one["settings"]["name"], one["id"], one["settings"]["epsilon"], one["settings"]["delta"]] for one in found]
    print_table("", {"name": False, "id": False, "ε": True, "δ": True}, rows)


@campaign.command("enrol")
def enrol(
    name: Annotated[str, typer.Argument(help="The campaign.")],
    token: Token,
    count: Annotated[int, typer.Option(min=1, help="How many opt-in users.")] = 1,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Print tokens for opt-in users, one per line. They are shown once."""
    collector = client(url, token)
    made = collector.post(f"{campaign_path(collector, name)}/enrolments", {"count": count})
    if as_json:
        print_json(made)
        return
    for one in made["tokens"]:
        typer.echo(one)


def _check_limit(max_epsilon: str | None) -> None:
    if max_epsilon is None:
        from blender_dp.errors import ParameterError

        problem = "nothing limits what the rounds of this campaign reveal about one opt-in user together"
        raise ParameterError("max_epsilon", problem, "Give --max-epsilon NUMBER, or say --max-epsilon unlimited")


def client(url: str, token: str | None = None) -> CollectorClient:
    """A connection to the collector."""
    from blender_dp_device.agent.client import CollectorClient

    return CollectorClient(url, token, max_bytes=_MOST_BYTES)


def campaign_found(collector: CollectorClient, name: str | None) -> dict[str, Any]:
    """A campaign by its name or its id, which may be left out if there is only one."""
    from blender_dp.errors import StateError

    known: list[dict[str, Any]] = collector.get("/v1/operator/campaigns")
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        problem = "there are several" if known else "there is none"
        raise StateError(
            "campaign", problem, "Say which one: --campaign NAME" if known else "See blender-dp campaign create --help"
        )
    for one in known:
        if name in {one["settings"]["name"], one["id"]}:
            return one
    raise StateError("campaign", f"{name} is not known", "See blender-dp campaign list", kind="missing")


def campaign_path(collector: CollectorClient, name: str | None) -> str:
    """Where the operator's API has a campaign. The collector knows it by its name as well as by its id."""
    return f"/v1/operator/campaigns/{quote(name or campaign_found(collector, None)['id'], safe='')}"


def current_round(collector: CollectorClient, campaign: str | None) -> dict[str, Any]:
    """A campaign's newest round as it is now."""
    found: dict[str, Any] = collector.get(f"{campaign_path(collector, campaign)}/rounds/current")
    return found


def wait_for(collector: CollectorClient, round_id: str, state: str) -> dict[str, Any]:
    """Poll a round until it gets there."""
    from blender_dp.errors import StateError

    while True:
        found: dict[str, Any] = collector.get(f"/v1/operator/rounds/{round_id}")
        if found["state"] == state:
            return found
        if found["state"] == "aborted" or found["problem"]:
            raise StateError("round", found["problem"] or "was aborted", "See blender-dp round show")
        time.sleep(0.2)
