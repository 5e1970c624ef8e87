"""The whole comparison: run everyone, check the promises, write docs/rivals.md and its figure."""

from __future__ import annotations

from pathlib import Path

from benchmarks import machine
from benchmarks.result import Cell, Result, Verdict
from benchmarks.rivals import page, promises
from benchmarks.rivals.figure import draw
from benchmarks.rivals.runs import run_all
from benchmarks.rivals.settings import SEEDS, SETTINGS, Setting
from benchmarks.rivals.summary import MEASURES, Row, closest, summarise

PAGE = Path("docs/rivals.md")
FIGURE = Path("docs/figures/rivals.svg")


def measure() -> Result:
    """Compare, and write the page; what was measured before is not measured again."""
    outcomes, found, failures = run_all()
    rows = summarise(outcomes)
    findings = [*promises.ours(), *map(promises.Finding.of, found)]
    FIGURE.write_text(draw(rows), encoding="utf-8")
    PAGE.write_text(page.written(rows, findings, failures, machine.description()), encoding="utf-8")
    return Result(
        "rivals",
        "other libraries and simple baselines, on the same users and with the same promise",
        f"Means over {SEEDS} populations ± standard errors; see {PAGE} for what each row was given, and for the promises.",
        [_cells(row) for row in rows],
        [verdict for setting in SETTINGS for verdict in _verdicts(setting, rows)],
    )


def _cells(row: Row) -> dict[str, Cell]:
    values = {measure.name: (measure, measure.of(row)) for measure in MEASURES}
    texts = {name: measure.text(mean) if mean else "" for name, (measure, mean) in values.items()}
    return {"shape": row.setting.name, "what": row.rival.name, **texts}


def _verdicts(setting: Setting, rows: list[Row]) -> list[Verdict]:
    """How the error compares with the best rival's that does not ask everyone to trust a curator."""
    pair = closest(rows, setting)
    if pair is None:
        return []
    ours, best = pair
    claim = f"{setting.name}: query L1 relative to the best rival without a curator for everyone ({best.rival.name})"
    return [Verdict(claim, ours.query_l1.value / best.query_l1.value, 1, "at most")]
