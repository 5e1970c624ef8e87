"""docs/rivals.md, written from the results: where a rival wins comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks import peers
from benchmarks.rivals.promises import Finding, broken
from benchmarks.rivals.runs import Failure
from benchmarks.rivals.settings import EVIDENCE, GIVEN, OURS, SETTINGS, Rival, Setting
from benchmarks.rivals.summary import MEASURES, Measure, Row, Win, chance, closest, wins

_MARK = "\\*"
_NAMES = ("pure-ldp", "multi-freq-ldpy", "opendp", "python-dp", "pipeline-dp")

_TITLE = f"""\
<!-- Written by `make bench-rivals`: do not edit. -->
# Comparison with other libraries

This page compares other libraries and simple baselines on the same users, with the same ε and δ. They compete with
*{OURS.name}*, because none of them learns URLs; *blender-dp, tight* and *blender-dp, paper* learn the
URLs as well, with the same ε. No other library combines opt-in users with clients, so a rival uses one group or the other.
"""

_MEASURED = """\
- **The promise is the same**: ε and δ limit the effect of a change of one person's record. OpenDP, python-dp and PipelineDP
  usually protect against adding or removing a person, which is weaker; here they protect two queries per person, which
  covers a change.
- **The list is given** to local methods that need one: the true most popular queries, which nobody knows in practice. This
  favours them, and they find all queries by construction. With these methods everyone reports, opt-in users included.
- **PEM**, which finds the list, gets six letters for every query instead of its text, which favours it, too. Its oracle is a
  sketch of 128 × 1,024, because the default oracle visits every possible string for every report.
- **Curators** see the opt-in users' records only, except in *central DP with everyone*, which shows the price of not
  trusting a curator with everyone's data.
- **NDCG** rates the ranking of the queries, without their URLs (1 is best). **Query L1** adds up the absolute errors of the
  shares over the listed queries and the truly most popular ones; a query that is not listed is estimated to be 0.
  **Queries found** is how many of the most popular queries are listed.
- **Rows/s** is the number of rows per second of processor time, from records in memory to estimates, in one process on one
  core; the best of all populations. A curator's rows are those of the opt-in users. Our time includes choosing one record
  per user, canonical forms, every client's randomised report and the fit of all evidence. The machine was shared, so
  compare orders of magnitude. **Bytes per report** is the size of a report as the library returns it, pickled. **Peak
  memory** is that of the whole process, including imports and data. Baselines show what is possible; their costs are not
  measured.
- A rival wins if it is better by more than two standard errors of the difference; speed and size have no
  error bars.
"""


def written(
    rows: Sequence[Row], findings: Sequence[Finding], failures: Sequence[Failure], machine: Mapping[str, str | int]
) -> str:
    """The whole page."""
    parts = [
        _TITLE,
        "## Where a rival wins\n",
        "\n".join(_winners(rows, findings)),
        "## Results\n",
        "![NDCG and query L1 of every row](figures/rivals.svg)\n",
        *(_results(setting, rows, findings) for setting in SETTINGS),
        "## Which promises are kept\n",
        "\n".join(_promises(findings)),
        "## What did not run\n",
        "\n".join(_failed(failures)),
        "## How it was measured\n",
        _MEASURED + "\n".join(_versions(machine)),
    ]
    return "\n".join(parts)


def _winners(rows: Sequence[Row], findings: Sequence[Finding]) -> Iterator[str]:
    found = list(wins(rows))
    for setting in (setting for setting in SETTINGS if any(row.setting == setting for row in rows)):
        yield f"**{_described(setting)}**\n"
        here = [win for win in found if win.row.setting == setting]
        for measure in MEASURES:
            if better := [win for win in here if win.measure == measure]:
                yield f"- {measure.name} (ours: {measure.text(better[0].ours)})"
                for trust in dict.fromkeys(win.row.rival.trust for win in better):
                    names = [_win(win, findings) for win in better if win.row.rival.trust == trust]
                    yield f"  - {trust}: {', '.join(names)}"
        if rest := [measure.name for measure in MEASURES if measure not in {win.measure for win in here}]:
            yield f"- nobody wins in {', '.join(rest)}"
        if pair := closest(rows, setting):
            yield _nearest(*pair)
        yield ""
    yield f"{_MARK} breaks a promise, see below.\n"


def _nearest(ours: Row, other: Row) -> str:
    """How sure our smallest error is."""
    gap, limit = other.query_l1.value - ours.query_l1.value, chance(ours.query_l1, other.query_l1)
    verdict = "that is worse by more than chance" if gap > limit else "the difference may be chance"
    text = MEASURES[1].text
    return (
        f"- the smallest query L1 without a curator for everyone, besides ours ({text(ours.query_l1)}), is that of "
        f"*{other.rival.name}*, {text(other.query_l1)}; {verdict}"
    )


def _win(win: Win, findings: Sequence[Finding]) -> str:
    rival = win.row.rival
    name = rival.method if rival.is_baseline else f"{rival.tool}'s {rival.method}"
    return f"{name if rival.tool != rival.method else rival.tool}{_MARK if broken(rival, findings) else ''} {_short(win)}"


def _short(win: Win) -> str:
    """The figure without its error."""
    return win.measure.text(win.theirs).partition(" ±")[0]


def _described(setting: Setting) -> str:
    return (
        f"{setting.name} shape, {setting.users:,} users, {setting.opt_in * 100:g} % opt-in, ε = {setting.epsilon:g}, "
        f"δ = {setting.delta:g}, the {setting.max_queries} most popular queries"
    )


def _results(setting: Setting, rows: Sequence[Row], findings: Sequence[Finding]) -> str:
    here = [row for row in rows if row.setting == setting]
    if not here:
        return ""
    names = ("what", "needs", "seeds", *(measure.name for measure in MEASURES), "promise")
    body = [
        [
            _emphasised(row.rival),
            row.rival.trust,
            str(row.seeds),
            *(_cell(measure, row) for measure in MEASURES),
            _kept(row.rival, findings),
        ]
        for row in here
    ]
    return f"### {_described(setting)}\n\n" + "\n".join(_table(names, body)) + "\n"


def _emphasised(rival: Rival) -> str:
    return f"**{rival.name}**" if rival == OURS else rival.name


def _cell(measure: Measure, row: Row) -> str:
    mean = measure.of(row)
    if mean is None:
        return "–"
    return "given" if measure.is_given and row.rival.trust == GIVEN else measure.text(mean)


def _kept(rival: Rival, findings: Sequence[Finding]) -> str:
    """Whether a rival keeps its promises, with the numbers of those that it breaks."""
    failed = broken(rival, findings)
    if failed is None:
        return "not checked"
    numbers = [str(i) for i, finding in enumerate(findings, 1) if finding.concerns(rival) and not finding.holds]
    return f"**broken** ({', '.join(numbers)})" if failed else "kept"


def _promises(findings: Sequence[Finding]) -> Iterator[str]:
    yield "Every claim was checked in the same run; the numbers are those of the tables above.\n"
    names = ("", "what", "claim", "holds", "evidence", "where")
    yield from _table(names, ([str(i), *_promise(finding)] for i, finding in enumerate(findings, 1)))
    yield ""


def _promise(finding: Finding) -> list[str]:
    what = f"{finding.tool}: {', '.join(finding.methods)}" if finding.methods else finding.tool
    return [what, finding.claim, "yes" if finding.holds else "**no**", finding.evidence, finding.source]


def _failed(failures: Sequence[Failure]) -> Iterator[str]:
    if failures:
        yield from (f"- {failure.what}: `{failure.error}`" for failure in failures)
    else:
        yield "Every environment installed, and every rival ran."
    yield ""


def _versions(machine: Mapping[str, str | int]) -> Iterator[str]:
    pins = "\n".join((peers.FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in EVIDENCE)
    named = [f"{name} {match[1]}" for name in _NAMES if (match := re.search(rf"^{name}==(\S+)", pins, re.MULTILINE))]
    hardware = f"Python {machine['python']}, on {machine['cores']} cores of {machine['processor']}"
    yield f"- **Versions**: {', '.join(named)}; {hardware}."
    yield ""


def _table(names: Sequence[str], body: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    for cells in body:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
