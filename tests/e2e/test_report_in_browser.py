"""The pages in a real browser, on a phone and on a wide screen, in both themes: they render, fit, and load nothing."""

from __future__ import annotations

import dataclasses
import os
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, sync_playwright

from blender_dp import Blender, Entropy, Truth, aol_like, score
from blender_dp.evaluation.drift import collect_rounds, drift, head_of
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.run import catalogue, finished
from blender_dp.evaluation.shapes import shape_of
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.release.series import trends_over
from blender_dp.report import render, render_trends
from blender_dp.report.figures import page_of
from blender_dp.report.text import text_width
from blender_dp.report.theme import FONT
from tests.unit.evaluation.reproduction.fakes import made_up

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = '<img src="https://evil.example/x" onerror="document.title=\'pwned\'"> a very long query ' + "x" * 5000

if CHROMIUM is None and not os.environ.get("BLENDER_DP_NEEDS_BROWSER"):
    pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)", allow_module_level=True)

# Texts of visible charts that leave their chart, and pairs of them that overlap, each by more than a pixel.
CLIPPED = """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect()
  return [...svg.querySelectorAll('text')].filter(text => text.textContent && frame.width).filter(text => {
    const box = text.getBoundingClientRect()
    return box.left < frame.left - 1 || box.right > frame.right + 1 ||
      box.top < frame.top - 1 || box.bottom > frame.bottom + 1
  }).map(text => text.textContent)
})"""
OVERLAPPING = """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
  const shown = text => text.textContent && text.getAttribute('opacity') !== '0' && svg.getBoundingClientRect().width
  const texts = [...svg.querySelectorAll('text')].filter(shown)
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()])
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([_, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([other]) => [one, other]))
})"""
SET_FONT = "font => document.querySelectorAll('figure svg text').forEach(text => text.style.fontFamily = font)"
# Every visible text of a chart, its size and its width.
MEASURED = """() => [...document.querySelectorAll('figure svg text')]
  .filter(text => text.textContent && text.getBoundingClientRect().width)
  .map(text => [text.textContent, parseFloat(getComputedStyle(text).fontSize), text.getComputedTextLength()])"""

SIZES = [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    population = aol_like(2, users=60_000)
    truth = Truth.of(population)
    release = Blender(epsilon=4, delta=1e-5, max_queries=30).run_log(population, 0.3, key=b"k", entropy=Entropy.seeded(1))
    named = renamed(release)
    return written(tmp_path_factory, "report.html", render(named, truth, score(release, truth)))


@pytest.fixture(scope="module")
def trends(tmp_path_factory):
    population = head_of(Population.of_shape(shape_of("aol", 100_000)), 200)
    collection = Collection(Parameters(epsilon=4, delta="1e-6", max_queries=30))
    factors = drift(population.top_queries.size, 5, 0.3, 1)
    rounds = collect_rounds(collection, population, factors, users=60_000, opt_in=0.2, seed=3)
    names = ["a name that is rather long: " + "W" * 130, "February", "March", "April", "November 2026"]
    releases = [one.release for one in rounds]
    return written(tmp_path_factory, "trends.html", render_trends(releases, trends_over(releases, names)))


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    names = ("figure-12", "figure-13", "figure-17")  # two and three columns, and many lines
    made = [finished(catalogue()[name], made_up(catalogue()[name])) for name in names]
    return written(tmp_path_factory, "figures.html", page_of(made))


def renamed(release):
    """The release with queries that are hard to show."""
    names = {"google": EVIL, "yahoo": "www.a-site-with-a-rather-long-name.example", "ebay": "天気予報 明日の東京"}
    queries = tuple(dataclasses.replace(row, query=names.get(row.query, row.query)) for row in release.queries)
    records = tuple(dataclasses.replace(row, query=names.get(row.query, row.query)) for row in release.records)
    return dataclasses.replace(release, queries=queries, records=records)


def written(tmp_path_factory, name, text):
    path = tmp_path_factory.mktemp("pages") / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=SIZES, ids=str)
def page(request, report, browser):
    with opened(browser, report, *request.param) as shown:
        yield shown


@pytest.fixture(
    scope="module", params=[(name, *size) for name in ("report", "trends", "figures") for size in SIZES], ids=str
)
def any_page(request, browser):
    name, *size = request.param
    with opened(browser, request.getfixturevalue(name), *size) as shown:
        yield shown


@contextmanager
def opened(browser, path, width, scheme):
    shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    shown.requests = []
    shown.messages = []
    shown.on("request", lambda one: shown.requests.append(one.url))
    shown.on("console", lambda message: shown.messages.append(message.text))
    shown.on("pageerror", lambda error: shown.messages.append(str(error)))
    shown.goto(path.as_uri())
    yield shown
    shown.close()


def test_the_page_loads_nothing_and_logs_no_errors(any_page: Page):
    assert [url for url in any_page.requests if not url.startswith("file://")] == []
    assert any_page.messages == []


def test_plots_and_table_are_visible(page: Page):
    visible = [chart for chart in page.locator("figure svg").all() if chart.is_visible()]
    assert len(visible) == 3
    page_width = page.locator("figure").first.bounding_box()["width"]
    for chart in visible:
        box = chart.bounding_box()
        assert box["width"] == pytest.approx(page_width, abs=1)
        assert box["height"] > 200
    assert page.get_by_role("heading", name="Estimate against truth").is_visible()
    assert page.locator("tbody tr").count() >= 20
    assert page.locator("td", has_text="yahoo.com").first.is_visible()


def test_the_promise_is_above_the_charts_and_tables(page: Page):
    promise = page.locator(".promise").bounding_box()
    assert promise["y"] + promise["height"] < page.locator(".facts").bounding_box()["y"]
    assert promise["y"] < 900


def test_error_bars_and_points_are_drawn(page: Page):
    first = next(chart for chart in page.locator("figure svg").all() if chart.is_visible())
    assert first.locator("g.mark-rule line").count() >= 20
    assert first.locator("g.mark-symbol path").count() >= 60


def test_user_input_is_not_executed(page: Page):
    assert page.title().startswith("BLENDER release")
    assert page.locator("img").count() == 0
    assert page.locator("td", has_text="onerror").is_visible()


def test_long_queries_do_not_make_the_page_long(page: Page):
    assert page.locator(".list td.name").filter(has_text="onerror").bounding_box()["height"] < 150
    assert page.locator(".list td.urls").first.bounding_box()["width"] > 200


def test_the_page_never_scrolls_sideways(any_page: Page):
    wanted = any_page.viewport_size["width"]
    for width in (wanted, 700 if wanted == 1400 else 320):
        any_page.set_viewport_size({"width": width, "height": 900})
        assert any_page.evaluate("document.documentElement.scrollWidth") <= width
    any_page.set_viewport_size({"width": wanted, "height": 900})


@pytest.mark.parametrize("font", ["", "'DejaVu Sans', Verdana", "serif", "monospace"])
def test_no_text_of_a_chart_is_clipped_or_overlaps(any_page: Page, font):
    """In the font that pages ship, and in the widest that a reader may have chosen instead."""
    any_page.evaluate(SET_FONT, font)
    assert any_page.evaluate(CLIPPED) == []
    assert any_page.evaluate(OVERLAPPING) == []


def test_charts_are_shown_in_the_font_that_pages_ship_and_need_no_more_room_than_assumed(any_page: Page):
    any_page.evaluate(SET_FONT, "")
    any_page.evaluate("document.fonts.ready")
    shown = any_page.evaluate("[...document.fonts].filter(one => one.status === 'loaded').map(one => one.family)")
    used = any_page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fontFamily")
    assert {name.strip('"') for name in shown} == {FONT}
    assert used.startswith(f'"{FONT}"')
    measured = any_page.evaluate(MEASURED)
    assert len(measured) > 10
    assert [(text, width) for text, size, width in measured if width > text_width(text, size)] == []


def test_text_on_a_phone_is_large_enough(any_page: Page):
    heights = "[...document.querySelectorAll('figure svg text')].map(text => text.getBoundingClientRect().height)"
    assert min(height for height in any_page.evaluate(heights) if height) > 10


def test_the_theme_is_the_reader_s(any_page: Page):
    background, ink = any_page.evaluate("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
    dark = any_page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (brightness(background) < brightness(ink)) == dark
    mark = "getComputedStyle(document.querySelector('g.mark-symbol.role-mark path[fill]:not([fill=transparent])')).fill"
    label = "getComputedStyle(document.querySelector('g.mark-text text')).fill"
    for colour in (mark, label):
        assert abs(brightness(any_page.evaluate(colour)) - brightness(background)) > 150


def brightness(colour: str) -> int:
    """The sum of the parts of a colour such as rgb(1, 2, 3)."""
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
