"""docs/rivals.md, written from the results: where a rival wins comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import peers
from benchmarks.peers.evidence import LOSS, NOISE, OTHER
from benchmarks.rivals.promises import Answer, Finding, answer
from benchmarks.rivals.runs import Failure
from benchmarks.rivals.settings import EVIDENCE, GIVEN, OURS, SETTINGS, Rival, Setting
from benchmarks.rivals.summary import MEASURES, QUERY_L1, Comparison, Measure, Row, closest, wins

_MARKS = {LOSS: "†", NOISE: "\\*"}
_PROMISES = {LOSS: "keeps ε and δ", NOISE: "unpredictable noise"}
_CHANCE = "the difference may be chance"
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
- **±** is a standard error over populations; the bars of the figure have 95 % confidence. **A rival wins** if it is better
  by more than chance: every method gets the same populations, so we average the differences from ours population by
  population, and zero must be outside their 95 % confidence interval by Student's t distribution for that number of
  populations. Of the rivals that are exactly as good as we are, one in 40 would be shown as better, and one in 40 as
  worse. Speed and size are compared without error bars.
"""

_CHECKED = """\
The last two columns of the tables above list the numbers of these claims; if some do not hold, only those. A row says that
it keeps ε and δ only if its own method was checked at its own ε and δ. Baselines consist of our mechanisms, and all of their
runs were audited as well.

- An **exact audit** computes δ at the promised ε from the integers that decide everything random in our runs: it is a proof.
- The other checks are **tests of a black box**: they can refute a promise, but not prove it. Each of them accuses a library
  that keeps its promise with a probability of 1e-6 at most. How sharp it was is in its evidence: how many releases would
  have been too many, or which ε the counts prove.
- **Noise is unpredictable** if nobody can repeat it by seeding a generator, and if two processes never draw the same noise.
  Someone who repeats the noise can remove it, even if its probabilities are those of ε.
"""


@dataclass(frozen=True)
class Evidence:
    """What was found about promises, what did not run, and on which days the results were measured."""

    findings: Sequence[Finding]
    failures: Sequence[Failure] = ()
    days: Sequence[str] = field(default_factory=tuple)


def written(rows: Sequence[Row], evidence: Evidence, machine: Mapping[str, str | int]) -> str:
    """The whole page."""
    findings = evidence.findings
    parts = [
        _TITLE,
        "## Where a rival wins\n",
        "\n".join(_winners(rows, findings)),
        "## Results\n",
        "![NDCG and query L1 of every row](figures/rivals.svg)\n",
        *(_results(setting, rows, findings) for setting in SETTINGS),
        "## Which promises are kept\n",
        _CHECKED,
        "\n".join(_promises(findings)),
        "## What did not run\n",
        "\n".join(_failed(evidence.failures)),
        "## How it was measured\n",
        _MEASURED + "\n".join((*_reused(evidence.days), *_versions(machine))),
    ]
    return "\n".join(parts)


def _winners(rows: Sequence[Row], findings: Sequence[Finding]) -> Iterator[str]:
    found = list(wins(rows))
    for setting in (setting for setting in SETTINGS if any(row.setting == setting for row in rows)):
        yield f"**{_described(setting)}**\n"
        here = [win for win in found if win.row.setting == setting]
        for measure in MEASURES:
            if better := [win for win in here if win.measure == measure]:
                yield f"- {measure.name} (ours: {_figure(measure, better[0].ours)})"
                for trust in dict.fromkeys(win.row.rival.trust for win in better):
                    names = [_win(win, findings) for win in better if win.row.rival.trust == trust]
                    yield f"  - {trust}: {', '.join(names)}"
        if rest := [measure.name for measure in MEASURES if measure not in {win.measure for win in here}]:
            yield f"- nobody wins in {', '.join(rest)}"
        if best := closest(rows, setting):
            yield _nearest(best)
        yield ""
    yield f"{_MARKS[LOSS]} does not keep ε and δ. {_MARKS[NOISE]} Its noise can be predicted. See below.\n"


def _nearest(best: Comparison) -> str:
    """How sure the order of our error and the smallest other one is."""
    gap = best.advantage
    if gap is None:
        return ""
    verdict = "that is better" if best.rival_wins else "that is worse" if best.we_win else ""
    return (
        f"- the smallest query L1 without a curator for everyone, besides ours ({_figure(QUERY_L1, best.ours)}), is that of "
        f"*{best.row.rival.name}*, {_figure(QUERY_L1, best.row)}, a difference of {-gap.value:.5f} ± {gap.margin:.5f} "
        f"(95 % confidence, {len(best.row.runs)} populations); {verdict + ' by more than chance' if verdict else _CHANCE}"
    )


def _figure(measure: Measure, row: Row) -> str:
    mean = measure.of(row)
    return measure.text(mean) if mean else "–"


def _win(win: Comparison, findings: Sequence[Finding]) -> str:
    rival, setting = win.row.rival, win.row.setting
    name = rival.method if rival.is_baseline else f"{rival.tool}'s {rival.method}"
    answers = {promise: answer(promise, rival, setting, findings) for promise in _MARKS}
    marks = "".join(mark for promise, mark in _MARKS.items() if answers[promise].kept is False)
    return f"{name if rival.tool != rival.method else rival.tool}{marks} {_figure(win.measure, win.row).partition(' ±')[0]}"


def _described(setting: Setting) -> str:
    return (
        f"{setting.name} shape, {setting.users:,} users, {setting.opt_in * 100:g} % opt-in, ε = {setting.epsilon:g}, "
        f"δ = {setting.delta:g}, the {setting.max_queries} most popular queries"
    )


def _results(setting: Setting, rows: Sequence[Row], findings: Sequence[Finding]) -> str:
    here = [row for row in rows if row.setting == setting]
    if not here:
        return ""
    names = ("what", "needs", "populations", *(measure.name for measure in MEASURES), *_PROMISES.values())
    body = [
        [
            _emphasised(row.rival),
            row.rival.trust,
            str(row.seeds),
            *(_cell(measure, row) for measure in MEASURES),
            *(_kept(answer(promise, row.rival, setting, findings)) for promise in _PROMISES),
        ]
        for row in here
    ]
    return f"### {_described(setting)}\n\n" + "\n".join(_table(names, body)) + "\n"


def _emphasised(rival: Rival) -> str:
    return f"**{rival.name}**" if rival == OURS else rival.name


def _cell(measure: Measure, row: Row) -> str:
    return "given" if measure.is_given and row.rival.trust == GIVEN else _figure(measure, row)


def _kept(found: Answer) -> str:
    """Whether a row keeps a promise, and the numbers of the claims that say so."""
    if found.kept is None:
        return "not checked"
    see = f"; see also {_numbers(found.see)}" if found.see else ""
    return f"{'yes' if found.kept else '**no**'} ({_numbers(found.claims)}{see})"


def _numbers(claims: Iterable[int]) -> str:
    return ", ".join(map(str, claims))


def _promises(findings: Sequence[Finding]) -> Iterator[str]:
    titles = {LOSS: "Keeping ε and δ", NOISE: "Unpredictable noise", OTHER: "What else we found"}
    numbered = list(enumerate(findings, 1))
    for promise, title in titles.items():
        if here := [(i, finding) for i, finding in numbered if finding.promise == promise]:
            yield f"### {title}\n"
            names = ("", "what", "at", "claim", "holds", "evidence", "where")
            yield from _table(names, ([str(i), *_promise(finding)] for i, finding in here))
            yield ""


def _promise(finding: Finding) -> list[str]:
    methods = "; ".join(method for method in finding.methods if method != finding.tool)
    what = f"{finding.tool}: {methods}" if methods else finding.tool
    at = f"ε = {finding.setting['epsilon']:g}, δ = {finding.setting['delta']:g}" if finding.setting else "any"
    return [what, at, finding.claim, "yes" if finding.holds else "**no**", finding.evidence, finding.source]


def _failed(failures: Sequence[Failure]) -> Iterator[str]:
    if failures:
        yield from (f"- {failure.what}: `{failure.error}`" for failure in failures)
    else:
        yield "Every environment installed, and every rival ran."
    yield ""


def _reused(days: Sequence[str]) -> Iterator[str]:
    """What the page can guarantee about figures that an earlier run measured."""
    when = days[0] if len(set(days)) == 1 else f"between {days[0]} and {days[-1]}" if days else "never"
    yield (
        f"- **When**: our own noise and lists were tested when this page was written; all else was measured {when}. An\n"
        "  earlier result is used again only if nothing that it depends on has changed: the content of its population, the\n"
        "  script and the pinned versions of the library (for our rows, all of our code that simulates, counts or\n"
        "  estimates), Python, numpy, DuckDB, PyArrow and the processor. Scores are computed anew every time."
    )


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
