"""The whole comparison: run everyone, check the promises, write docs/rivals.md and its figure."""

from __future__ import annotations

from pathlib import Path

from benchmarks import machine
from benchmarks.result import Cell, Result, Verdict
from benchmarks.rivals import page, promises
from benchmarks.rivals.figure import draw
from benchmarks.rivals.runs import run_all
from benchmarks.rivals.settings import SEEDS, SETTINGS, Setting
from benchmarks.rivals.summary import MEASURES, Row, closest, ratio, summarise

PAGE = Path("docs/rivals.md")
FIGURE = Path("docs/figures/rivals.svg")


def measure() -> Result:
    """Compare, and write the page; what was measured before is not measured again."""
    results = run_all()
    rows = summarise(results.outcomes)
    findings = [*promises.ours(results.outcomes), *map(promises.Finding.of, results.findings)]
    evidence = page.Evidence(promises.sorted_findings(findings), results.failures, sorted(results.days))
    FIGURE.write_text(draw(rows), encoding="utf-8")
    PAGE.write_text(page.written(rows, evidence, machine.description()), encoding="utf-8")
    return Result(
        "rivals",
        "other libraries and simple baselines, on the same users and with the same promise",
        f"Means over up to {SEEDS} populations ± standard errors; {PAGE} says what each row was given, and its promises.",
        [_cells(row) for row in rows],
        [verdict for setting in SETTINGS for verdict in _verdicts(setting, rows)],
    )


def _cells(row: Row) -> dict[str, Cell]:
    values = {measure.name: (measure, measure.of(row)) for measure in MEASURES}
    texts = {name: measure.text(mean) if mean else "" for name, (measure, mean) in values.items()}
    return {"shape": row.setting.name, "what": row.rival.name, **texts}


def _verdicts(setting: Setting, rows: list[Row]) -> list[Verdict]:
    """How the error compares with the best rival's that does not ask everyone to trust a curator."""
    best = closest(rows, setting)
    if best is None:
        return []
    claim = f"{setting.name}: query L1 relative to the best rival without a curator for everyone ({best.row.rival.name})"
    return [Verdict(claim, ratio(best), 1, "at most")]
