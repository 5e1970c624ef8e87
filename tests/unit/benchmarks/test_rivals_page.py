"""The page that compares us with rivals says where they win, and shows the evidence, whatever the results are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.peers.evidence import LOSS, NOISE, OTHER
from benchmarks.rivals import page
from benchmarks.rivals.comparison import PAGE
from benchmarks.rivals.figure import draw
from benchmarks.rivals.promises import Answer, Finding, answer, sorted_findings
from benchmarks.rivals.runs import Failure, Outcome
from benchmarks.rivals.scores import Scores
from benchmarks.rivals.settings import GIVEN, OURS, RIVALS, SETTINGS
from benchmarks.rivals.summary import closest, mean_of, ratio, summarise, wins

MACHINE = {"python": "3.11", "cores": 2, "processor": "a processor"}
OUE = next(rival for rival in RIVALS if rival.name == "pure-LDP, OUE")
KEYS = next(rival for rival in RIVALS if rival.name == "OpenDP, stable keys")
HERE, THERE = (setting.promise for setting in SETTINGS)
KEPT = Finding("OpenDP", ("stable keys",), LOSS, "it lists rarely", HERE, True, "3 of 1,000", "")
EXACT = Finding("pure-LDP", ("OUE",), LOSS, "its ε is right", HERE, True, "ε ≥ 3.9", "")
BROKEN = Finding(
    "pure-LDP", ("OUE",), NOISE, "its noise is secret", None, False, "50 of 50 are the same", "ue_client.py:54: `x`"
)


def runs(ndcg, query_l1, spread=0.0001, **costs):
    """Two runs whose means are these."""
    return runs_with([(ndcg + sign * spread, query_l1 + sign * spread) for sign in (-1, 1)], **costs)


def runs_with(scores, **costs):
    """A run on every population, with these values of NDCG and query L1."""
    values = {"rows": 1000, "seconds": 1.0, "report_bytes": 16.0, "peak_bytes": 10**8, **costs}
    return [Outcome(seed, Scores(ndcg, query_l1, 40), **values) for seed, (ndcg, query_l1) in enumerate(scores)]


def rows_of(theirs, rival=OUE, own=None):
    name = SETTINGS[0].name
    return summarise({(name, OURS.name): own or runs(0.99, 0.01), (name, rival.name): theirs})


def written(rows, findings=(KEPT, EXACT, BROKEN), failures=(), days=("2026-01-02",)):
    text = page.written(rows, page.Evidence(findings, failures, days), MACHINE)
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


def test_populations_that_are_hard_for_everyone_do_not_hide_a_difference():
    """The populations are the same for everyone, so only the differences between methods matter."""
    hard, easy = (0.90, 0.05), (0.99, 0.01)
    own = runs_with([hard, easy, hard])
    better = [(ndcg + 0.001 + 0.0001 * i, l1) for i, (ndcg, l1) in enumerate([hard, easy, hard])]
    assert [win.measure.name for win in wins(rows_of(runs_with(better), own=own))] == ["NDCG"]
    # The same values for other populations: the differences are 0.091, -0.0889 and 0.0012.
    assert list(wins(rows_of(runs_with([better[1], better[0], better[2]]), own=own))) == []


def test_three_populations_need_a_larger_difference_than_two_standard_errors():
    """Student's t for 3 populations is 4.3: the differences below are 3 standard errors from zero."""
    values = [0.99 + difference for difference in (0.0005, 0.0010, 0.0015 + 0.0000)]
    assert mean_of([v - 0.99 for v in values]).margin == pytest.approx(4.302653 * 0.0005 / 3**0.5)
    three = runs_with([(v, 0.01) for v in values])
    own = runs_with([(0.99, 0.01)] * 8)
    assert list(wins(rows_of(three, own=own))) == []
    eight = runs_with([(0.99 + difference, 0.01) for difference in (0.0005, 0.0010, 0.0015) * 2 + (0.0005, 0.0015)])
    assert [win.measure.name for win in wins(rows_of(eight, own=own))] == ["NDCG"]


def test_only_populations_that_both_have_are_compared():
    own = runs_with([(0.90, 0.05), (0.90, 0.05), (0.99, 0.01), (0.99, 0.01)])
    theirs = runs_with([(0.905, 0.06), (0.9051, 0.0601)])
    rows = rows_of(theirs, own=own)
    assert [win.measure.name for win in wins(rows)] == ["NDCG"]
    assert ratio(closest(rows, SETTINGS[0])) == pytest.approx(0.10 / 0.1201)
    assert list(wins(rows_of(theirs[:1], own=own))) == []  # one difference says nothing


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((0.001, 0.0011, 0.0012), "that is worse by more than chance"),
        ((-0.001, -0.0011, -0.0012), "that is better by more than chance"),
        ((0.001, -0.0011, 0.0012), "the difference may be chance"),
    ],
)
def test_the_page_says_how_sure_the_order_of_the_smallest_errors_is(differences, verdict):
    own = runs_with([(0.99, 0.01), (0.99, 0.02), (0.99, 0.03)])
    theirs = runs_with([(0.98, 0.01 * (i + 1) + difference) for i, difference in enumerate(differences)])
    winners, rest = written(rows_of(theirs, own=own))
    line = next(line for line in winners.splitlines() if "the smallest query L1" in line)
    assert OUE.name in line
    assert "3 populations" in line
    assert line.endswith(verdict)
    assert "Student's t distribution" in rest


def test_a_given_list_is_not_a_discovery():
    name = SETTINGS[0].name
    full = [replace(run, scores=replace(run.scores, found=50)) for run in runs(0.98, 0.02)]
    rows = summarise({(name, OURS.name): runs(0.99, 0.01), (name, OUE.name): full, (name, KEYS.name): full})
    assert OUE.trust == GIVEN
    assert [(win.row.rival, win.measure.name) for win in wins(rows)] == [(KEYS, "queries found")]
    _, rest = written(rows)
    assert "| given |" in next(line for line in rest.splitlines() if line.startswith(f"| {OUE.name}"))


def test_every_claim_has_its_evidence_and_every_row_names_its_claims():
    name = SETTINGS[0].name
    rows = summarise({(name, rival.name): runs(0.999, 0.01) for rival in (OURS, OUE, KEYS)})
    winners, rest = written(rows)
    assert "| 1 | OpenDP: stable keys | ε = 4, δ = 1e-05 | it lists rarely | yes | 3 of 1,000 |  |" in rest
    assert (
        "| 3 | pure-LDP: OUE | any | its noise is secret | **no** | 50 of 50 are the same | ue_client.py:54: `x` |" in rest
    )
    row = {rival: next(line for line in rest.splitlines() if rival.name in line) for rival in (OURS, OUE, KEYS)}
    assert row[OUE].endswith("| yes (2) | **no** (3) |")  # exact probabilities, and noise that can be predicted
    assert row[KEYS].endswith("| yes (1) | not checked |")
    assert row[OURS].endswith("| not checked | not checked |")
    assert "pure-LDP's OUE" not in winners


def test_evidence_for_another_method_or_setting_is_none():
    def answers(finding, promise=LOSS):
        return [answer(promise, rival, setting, [finding]).kept for rival in (OUE, KEYS) for setting in SETTINGS]

    assert answers(EXACT) == [True, None, None, None]
    assert answers(replace(EXACT, methods=("OLH",))) == [None] * 4
    assert answers(replace(EXACT, setting=THERE, holds=False)) == [None, False, None, None]
    assert answers(replace(EXACT, setting=None)) == [None] * 4  # such as: no floating-point noise
    assert answers(BROKEN, NOISE) == [False, False, None, None]


def test_a_claim_that_no_row_depends_on_breaks_nothing_but_is_mentioned():
    other = Finding("pure-LDP", ("OUE",), OTHER, "it states its ε", None, False, "it does not", "")
    assert answer(LOSS, OUE, SETTINGS[0], [EXACT, other]) == Answer(True, (1,), (2,))
    _, rest = written(rows_of(runs(0.98, 0.02)), findings=[EXACT, other])
    assert next(line for line in rest.splitlines() if OUE.name in line).endswith("| yes (1; see also 2) | not checked |")
    assert "### What else we found" in rest


def test_claims_are_sorted_by_promise_and_setting():
    there = replace(KEPT, setting=THERE)
    assert sorted_findings([BROKEN, there, KEPT, EXACT]) == [KEPT, EXACT, there, BROKEN]


@pytest.mark.parametrize(
    ("findings", "marks"),
    [
        ([EXACT, BROKEN], "\\*"),
        ([replace(EXACT, holds=False)], "†"),
        ([replace(EXACT, holds=False), BROKEN], "†\\*"),
        ([EXACT], ""),
    ],
)
def test_a_winner_that_breaks_a_promise_is_marked_with_the_one_it_breaks(findings, marks):
    winners, _ = written(rows_of(runs(0.999, 0.02)), findings=findings)
    assert f"- {GIVEN}: pure-LDP's OUE{marks} 0.9990\n" in winners


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (["2026-01-02"], "measured 2026-01-02. An"),
        (["2026-01-02", "2026-02-03"], "measured between 2026-01-02 and 2026-02-03."),
    ],
)
def test_the_page_says_when_its_figures_were_measured(days, text):
    assert text in written(rows_of(runs(0.98, 0.02)), days=days)[1]


def test_every_row_of_the_committed_page_has_evidence_for_both_promises():
    table = PAGE.read_text(encoding="utf-8").partition("## Results")[2].partition("## Which promises")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("|")]
    names = [row[0].strip("|* ") for row in rows]
    assert all(names.count(rival.name) == len(SETTINGS) for rival in RIVALS)
    cells = [
        cell for name, row in zip(names, rows, strict=True) if name in {rival.name for rival in RIVALS} for cell in row[-2:]
    ]
    assert [cell for cell in cells if not cell.startswith(("yes (", "**no** ("))] == []


def test_every_method_whose_noise_can_be_seeded_is_cited_with_its_own_line():
    claims = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "cannot be reproduced | **no**" in line]
    local = [line for line in claims if "-LDP:" in line or "-ldpy:" in line]
    assert len(local) == sum(rival.environment == "local" for rival in RIVALS)
    assert len({line.split(" | ")[-1] for line in local}) == len(local)


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
