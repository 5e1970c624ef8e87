"""The page that compares us with rivals says where they win, and shows the evidence, whatever the results are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.rivals import page
from benchmarks.rivals.figure import draw
from benchmarks.rivals.promises import Finding
from benchmarks.rivals.runs import Failure, Outcome
from benchmarks.rivals.scores import Scores
from benchmarks.rivals.settings import GIVEN, OURS, RIVALS, SETTINGS
from benchmarks.rivals.summary import summarise, wins

MACHINE = {"python": "3.11", "cores": 2, "processor": "a processor"}
OUE = next(rival for rival in RIVALS if rival.name == "pure-LDP, OUE")
KEYS = next(rival for rival in RIVALS if rival.name == "OpenDP, stable keys")
KEPT = Finding("OpenDP", ("stable keys",), "it lists rarely", True, "3 of 1,000", "")
BROKEN = Finding("pure-LDP", ("OUE",), "its noise is secret", False, "50 of 50 values are the same", "ue_client.py:54: `x`")


def runs(ndcg, query_l1, spread=0.0001, **costs):
    """Two runs whose means are these."""
    values = {"rows": 1000, "seconds": 1.0, "report_bytes": 16.0, "peak_bytes": 10**8, **costs}
    return [Outcome(Scores(ndcg + sign * spread, query_l1 + sign * spread, 40), **values) for sign in (-1, 1)]


def rows_of(theirs, rival=OUE):
    name = SETTINGS[0].name
    return summarise({(name, OURS.name): runs(0.99, 0.01), (name, rival.name): theirs})


def written(rows, findings=(KEPT, BROKEN), failures=()):
    text = page.written(rows, findings, failures, MACHINE)
    winners, _, rest = text.partition("## Results")
    return winners, rest


@pytest.mark.parametrize(
    ("theirs", "measures"),
    [
        (runs(0.999, 0.02), ["NDCG"]),
        (runs(0.98, 0.005), ["query L1"]),
        (runs(0.98, 0.02, seconds=0.5), ["rows/s"]),
        (runs(0.98, 0.02, report_bytes=5.0), ["bytes per report"]),
        (runs(0.98, 0.02, peak_bytes=10**7), ["peak memory"]),
        (runs(0.98, 0.02), []),
    ],
)
def test_a_rival_wins_in_what_it_is_better_at_and_the_page_starts_with_it(theirs, measures):
    rows = rows_of(theirs)
    assert [win.measure.name for win in wins(rows)] == measures
    winners, rest = written(rows)
    shown = [line.split(" (ours")[0].removeprefix("- ") for line in winners.splitlines() if "(ours" in line]
    assert shown == measures
    assert winners.count("pure-LDP's OUE") == len(measures)
    assert f"| {OUE.name} |" in rest


def test_a_difference_that_may_be_chance_is_not_a_win():
    assert [win.measure.name for win in wins(rows_of(runs(0.992, 0.02, spread=0.002)))] == []
    assert [win.measure.name for win in wins(rows_of(runs(0.992, 0.02, spread=0.0002)))] == ["NDCG"]


@pytest.mark.parametrize(
    ("spread", "verdict"), [(0.0001, "worse by more than chance"), (0.02, "the difference may be chance")]
)
def test_the_page_says_how_sure_our_smallest_error_is(spread, verdict):
    winners, _ = written(rows_of(runs(0.98, 0.02, spread=spread)))
    line = next(line for line in winners.splitlines() if "the smallest query L1" in line)
    assert OUE.name in line
    assert line.endswith(verdict)


def test_a_given_list_is_not_a_discovery():
    name = SETTINGS[0].name
    full = [replace(run, scores=replace(run.scores, found=50)) for run in runs(0.98, 0.02)]
    rows = summarise({(name, OURS.name): runs(0.99, 0.01), (name, OUE.name): full, (name, KEYS.name): full})
    assert OUE.trust == GIVEN
    assert [(win.row.rival, win.measure.name) for win in wins(rows)] == [(KEYS, "queries found")]
    _, rest = written(rows)
    assert "| given |" in next(line for line in rest.splitlines() if line.startswith(f"| {OUE.name}"))


def test_every_claim_has_its_evidence_and_every_row_names_the_claims_it_breaks():
    name = SETTINGS[0].name
    rows = summarise({(name, rival.name): runs(0.999, 0.01) for rival in (OURS, OUE, KEYS)})
    winners, rest = written(rows)
    assert "| 1 | OpenDP: stable keys | it lists rarely | yes | 3 of 1,000 |  |" in rest
    assert (
        "| 2 | pure-LDP: OUE | its noise is secret | **no** | 50 of 50 values are the same | ue_client.py:54: `x` |" in rest
    )
    row = {rival: next(line for line in rest.splitlines() if rival.name in line) for rival in (OURS, OUE, KEYS)}
    assert row[OUE].endswith("| **broken** (2) |")
    assert row[KEYS].endswith("| kept |")
    assert row[OURS].endswith("| not checked |")
    assert "pure-LDP's OUE" not in winners


def test_a_winner_that_breaks_its_promise_is_marked():
    winners, _ = written(rows_of(runs(0.999, 0.02)))
    assert f"- {GIVEN}: pure-LDP's OUE\\* 0.9990\n" in winners
    winners, _ = written(rows_of(runs(0.999, 0.02)), findings=[KEPT])
    assert f"- {GIVEN}: pure-LDP's OUE 0.9990\n" in winners


def test_what_did_not_install_is_shown_with_its_error():
    rows = rows_of(runs(0.98, 0.02))
    _, rest = written(rows, failures=[Failure("environment google", "no solution found")])
    assert "- environment google: `no solution found`" in rest
    assert "Every environment installed" not in rest
    assert "Every environment installed" in written(rows)[1]


@pytest.mark.slow
def test_the_figure_names_every_row():
    svg = draw(rows_of(runs(0.98, 0.02)))
    assert OURS.name in svg
    assert OUE.name in svg
