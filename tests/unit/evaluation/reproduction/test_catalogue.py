"""The papers' figures as values: what they need, what they show, what they check."""

from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp import ParameterError
from blender_dp.evaluation.reproduction.data import description, logs
from blender_dp.evaluation.reproduction.figure import Figure
from blender_dp.evaluation.reproduction.results import Results
from blender_dp.evaluation.reproduction.run import catalogue, chosen, reproduce
from blender_dp.evaluation.sources import PopulationSource
from tests.unit.evaluation.reproduction.fakes import made_up

NAMES = [
    "figure-8", "figure-9", "figure-10", "figure-11", "figure-12", "figure-13", "figure-14", "figure-15", "figure-16",
    "figure-17", "figure-18", "figure-19", "usenix-figure-9", "usenix-figure-15", "usenix-figure-16",
]  # fmt: skip


def test_every_figure_has_a_name_a_title_and_a_source():
    known = catalogue()
    assert list(known) == NAMES
    assert all(one.title and "paper" in one.source for one in known.values())


def test_figures_are_chosen_by_name_once():
    assert [one.name for one in chosen(["figure-12", "figure-8", "figure-12"])] == ["figure-12", "figure-8"]
    assert [one.name for one in chosen(["all"])] == NAMES
    with pytest.raises(ParameterError, match="figure-7"):
        chosen(["figure-7"])


def test_settings_use_the_papers_parameters():
    figure = catalogue()["figure-14"]
    assert isinstance(figure, Figure)
    by_source = {setting.source.name: setting for setting in figure.settings}
    assert float(by_source["aol"].opt_in) == 0.05
    assert float(by_source["yandex"].opt_in) == 0.03
    assert float(by_source["yandex"].parameters.delta) == 1e-7
    assert {setting.profile for setting in figure.settings} == {"paper", "tight"}
    usenix = catalogue()["usenix-figure-15"]
    assert {float(one.opt_in) for one in usenix.settings if one.source.name == "yandex"} == {0.025}


def test_a_log_replaces_the_shape_that_it_is_like(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("user,query,url\n1,a,https://b.example/\n")
    figures = catalogue(PopulationSource(str(log))).values()
    assert {setting.source.name for one in figures if isinstance(one, Figure) for setting in one.settings} == {str(log)}
    aol = tmp_path / "user-ct-test-collection-01.txt"
    aol.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\ta\t2006-03-01 00:00:00\t1\thttp://b.example\n")
    figures = catalogue(PopulationSource(str(aol))).values()
    sources = {setting.source.name for one in figures if isinstance(one, Figure) for setting in one.settings}
    assert sources == {str(aol), "yandex"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in catalogue().items() if isinstance(one, Figure)])
def test_claims_are_decided_by_the_results(name):
    """With perfect results nothing about quality differs, and with useless ones nothing agrees."""
    figure = catalogue()[name]
    good, bad = ([claim.check(made_up(figure, useless=useless)) for claim in figure.claims] for useless in (False, True))
    assert all(verdict.measured for verdict in (*good, *bad))
    assert any(verdict.agrees for verdict in good)
    assert all(not verdict.agrees for verdict in bad), [verdict for verdict in bad if verdict.agrees]
    assert all(verdict.why for verdict in bad)


def test_defaults_are_compared_with_what_is_run():
    (finished,) = reproduce(chosen(["figure-11"]), 1)
    assert finished.table.num_rows == 16
    assert [verdict.agrees for _, _, verdict in finished.checked] == [True, True]


@pytest.mark.parametrize("name", [name for name, one in catalogue().items() if isinstance(one, Figure)])
def test_nothing_agrees_because_the_lists_are_empty(name):
    """Errors and rankings of empty lists decide nothing, however good they look."""
    figure = catalogue()[name]
    good = made_up(figure)
    empty = Results({key: [{**row, "listed": 0} for row in rows] for key, rows in good.rows.items()}, good.rivals)
    of_lists = [claim for claim in figure.claims if "NDCG" not in claim.text]
    assert not [claim.text for claim in of_lists if claim.check(empty).agrees]


def test_a_list_is_long_enough_from_where_it_is_full():
    """Full lists on AOL from 8 % on, on Yandex always."""
    figure = catalogue()["figure-13"]
    results = made_up(figure)
    for setting in figure.settings:
        if setting.source.name == "aol" and setting.opt_in < Fraction("0.08"):
            for row in results.rows[setting.name, "blended"]:
                row["listed"] = 40
    verdicts = {claim.text: claim.check(results) for claim in figure.claims}
    begins = verdicts["on AOL the line of 50 queries begins at 5 % (here: at most half a point earlier or later)"]
    assert (begins.agrees, begins.measured) == (False, "from 8 % on in profile paper")
    suffices = verdicts["on Yandex 3 % suffice for 500 queries"]
    assert (suffices.agrees, suffices.measured) == (True, "from 1 % on in profile paper")


def test_a_peak_is_elsewhere_only_if_it_is_higher_by_more_than_chance():
    figure = catalogue()["figure-10"]
    (claim,) = [one for one in figure.claims if "peaks" in one.text]
    for gain, agrees in ((0.0, True), (0.001, True), (0.02, False)):
        results = made_up(figure, seeds=4)
        for setting in figure.settings:
            for seed, row in enumerate(results.rows[setting.name, "client"]):
                row["ndcg"] = 0.9 + (0.002 * (-1) ** seed + gain if setting.parameters.f_c == Fraction("0.6") else 0.0)
        assert claim.check(results).agrees == agrees, gain


def test_the_reason_names_the_population_of_the_setting(tmp_path):
    aol = tmp_path / "user-ct-test-collection-01.txt"
    aol.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\ta\t2006-03-01 00:00:00\t1\thttp://b.example\n")
    figure = catalogue(PopulationSource(str(aol)))["figure-13"]
    verdicts = {claim.text: claim.check(made_up(figure, useless=True)) for claim in figure.claims}
    assert "synthetic" in verdicts["on Yandex 3 % suffice for 500 queries"].why
    assert "the log that was passed" in verdicts["on AOL the L1 of 50 queries stays below 0.016"].why
    assert description(logs(PopulationSource(str(aol)))) == (
        f"AOL: {aol}; Yandex: a synthetic population with the log's size and top shares."
    )


def test_a_list_that_is_full_earlier_than_printed_differs():
    figure = catalogue()["figure-13"]
    verdict = figure.claims[0].check(made_up(figure))  # every list is full
    assert not verdict.agrees
    assert verdict.measured == "from 1 % on in profile paper"
