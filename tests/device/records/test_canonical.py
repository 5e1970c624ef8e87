from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp_device.records import canonical
from blender_dp_device.records.canonical import (
    CANONICAL_VERSION,
    TRACKING_NAMES,
    TRACKING_PREFIXES,
    canonical_query,
    canonical_record,
    canonical_url,
)
from tests.conftest import ROOT

VECTORS = json.loads((ROOT / "spec/vectors/canonical.json").read_text(encoding="utf-8"))
URL_LIKE = st.text(alphabet="abcXYZ019:/?#[]@!$&'()*+,;=%._~- \u00df\u0130\u200d\u0301\ufb01", max_size=40)


def test_the_vectors_are_of_this_version():
    assert VECTORS["canonical_version"] == CANONICAL_VERSION


@pytest.mark.parametrize(("text", "expected"), VECTORS["queries"])
def test_queries(text, expected):
    assert canonical_query(text) == expected


@pytest.mark.parametrize(("text", "expected"), VECTORS["urls"])
def test_urls(text, expected):
    assert canonical_url(text) == expected


@pytest.mark.parametrize(("query", "url", "expected"), VECTORS["records"])
def test_records(query, url, expected):
    assert list(canonical_record(query, url)) == expected


@pytest.mark.parametrize("url", [None, "", "https://x.example/"])
def test_with_one_level_the_query_is_the_record(url):
    assert canonical_record("  Google ", url, levels=1) == ("google", None)
    assert canonical_record(" ", url, levels=1) == canonical_record(None, url, levels=1) == (None, None)


def test_the_tracking_parameters_match_the_specification():
    assert list(TRACKING_PREFIXES) == VECTORS["tracking_prefixes"]
    assert sorted(TRACKING_NAMES) == VECTORS["tracking_names"]


@given(st.text())
def test_a_canonical_query_does_not_change(text):
    form = canonical_query(text)
    assert canonical_query(form) == form
    assert form == form.strip()
    form.encode()  # no lone surrogates: it must fit a file


@given(st.one_of(st.text(), URL_LIKE, URL_LIKE.map(lambda t: f"http://{t}"), URL_LIKE.map(lambda t: f"HTTPS://A.b/{t}")))
def test_a_canonical_url_does_not_change(text):
    form = canonical_url(text)
    assert canonical_url(form) == form
    form.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example/" + "%3" * 500 + "4", "https://a.example/4"),
        ("https://a.example/?q=" + "%3" * 500 + "4\u0300", "https://a.example/?q=4\u0300"),
        ("https://a.example/" + "%" * 500 + "33" * 500, None),
        ("https://a.example" + "." * 500, "https://a.example/"),
        ("https://a.example" + ".:443:" * 500, "https://a.example/"),
        ("https://a.example/%4%4%31\u0300", "https://a.example/%4\u00c0"),  # the letter is composed before it is a digit
    ],
)
def test_a_url_that_resolves_link_by_link_takes_few_steps(monkeypatch, text, expected):
    """Otherwise one record would take seconds, which others could observe."""
    steps = []
    step = canonical._url_step
    monkeypatch.setattr(canonical, "_url_step", lambda given: steps.append(given) or step(given))
    form = canonical_url(text)
    assert expected in {form, None}
    assert len(steps) <= 6


@given(st.text(alphabet="%%%3456712eEaA\u0301", max_size=30))
def test_nested_escapes_resolve_as_if_link_by_link(text):
    def link_by_link(given: str) -> str:
        return canonical._ESCAPE.sub(canonical._shortest_escape, given)

    def settled(step, given: str) -> str:
        return canonical._settled(lambda one: step(unicodedata.normalize("NFKC", one)), given)

    assert settled(canonical._shortest_escapes, text) == settled(link_by_link, text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_spaces_do_not_matter(text):
    assert canonical_query(f"  {text.upper()}  ") == canonical_query(text.lower())
