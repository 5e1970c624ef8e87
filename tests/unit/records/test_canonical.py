from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.records.canonical import (
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


def test_the_tracking_parameters_are_the_specifications():
    assert list(TRACKING_PREFIXES) == VECTORS["tracking_prefixes"]
    assert sorted(TRACKING_NAMES) == VECTORS["tracking_names"]


@given(st.text())
def test_a_canonical_query_stays_as_it_is(text):
    form = canonical_query(text)
    assert canonical_query(form) == form
    assert form == form.strip()
    form.encode()  # no lone surrogates: it must fit a file


@given(st.one_of(st.text(), URL_LIKE, URL_LIKE.map(lambda t: f"http://{t}"), URL_LIKE.map(lambda t: f"HTTPS://A.b/{t}")))
def test_a_canonical_url_stays_as_it_is(text):
    form = canonical_url(text)
    assert canonical_url(form) == form
    form.encode()


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_spaces_do_not_matter(text):
    assert canonical_query(f"  {text.upper()}  ") == canonical_query(text.lower())
