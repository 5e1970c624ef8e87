from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from blender_dp import Release

EVIL = '<img src=x onerror="alert(1)">&amp;'


@pytest.fixture
def release() -> Release:
    """A release with URLs."""
    return Release.load(Path(__file__).with_name("data") / "release-1.json")


def changed(release: Release, query: str) -> Release:
    """The same release with another name for its first query."""
    first, *others = release.queries
    return dataclasses.replace(release, queries=(dataclasses.replace(first, query=query), *others))


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, _):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data} "


def test_the_text_is_one_short_line_with_the_promise_and_the_groups(release, item_release):
    for one in (release, item_release):
        text = repr(one)
        assert "\n" not in text
        assert len(text) < 150
        assert text.startswith(f"Release({len(one.head_list)} queries")
        assert all(f"{group.users:,} {group.group}" in text for group in one.manifest.groups)
        assert ("not private" in text) == one.manifest.is_seeded
    assert "ε = 2.5, δ = 0.0001" in repr(release)
    assert f"with {sum(1 for _ in release.head_list.records())} URLs" in repr(release)
    assert "URLs" not in repr(item_release)


def test_the_html_shows_the_top_of_the_list_and_loads_nothing(release):
    page = Page(release._repr_html_())
    assert page.open == []
    assert set(page.tags) <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert page.tags.count("tr") == 1 + min(10, len(release.head_list))
    for row in release.trends(10):
        assert row.query in page.text
        assert f"{row.share:.4f}" in page.text
    assert len(release._repr_html_()) < 8000


def test_people_s_text_is_escaped(release):
    shown = changed(release, EVIL)._repr_html_()
    assert "<img" not in shown
    assert EVIL in Page(shown).text


def test_colours_are_inherited_so_that_both_themes_are_readable(release):
    colours = re.findall(r"(?<![-\w])(?:color|background): ([^;\"]+)", release._repr_html_())
    assert set(colours) <= {"inherit", "none", "currentColor"}


def test_a_seeded_release_is_marked_and_an_empty_one_has_a_table(release):
    seeded = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, randomness="insecure: seeded"))
    honest = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, randomness="system"))
    assert "Not private." in seeded._repr_html_()
    assert "Not private." not in honest._repr_html_()
    assert "<table" in dataclasses.replace(release, queries=release.queries[-1:])._repr_html_()


def test_a_long_query_is_shortened_and_a_narrow_notebook_scrolls(release):
    query = "q" * 5000
    page = changed(release, query)._repr_html_()
    assert page.startswith('<div style="overflow-x: auto">')
    assert f'title="{query}"' in page
    assert query not in Page(page).text
    assert "q" * 59 + "…" in Page(page).text
    assert page.count("title=") == 1
