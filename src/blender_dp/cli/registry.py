"""blender-dp registry"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.options import AsJson, given
from blender_dp.cli.output import can_print, note, print_json


def registry(
    release: Annotated[Path, typer.Argument(help="A release: its folder or its release.json.")],
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the data product.")] = None,
    curator: Annotated[str | None, typer.Option(metavar="TEXT", help="Organisation that publishes it.")] = None,
    curator_type: Annotated[str | None, typer.Option(metavar="TEXT", help="Government, Industry or Nonprofit.")] = None,
    intended_use: Annotated[str | None, typer.Option("--use", metavar="TEXT", help="What it is for.")] = None,
    region: Annotated[str | None, typer.Option(metavar="TEXT", help="Region that it describes, such as Global.")] = None,
    sector: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Technology, Healthcare, Education, Government, Energy or Finance."),
    ] = None,
    published: Annotated[str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="Date of publication.")] = None,
    releases: Annotated[str | None, typer.Option(metavar="TEXT", help="'One release' or 'Many releases'.")] = None,
    justification: Annotated[str | None, typer.Option(metavar="TEXT", help="Reason for this ε and this δ.")] = None,
    author: Annotated[str | None, typer.Option(metavar="TEXT", help="Author of this entry.")] = None,
    url: Annotated[str | None, typer.Option(metavar="URL", help="Where the release is published.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write an entry for the public registry of differential-privacy deployments (registry.opendp.org).

    Everything that the release says about its privacy is filled in. What only you know comes from the options; without
    one, the field is marked TODO. Propose the YAML file at https://github.com/opendp/deployments-registry-data.

    \b
    Examples:
      blender-dp registry release > entry.yaml
      blender-dp registry release --name 'Search trends' --curator 'Example Ltd' --curator-type Industry
      blender-dp registry release --json | jq .deployment.privacy_loss
    """
    from blender_dp.cli.files import load_release
    from blender_dp.cli.yaml_text import yaml_text
    from blender_dp.release.registry import Deployment, placeholders, registry_entry

    known = {
        "name": name, "curator": curator, "curator_type": curator_type, "intended_use": intended_use, "region": region,
        "sector": sector, "published": published, "releases": releases, "justification": justification, "author": author,
        "url": url,
    }  # fmt: skip
    entry = registry_entry(load_release(release), Deployment(**given(known)))
    if as_json:
        print_json(entry)
    else:
        typer.echo(yaml_text(entry, lambda text: text.isprintable() and can_print(text)), nl=False)
    if missing := list(placeholders(entry)):
        note(f"To fill in: {', '.join(missing)}.")
