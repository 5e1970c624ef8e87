"""blender-dp campaign, and the connection to the collector's API that the operator's verbs share"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from blender_dp.cli.options import AsJson, parameter_options
from blender_dp.cli.output import print_json, print_table, say, warn
from blender_dp.parameters.campaign import CAMPAIGN_PARAMETERS, DEFAULTS

if TYPE_CHECKING:
    from blender_dp_device.agent.client import CollectorClient

Url = Annotated[str, typer.Option(envvar="BLENDER_DP_URL", help="URL of the collector.")]
Token = Annotated[str, typer.Option(envvar="BLENDER_DP_TOKEN", help="The operator's token.")]
Name = Annotated[
    str | None,
    typer.Option("--campaign", metavar="NAME", help="Name or id of the campaign; not needed if there is only one."),
]
LOCAL = "http://127.0.0.1:8000"
_MAX_BYTES = 64_000_000  # a long ledger, or a release of many queries

campaign = typer.Typer(help="Create campaigns, enrol opt-in users and invite devices.", no_args_is_help=True)


@campaign.command("create")
@parameter_options(*CAMPAIGN_PARAMETERS)
def create_campaign(
    name: Annotated[str, typer.Argument(help="A short name: lower-case letters, digits and dashes.")],
    token: Token,
    expected_clients: Annotated[
        int, typer.Option(metavar="N", help="Approximate number of clients that will report.")
    ] = DEFAULTS.expected_clients,
    min_opt_in: Annotated[
        int, typer.Option(metavar="N", help="Minimum number of opt-in users for a list.")
    ] = DEFAULTS.min_opt_in,
    min_reports: Annotated[
        int, typer.Option(metavar="N", help="Minimum number of reports for a release.")
    ] = DEFAULTS.min_reports,
    max_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Maximum ε of all rounds together, or 'unlimited'. Required.")
    ] = None,
    max_delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Maximum δ of all rounds together.")] = None,
    period_epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Maximum ε within --period-days.")] = None,
    period_days: Annotated[
        int | None, typer.Option(metavar="N", help="Length in days of the period for --period-epsilon.")
    ] = None,
    list_days: Annotated[
        int, typer.Option(metavar="N", help="Days until a list expires, for rounds without --closes-at.")
    ] = DEFAULTS.list_days,
    keep_reports_days: Annotated[
        int, typer.Option(metavar="N", help="Days to keep reports after the release.")
    ] = DEFAULTS.keep_reports_days,
    url: Url = LOCAL,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each parameter that an operator sets)
) -> None:
    """Create a campaign. Its promise never changes: a different promise needs a different campaign.

    \b
    Example:
      blender-dp campaign create searches --epsilon 4 --delta 1e-6 --max-epsilon 40
    """
    _check_limit(max_epsilon)
    message = {
        "name": name, **parameters,
        "expected_clients": expected_clients, "min_opt_in": min_opt_in, "min_reports": min_reports,
        "max_epsilon": max_epsilon, "max_delta": max_delta,
        "period_epsilon": period_epsilon, "period_days": period_days,
        "list_days": list_days, "keep_reports_days": keep_reports_days,
    }  # fmt: skip
    created = client(url, token).post("/v1/operator/campaigns", message)
    for text in created["warnings"]:
        warn(text)
    if as_json:
        print_json(created)
    else:
        say(f"Campaign {name} is {created['id']}.")
        say(created["exposure"])


@campaign.command("list")
def list_campaigns(token: Token, url: Url = LOCAL, as_json: AsJson = False) -> None:
    """Show all campaigns."""
    campaigns = client(url, token).get("/v1/operator/campaigns")
    if as_json:
        print_json(campaigns)
        return
    rows = [[one["settings"]["name"], one["id"], one["settings"]["epsilon"], one["settings"]["delta"]] for one in campaigns]
    print_table("", {"name": False, "id": False, "ε": True, "δ": True}, rows)


@campaign.command("enrol")
def enrol(
    name: Annotated[str, typer.Argument(help="Name or id of the campaign.")],
    token: Token,
    count: Annotated[int, typer.Option(min=1, help="Number of opt-in users.")] = 1,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Print tokens for opt-in users, one per line. They are shown once."""
    collector = client(url, token)
    created = collector.post(f"{campaign_path(collector, name)}/enrolments", {"count": count})
    if as_json:
        print_json(created)
        return
    for one in created["tokens"]:
        typer.echo(one)


def _check_limit(max_epsilon: str | None) -> None:
    if max_epsilon is None:
        from blender_dp.errors import ParameterError

        problem = "nothing limits the total ε that the rounds of this campaign spend on one opt-in user"
        raise ParameterError("max_epsilon", problem, "Pass --max-epsilon NUMBER or --max-epsilon unlimited")


def client(url: str, token: str | None = None) -> CollectorClient:
    """A connection to the collector."""
    from blender_dp_device.agent.client import CollectorClient

    return CollectorClient(url, token, max_bytes=_MAX_BYTES)


def find_campaign(collector: CollectorClient, name: str | None) -> dict[str, Any]:
    """A campaign by its name or id; without either, the only campaign."""
    from blender_dp.errors import StateError

    known: list[dict[str, Any]] = collector.get("/v1/operator/campaigns")
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        problem = "several exist" if known else "none exists"
        raise StateError(
            "campaign", problem, "Name one: --campaign NAME" if known else "See blender-dp campaign create --help"
        )
    for one in known:
        if name in {one["settings"]["name"], one["id"]}:
            return one
    raise StateError("campaign", f"{name} is unknown", "See blender-dp campaign list", kind="missing")


def campaign_path(collector: CollectorClient, name: str | None) -> str:
    """The path of a campaign in the operator's API, which accepts its name or its id."""
    return f"/v1/operator/campaigns/{quote(name or find_campaign(collector, None)['id'], safe='')}"


def current_round(collector: CollectorClient, campaign: str | None) -> dict[str, Any]:
    """A campaign's newest round in its current state."""
    newest: dict[str, Any] = collector.get(f"{campaign_path(collector, campaign)}/rounds/current")
    return newest


def wait_for(collector: CollectorClient, round_id: str, state: str) -> dict[str, Any]:
    """Poll a round until it reaches a state."""
    from blender_dp.errors import StateError

    while True:
        current: dict[str, Any] = collector.get(f"/v1/operator/rounds/{round_id}")
        if current["state"] == state:
            return current
        if current["state"] == "aborted" or current["problem"]:
            raise StateError("round", current["problem"] or "was aborted", "See blender-dp round show")
        time.sleep(0.2)
