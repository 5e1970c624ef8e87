from __future__ import annotations

import dataclasses
import re

import pytest

from blender_dp import Blender, Entropy, Truth, aol_like, score
from blender_dp.report import render
from tests.items import population

pytestmark = pytest.mark.slow  # a whole page with its charts for every test

EVIL = '<script>document.title="pwned"</script>'
POPULATION = aol_like(2, users=60_000)


@pytest.fixture(scope="module")
def release():
    return Blender(epsilon=4, delta=1e-5, max_queries=10).run_log(POPULATION, 0.3, key=b"k", entropy=Entropy.seeded(1))


def test_the_page_loads_no_external_resources(release):
    page = render(release)
    assert not re.findall(r"<(?:script|link|img|iframe)\b", page)
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page.replace("http://www.w3.org/", ""))
    assert "default-src 'none'" in page
    assert "font-src data:" in page
    assert page.count("@font-face") == 2


def test_truth_and_scores_are_shown_only_where_known(release):
    truth = Truth.of(POPULATION)
    bare, full = render(release), render(release, truth, score(release, truth))
    assert bare.count("<svg") == 4  # two charts, each for a wide window and for a phone
    assert full.count("<svg") == 6
    assert "Estimate against truth" not in bare
    assert "NDCG" in full


def test_the_promise_comes_first(release):
    page = render(release)
    promise, *others = (page.index(text) for text in ("Privacy promise", 'class="facts"', "<svg", "<table"))
    assert promise < min(others)
    assert page.index("Not private.") < promise


def test_user_input_is_escaped(release):
    queries = tuple(dataclasses.replace(row, query=EVIL if row.query == "google" else row.query) for row in release.queries)
    records = tuple(dataclasses.replace(row, query=EVIL if row.query == "google" else row.query) for row in release.records)
    page = render(dataclasses.replace(release, queries=queries, records=records))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_page_says_whether_the_groups_agree(release):
    page = render(release)
    report = release.disagreement()
    assert "Do the groups agree?" in page
    assert f"χ² = {report.chi_square:.1f}" in page
    assert f"{report.degrees} degrees of freedom" in page
    assert f"{report.p_value:.2g}" in page
    assert "No single query differs by more than chance explains." in page


def test_differences_are_named_and_escaped(release):
    """The opt-in users' share of one query, which contains malicious markup, is 9 standard errors off."""

    def hostile(row):
        return dataclasses.replace(
            row, query=EVIL, opt_in_share=row.client_share + 9 * (row.opt_in_variance + row.client_variance) ** 0.5
        )

    queries = tuple(hostile(row) if row.query == "google" else row for row in release.queries)
    records = tuple(dataclasses.replace(row, query=EVIL if row.query == "google" else row.query) for row in release.records)
    page = " ".join(render(dataclasses.replace(release, queries=queries, records=records)).split())
    assert "These queries differ by more than chance explains: &lt;script&gt;" in page
    assert "(+9.0 standard errors)" in page
    assert "<script" not in page
    assert "No single query differs" not in page


def test_single_items_have_no_urls_on_the_page(release, item_release):
    truth = Truth.of(population(1))
    page, usual = (render(r, truth, score(r, truth)) for r in (item_release, release))
    for text in ("best URLs", "and URLs", "records listed", "record L1"):
        assert text in usual
        assert text not in page
    assert "⋆" not in page
    assert '<td class="name">calculator</td>' in page
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        widths = {len(re.findall(r"<t[hd]\b", row)) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)}
        assert len(widths) == 1


def test_a_seeded_release_is_marked_and_a_real_one_is_not(release):
    assert "Not private." in render(release)
    honest = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, randomness="system"))
    assert "Not private." not in render(honest)


def test_an_empty_release_has_a_page():
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    release = Blender(epsilon=4, delta=1e-5).run(rows[:300], rows[300:])
    assert "<h2>Trends</h2>" in render(release)


def test_a_long_query_and_a_long_url_are_shortened_and_complete_for_a_pointer(release):
    query, url = "q" * 5000, "https://x.example/" + "u" * 5000
    queries = tuple(dataclasses.replace(row, query=query if row.query == "google" else row.query) for row in release.queries)
    records = tuple(
        dataclasses.replace(row, query=query, url=row.url and url) if row.query == "google" else row
        for row in release.records
    )
    page = render(dataclasses.replace(release, queries=queries, records=records))
    body = page[page.index("The top of the list") :]
    assert f'<td class="name"><span title="{query}">{"q" * 59}…</span></td>' in body
    assert f'<span title="{url}">{url[:79]}…</span>' in body
    assert not re.findall("q{60}|u{80}", re.sub(' title="[^"]*"', "", page))
