"""The papers' figures as values: what they need, what they show, what they check."""

from __future__ import annotations

import pytest

from blender_dp import ParameterError
from blender_dp.evaluation.reproduction.figure import Figure
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


def test_a_list_that_is_full_earlier_than_printed_differs():
    figure = catalogue()["figure-13"]
    verdict = figure.claims[0].check(made_up(figure))  # every list is full
    assert not verdict.agrees
    assert verdict.measured == "from 1 % on in profile paper"
