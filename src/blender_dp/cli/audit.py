"""blender-dp audit"""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blender_dp.cli.output import (
    AsJson,
    ClientRecords,
    Profile,
    QueryBudget,
    SubsetSize,
    print_json,
    print_table,
    say,
)
from blender_dp.errors import ParameterError
from blender_dp.privacy.rounding import readable, rounded_up

if TYPE_CHECKING:
    from blender_dp.privacy.finding import Finding
    from blender_dp_device.records.head_list import HeadList
    from blender_dp_device.records.reporting_list import ChannelSettings


def audit(
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Privacy loss ε that is claimed.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Probability δ that is claimed.")] = None,
    release: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Audit what this release was made with.")] = None,
    head_list: Annotated[Path | None, typer.Option(metavar="FILE", help="Audit the channel of this head list.")] = None,
    max_queries: Annotated[int, typer.Option(metavar="N", min=1, help="Without a list: how many queries.")] = 50,
    urls: Annotated[int, typer.Option(metavar="N", min=0, help="Without a list: how many URLs each (0: items).")] = 2,
    f_c: QueryBudget = None,
    subset_size: SubsetSize = None,
    m_c: ClientRecords = 1,
    profile: Profile = "tight",
    tables: Annotated[Path | None, typer.Option(metavar="FILE", help="Audit these integers instead (from --json).")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the exact privacy loss of every mechanism from the integers it ships with.

    \b
    The worst ε is over outputs that both neighbours can give; δ is the exact divergence at the claimed ε.
    \b
    Examples:
      blender-dp audit --epsilon 4 --delta 1e-5
      blender-dp audit --release blender-demo
      blender-dp audit --epsilon 4 --delta 1e-5 --head-list blender-demo/head-list.json
      blender-dp audit --epsilon 4 --delta 1e-5 --json > audit.json
      blender-dp audit --epsilon 4 --delta 1e-5 --tables audit.json
    """
    from blender_dp.cli.files import load_release
    from blender_dp.parameters import Parameters
    from blender_dp.pipeline.audit import Tables, audit_tables, made_with

    channel: ChannelSettings | None
    if release is not None:
        if any(given is not None for given in (epsilon, delta, head_list, f_c, subset_size)):
            raise ParameterError("release", "says itself what it was made with", "Leave the other parameters out")
        loaded = load_release(release)
        parameters = made_with(loaded.manifest.settings)
        listed, channel = loaded.head_list, loaded.reporting_list.channel
    elif epsilon is None or delta is None:
        raise ParameterError("epsilon", "and delta are what is audited", "Give both, or a release")
    else:
        listed, channel = _listed(head_list) if head_list else (_made_up(max_queries, urls), None)
        if channel and (f_c is not None or subset_size is not None or m_c not in {1, channel.m_c}):
            raise ParameterError("head_list", "names its channel itself", "Leave --f-c, --subset-size and --m-c out")
        randomiser, m_c = (channel.randomiser, channel.m_c) if channel else (None, m_c)
        parameters = Parameters.of(
            epsilon=epsilon, delta=delta, f_c=f_c, subset_size=subset_size, m_c=m_c, profile=profile, randomiser=randomiser
        )
    expected = Tables.of(parameters, listed, channel)
    shipped = expected if tables is None else Tables.load(tables, expected)
    findings = audit_tables(shipped, parameters, listed)
    if as_json:
        print_json({"findings": [_finding(f) for f in findings], "tables": shipped.to_document()})
    else:
        _show(findings, parameters.m_c)
    if not all(finding.holds for finding in findings):
        raise typer.Exit(1)


def _listed(path: Path) -> tuple[HeadList, ChannelSettings | None]:
    """A list, and its channel if it names one."""
    from blender_dp_device.records.head_list import HeadList, read_json
    from blender_dp_device.records.reporting_list import ReportingList, names_channel

    document = read_json(path)
    if not names_channel(document):
        return HeadList.from_document(document, str(path)), None
    found = ReportingList.from_document(document, str(path))
    return found.head_list, found.channel


def _made_up(queries: int, urls: int) -> HeadList:
    from blender_dp_device.records.head_list import HeadList

    names: list[str | None] = [f"url {u}" for u in range(urls)]
    return HeadList.of((f"query {q}", name) for q in range(queries) for name in names or [None])


def _show(findings: list[Finding], m_c: int) -> None:
    columns = {"mechanism": False, "claimed ε": True, "worst ε": True, "claimed δ": True, "exact δ": True, "": False}
    every, designs = findings, [f for f in findings[2:] if f.holds]
    if len(designs) > 1:  # one line for all that hold: the worst of them
        worst = max(designs, key=lambda f: (f.delta, f.epsilon))
        findings = [f for f in findings if f not in designs] + [replace(worst, mechanism="local channel")]
    rows = [
        [
            f.mechanism,
            readable(f.claim.epsilon),
            f"{f.epsilon:.9f}",
            readable(f.claim.delta),
            rounded_up(f.delta, 6),
            "holds" if f.holds else "VIOLATED",
        ]
        for f in findings
    ]
    print_table("Exact loss of the shipped integers", columns, rows)
    if len(every) > len(findings):
        say(f"Local channel: {len(every) - 2} designs may be chosen, {len(designs)} hold. The worst is shown.")
    if m_c > 1:
        say(f"The local channel is per report; a client sends {m_c} of them.")


def _decimal(value: Fraction) -> str:
    """Forty digits, rounded up; the fraction itself can have thousands."""
    context = decimal.Context(prec=40, rounding=decimal.ROUND_CEILING)
    return str(context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)))


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "mechanism": finding.mechanism,
        "claimed_epsilon": str(finding.claim.epsilon),
        "claimed_delta": str(finding.claim.delta),
        "worst_epsilon": finding.epsilon if math.isfinite(finding.epsilon) else None,
        "exact_delta": _decimal(finding.delta),
        "verdict": "holds" if finding.holds else "violated",
    }
