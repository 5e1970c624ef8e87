"""blender-dp campaign invite"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.operate import LOCAL, Url, client
from blender_dp.cli.options import AsJson
from blender_dp.cli.output import check_writable, note, out, print_files, print_json, say

if TYPE_CHECKING:
    from blender_dp.invitation import Invitation


def invite(
    name: Annotated[str, typer.Argument(help="Name or id of the campaign.")],
    lifetime_epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", show_default="the campaign's limit", help="ε that one device may spend in all rounds together."
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", show_default="--url", help="URL under which devices reach the collector (https)."),
    ] = None,
    file: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the invitation as JSON.")] = None,
    qr: Annotated[Path | None, typer.Option("--qr", metavar="FILE", help="Write the QR code as SVG.")] = None,
    url: Url = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Print the invitation to a campaign as a link and a QR code. It contains everything that a device pins.

    It contains nothing secret, and needs no token. A device trusts its invitation, so publish it where users trust you.

    \b
    Examples:
      blender-dp campaign invite searches --url https://collector.example
      blender-dp campaign invite searches --file invitation.json --qr invitation.svg
    """
    for path in (file, qr):
        if path:
            check_writable(path)
    invitation = _invitation(url, name, lifetime_epsilon, public_url)
    files = _write(invitation, file, qr)
    if as_json:
        print_json({"link": invitation.link, "invitation": invitation.to_document()})
        return
    lifetime = f"at most {invitation.lifetime_epsilon} over a device's lifetime"
    say(f"Invitation to {invitation.name}: ε = {invitation.epsilon} in every round, {lifetime}")
    typer.echo(invitation.link)
    _show_qr_code(invitation.link)
    if invitation.collector.startswith("http:"):
        note("This invitation works on this machine only. For others, pass --public-url https://...")
    if files:
        print_files(files)


def _invitation(url: str, name: str, lifetime_epsilon: str | None, public_url: str | None) -> Invitation:
    from blender_dp.invitation import Invitation

    collector = client(url)
    (campaign,) = collector.get("/v1/campaigns", campaign=name)
    return Invitation.of(
        collector=public_url or url,
        key=collector.get("/v1/rounds/current", campaign=campaign["id"])["key"],
        campaign=campaign["id"],
        epsilon=campaign["epsilon"],
        delta=campaign["delta"],
        lifetime_epsilon=lifetime_epsilon or _limit(campaign),
        name=campaign["name"],
    )


def _limit(campaign: dict[str, Any]) -> str:
    """What a client may spend in all rounds of the campaign."""
    limits = {line["limit"]: line["most"] for line in campaign["budget"] if line["group"] == "client"}
    if limits.get("max_epsilon") is None:
        from blender_dp.errors import ParameterError

        problem = "the campaign has no limit, so a device needs its own"
        raise ParameterError("lifetime-epsilon", problem, "Pass --lifetime-epsilon NUMBER")
    return str(limits["max_epsilon"])


def _write(invitation: Invitation, file: Path | None, qr: Path | None) -> dict[str, Path]:
    if qr:
        from blender_dp.qr_code import qr_code, qr_svg

        qr.write_text(qr_svg(qr_code(invitation.link)), encoding="utf-8")
    if file:
        file.write_text(json.dumps(invitation.to_document(), indent=2) + "\n", encoding="utf-8")
    return {what: path for what, path in (("invitation", file), ("QR code", qr)) if path}


def _show_qr_code(link: str) -> None:
    from blender_dp.cli.qr_code import print_qr_code
    from blender_dp.errors import MissingExtraError
    from blender_dp.qr_code import qr_code

    try:
        if not print_qr_code(qr_code(link), out):
            note("The terminal is too narrow for the QR code: pass --qr FILE.")
    except MissingExtraError as error:
        note(f"No QR code: {error}")
