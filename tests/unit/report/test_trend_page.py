from __future__ import annotations

import re
from dataclasses import replace

import pytest

from blender_dp import Blender, Entropy, Release
from blender_dp.release.series import trends_over
from blender_dp.report import render_trends

pytestmark = pytest.mark.slow  # makes three releases

EVIL = '<script>document.title="pwned"</script>'
POPULAR = {"weather": 0.3, "news": 0.2, "maps": 0.1, EVIL: 0.05}


def released(month: int, popular: dict[str, float], epsilon: int = 4) -> Release:
    """A release of queries with these shares; everyone else has a query of their own."""
    common = [query for query, share in popular.items() for _ in range(round(4000 * share))]
    queries = [*common, *(f"own {i}" for i in range(len(common), 4000))]
    rows = [(str(i), query, "https://x.example/") for i, query in enumerate(queries)]
    opt_in, clients = rows[::4], [row for i, row in enumerate(rows) if i % 4]
    return Blender(epsilon=epsilon, delta=1e-5).run(opt_in, clients, key=b"k", entropy=Entropy.seeded(month))


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    months = {"May": POPULAR, "June": POPULAR, "July": POPULAR | {"news": 0.4}}
    return {name: released(number, popular) for number, (name, popular) in enumerate(months.items())}


def rendered(releases: dict[str, Release]) -> str:
    trends = trends_over(list(releases.values()), list(releases))
    return render_trends(list(releases.values()), trends, draw=lambda chart: f"<svg>{chart['width']}</svg>")


@pytest.fixture(scope="module")
def page(releases) -> str:
    return rendered(releases)


def test_the_page_begins_with_the_promise_and_the_total_of_all_releases(page, releases):
    assert page.index("Privacy promise") < page.index("What changed") < page.index("<svg")
    text = " ".join(page.split())
    assert "All 3 releases together: someone who participated in every one" in text
    assert "at most ε = 12 and δ = 3e-05." in text


def test_a_common_promise_is_stated_once_without_the_sizes_of_the_groups(page):
    assert "<h2>Privacy promise of each release</h2>" in page
    assert page.count("(e^4)") == 2
    assert "Opt-in users: changing one person&#39;s data" in page
    assert page.count("That is the release with the most discovery users.") == 1


def test_every_different_promise_is_stated_with_its_releases(releases):
    """Only the promise of the last release used to be stated, as if it held for all of them."""
    weak = {"August": released(8, POPULAR, 8), "September": released(9, POPULAR, 8)}
    page = rendered({**releases, **weak, "October": released(10, POPULAR)})
    promise = " ".join(page[page.index('class="promise"') : page.index("What changed")].split())
    assert "<h2>Privacy promises: the releases differ</h2>" in promise
    assert re.findall("<h3>(.*?)</h3>", promise) == ["May to July, October", "August, September", "Together"]
    assert (promise.count("(e^4)"), promise.count("(e^8)")) == (2, 2)
    assert "ε = 32 and" in promise


def test_releases_without_queries_are_explained(releases):
    release = releases["May"]
    nothing = replace(release.reporting_list, head_list=release.head_list.restrict([]))
    empty = replace(release, reporting_list=nothing, queries=release.queries[-1:], records=())
    page = rendered({"May": empty, "June": empty})
    assert "No release lists a query." in page
    assert "What would help" in page
    assert "<table" not in page
    assert "No query changed" not in page


def test_changes_are_named_with_both_shares(page):
    assert "What changed from June to July" in page
    rows = re.findall(r'<td class="name">(.*?)</td>\s*<td class="left">(.*?)</td>', page)
    assert ("news", "risen") in rows
    assert not [query for query, _ in rows if query == "maps"]


def test_there_is_a_chart_for_every_listed_query_and_text_is_escaped(page):
    assert page.count("<svg>") == 4
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_page_says_when_nothing_changed(releases):
    same = {name: releases[name] for name in ("May", "June")}
    assert "No query changed by more than noise explains." in rendered(same)


def test_one_seeded_release_marks_the_page(page, releases):
    assert "Not private." in page
    honest = {name: replace(one, manifest=replace(one.manifest, randomness="system")) for name, one in releases.items()}
    assert "Not private." not in rendered(honest)
    assert "Not private." in rendered({**honest, "July": releases["July"]})


def test_one_release_has_a_page_without_changes(releases):
    page = rendered({"May": releases["May"]})
    assert "Privacy promise" in page
    assert "What changed" not in page
    assert "releases together" not in page
    assert "One release, May." in page
    assert "to May" not in page


def test_a_change_of_nearly_0_has_no_negative_sign(releases):
    trends = trends_over([releases["May"], releases["June"]], ["May", "June"])
    tiny = replace(trends.series[0], change=-1e-6, change_low=-2e-6, change_high=-1e-7)
    page = render_trends([releases["May"], releases["June"]], replace(trends, series=(tiny,)), draw=lambda _: "<svg></svg>")
    assert "+0.0000 to +0.0000" in page
    assert "-0.0000" not in page


def test_long_names_of_queries_and_releases_are_shortened(releases):
    query, name = "q" * 5000, "n" * 130
    page = rendered({name: releases["May"], "July": released(9, POPULAR | {query: 0.2})})
    assert f'<figcaption class="name"><span title="{query}">{"q" * 59}…</span></figcaption>' in page
    assert f'change since <span title="{name}">{"n" * 23}…</span>' in page
    assert not re.findall("q{60}|n{60}", re.sub(' title="[^"]*"', "", page))
