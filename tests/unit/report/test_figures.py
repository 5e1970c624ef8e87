from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from blender_dp.evaluation.reproduction.figure import Figure, TableFigure, Tabulated, Verdict
from blender_dp.evaluation.reproduction.finished import Finished
from blender_dp.evaluation.reproduction.run import catalogue, finished
from blender_dp.report.figure_files import write_figures
from blender_dp.report.figures import chart_of, page_of
from tests.unit.evaluation.reproduction.fakes import made_up

CURVES = {name: one for name, one in catalogue().items() if isinstance(one, Figure)}


@pytest.mark.parametrize("name", CURVES)
def test_every_panel_has_every_line(name):
    figure = CURVES[name]
    chart = chart_of(finished(figure, made_up(figure)))
    assert [panel["title"] for panel in chart["concat"]] == [panel.title for panel in figure.panels]
    for panel, drawn in zip(figure.panels, chart["concat"], strict=True):
        rows = drawn["data"]["values"]
        assert {row["line"] for row in rows} == {line.label for line in panel.lines}
        assert all(row["low"] <= row["y"] <= row["high"] for row in rows if row["low"] is not None)
        assert drawn["encoding"]["x"]["axis"]["title"]


def test_the_l1_of_a_short_list_is_left_out():
    figure = CURVES["figure-17"]
    chart = chart_of(finished(figure, made_up(figure, useless=True)))  # without any list
    assert [panel["title"].split()[0] for panel in chart["concat"]] == ["NDCG", "NDCG"]


def test_the_page_says_what_agrees_and_what_differs_and_escapes_everything():
    table = pa.table({"log": ["AOL"], "printed": [1234567], "here": ["<b>"]})
    figure = TableFigure("figure-8", "a <title>", "the journal paper", lambda *_: Tabulated(table, []))
    checked = [
        ("users <&>", "Figure 8", Verdict(True, "519,371 users", "never shown")),
        ("queries", "Figure 8", Verdict(False, "fewer", "One record per user.")),
    ]
    page = page_of([Finished(figure, table, checked, seeds=7, population="Synthetic <users>.")])
    assert "a &lt;title&gt;" in page
    agrees, differs = page.split("Differs from the papers")
    assert "users &lt;&amp;&gt;" in agrees
    assert "never shown" not in page
    assert "One record per user." in differs
    assert "7 seeds" in page
    assert "Synthetic &lt;users&gt;." in page
    assert '<td>1,234,567</td><td class="left">&lt;b&gt;</td>' in page
    assert "not private" not in page
    assert not re.search(r"<script|src=|href=\"http", page)


def test_small_tables_are_drawn_cell_by_cell():
    chart = chart_of(Finished(catalogue()["figure-8"], pa.table({"log": ["AOL"], "printed": [1234567]}), []))
    assert [cell["text"] for cell in chart["data"]["values"]] == ["AOL", "1,234,567"]


@pytest.mark.slow
def test_every_figure_gets_its_files(tmp_path):
    figure = CURVES["figure-12"]
    (tmp_path / ".cells").mkdir()
    made = [finished(figure, made_up(figure))]
    files = write_figures(made, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "index.html", "figure-12.csv", "figure-12.parquet", "figure-12.svg", "figure-12.png", "figure-12.json",
    }  # fmt: skip
    page = files["page"].read_text()
    assert "local hashing by everyone" in page
    assert page.count("<svg") == 2  # one panel, for a wide window and for a phone


@pytest.mark.slow
def test_the_page_keeps_the_figures_of_earlier_runs(tmp_path):
    first, second = CURVES["figure-19"], CURVES["figure-18"]
    write_figures([replace(finished(first, made_up(first)), seeds=3, population="a.csv", is_private=True)], tmp_path)
    page = write_figures([replace(finished(second, made_up(second)), seeds=5)], tmp_path)["page"].read_text()
    assert page.index('id="figure-18"') < page.index('id="figure-19"')
    assert "3 seeds · a.csv" in page
    assert "5 seeds" in page
    assert "do not publish them" in page
    (tmp_path / "figure-19.json").write_text("{}")
    page = write_figures([finished(second, made_up(second))], tmp_path)["page"].read_text()
    assert 'id="figure-19"' not in page
