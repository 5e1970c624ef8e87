"""blender-dp audit"""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from blender_dp.cli.options import AsJson, flag_of, given, parameter_options
from blender_dp.cli.output import print_json, print_table, say
from blender_dp.errors import ParameterError
from blender_dp.parameters import Parameters
from blender_dp.privacy.rounding import readable, rounded_up

if TYPE_CHECKING:
    from blender_dp.privacy.finding import Finding
    from blender_dp_device.records.head_list import HeadList
    from blender_dp_device.records.reporting_list import ChannelSettings

_URLS = 2


@parameter_options("epsilon", "delta", "f_c", "subset_size", "m_c", "max_queries", "profile", given_only=True)
def audit(
    release: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Audit the integers that this release was made with.")
    ] = None,
    head_list: Annotated[Path | None, typer.Option(metavar="FILE", help="Audit the channel of this head list.")] = None,
    urls: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, show_default=str(_URLS), help="URLs per query, if there is no list (0: single items)."
        ),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Audit the integers in this file instead (from --json).")
    ] = None,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each of the parameters above)
) -> None:
    """Compute the exact privacy loss of every mechanism from the integers it uses.

    The worst ε is the largest over the outputs that both neighbours can produce; δ is the exact divergence at the claimed ε.

    \b
    Examples:
      blender-dp audit --epsilon 4 --delta 1e-5
      blender-dp audit --release blender-demo
      blender-dp audit --epsilon 4 --delta 1e-5 --head-list blender-demo/head-list.json
      blender-dp audit --epsilon 4 --delta 1e-5 --json > audit.json
      blender-dp audit --epsilon 4 --delta 1e-5 --tables audit.json
    """
    from blender_dp.pipeline.audit import Tables, audit_tables

    values = given(parameters)
    if release is not None:
        _refuse({**values, **given({"head_list": head_list, "urls": urls})}, "--release", "its parameters")
        audited = _of_release(release)
    elif not {"epsilon", "delta"} <= values.keys():
        raise ParameterError("epsilon", "an audit needs --epsilon and --delta", "Pass both, or --release")
    elif head_list is not None:
        _refuse(given({"max_queries": values.get("max_queries"), "urls": urls}), "--head-list", "its queries and URLs")
        audited = _of_list(head_list, values)
    else:
        audited = _of_parameters(values, _URLS if urls is None else urls)
    expected = Tables.of(audited.parameters, audited.head_list, audited.channel)
    shipped = expected if tables is None else Tables.load(tables, expected)
    findings = audit_tables(shipped, audited.parameters, audited.head_list)
    if as_json:
        print_json({"findings": [finding.to_document() for finding in findings], "tables": shipped.to_document()})
    else:
        _show(findings, audited.parameters.m_c)
    if not all(finding.holds for finding in findings):
        raise typer.Exit(1)


class _Audited(NamedTuple):
    """The subject of an audit. Without a channel, every design that may be chosen for the list is audited."""

    parameters: Parameters
    head_list: HeadList
    channel: ChannelSettings | None


def _refuse(values: dict[str, Any], source: str, content: str) -> None:
    """Refuse options that would be ignored, and name the first of them."""
    for name in values:
        raise ParameterError(flag_of(name), f"cannot be combined with {source}, which states {content}", "Leave it out")


def _of_release(folder: Path) -> _Audited:
    from blender_dp.cli.files import check_head_list, load_release

    loaded = load_release(folder)
    check_head_list(folder, loaded)
    return _Audited(loaded.manifest.settings, loaded.head_list, loaded.reporting_list.channel)


def _of_list(path: Path, values: dict[str, Any]) -> _Audited:
    """A head list, with its channel if it states one."""
    from blender_dp_device.records.head_list import HeadList, read_json
    from blender_dp_device.records.reporting_list import ReportingList, names_channel

    document = read_json(path)
    if not names_channel(document):
        return _Audited(Parameters(**values), HeadList.from_document(document, str(path)), None)
    listed = ReportingList.from_document(document, str(path))
    _refuse({name: values[name] for name in ("f_c", "subset_size", "m_c") if name in values}, "--head-list", "its channel")
    parameters = Parameters(**values, randomiser=listed.channel.randomiser, m_c=listed.channel.m_c)
    return _Audited(parameters, listed.head_list, listed.channel)


def _of_parameters(values: dict[str, Any], urls: int) -> _Audited:
    """A synthetic list: only its numbers of queries and URLs matter."""
    from blender_dp_device.records.head_list import HeadList

    parameters = Parameters(**values)
    names: list[str | None] = [f"url {u}" for u in range(urls)] or [None]
    records = ((f"query {q}", name) for q in range(parameters.max_queries) for name in names)
    return _Audited(parameters, HeadList.of(records), None)


def _show(findings: list[Finding], m_c: int) -> None:
    columns = {"mechanism": False, "claimed ε": True, "worst ε": True, "claimed δ": True, "exact δ": True, "": False}
    every, designs = findings, [f for f in findings[2:] if f.holds]
    if len(designs) > 1:  # one line for all designs that hold: the worst
        worst = max(designs, key=lambda f: (f.delta, f.epsilon))
        findings = [f for f in findings if f not in designs] + [replace(worst, mechanism="local channel")]
    rows = [
        [
            f.mechanism,
            readable(f.claim.epsilon),
            _shown(f.epsilon),
            readable(f.claim.delta),
            rounded_up(f.delta, 6),
            "holds" if f.holds else "VIOLATED",
        ]
        for f in findings
    ]
    print_table("Exact privacy loss of the integers in use", columns, rows)
    if len(every) > len(findings):
        say(f"Local channel: {len(every) - 2} designs are possible, {len(designs)} hold. The worst is shown.")
    if m_c > 1:
        say(f"The local channel is per report; a client sends {m_c} reports.")


def _shown(epsilon: float) -> str:
    """Nine digits after the point, rounded up: a loss is never understated."""
    if math.isinf(epsilon):
        return "inf"
    return f"{decimal.Decimal(str(epsilon)).quantize(decimal.Decimal('1e-9'), decimal.ROUND_CEILING):f}"
