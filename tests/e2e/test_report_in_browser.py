"""The report in a real browser: it renders, fits the window, loads nothing and runs no scripts."""

from __future__ import annotations

import dataclasses
import os
import shutil

import pytest
from playwright.sync_api import Page, sync_playwright

from blender_dp import Blender, Entropy, Truth, aol_like, score
from blender_dp.report import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = '<img src="https://evil.example/x" onerror="document.title=\'pwned\'"> a very long query ' + "x" * 200

if CHROMIUM is None and not os.environ.get("BLENDER_DP_NEEDS_BROWSER"):
    pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    population = aol_like(2, users=60_000)
    truth = Truth.of(population)
    release = Blender(epsilon=4, delta=1e-5, max_queries=30).run_log(population, 0.3, key=b"k", entropy=Entropy.seeded(1))
    replaced = {"google": EVIL}
    queries = tuple(dataclasses.replace(row, query=replaced.get(row.query, row.query)) for row in release.queries)
    records = tuple(dataclasses.replace(row, query=replaced.get(row.query, row.query)) for row in release.records)
    path = tmp_path_factory.mktemp("report") / "report.html"
    scores = score(release, truth)
    path.write_text(render(dataclasses.replace(release, queries=queries, records=records), truth, scores), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        opened = browser.new_page(viewport={"width": 1100, "height": 900})
        opened.requests = []
        opened.messages = []
        opened.on("request", lambda request: opened.requests.append(request.url))
        opened.on("console", lambda message: opened.messages.append(message.text))
        opened.goto(path.as_uri())
        yield opened
        browser.close()


def test_the_page_loads_nothing_and_logs_no_errors(page: Page):
    assert [url for url in page.requests if not url.startswith("file://")] == []
    assert page.messages == []


def test_plots_and_table_are_visible(page: Page):
    assert page.locator("svg").count() == 3
    for chart in page.locator("figure svg").all():
        box = chart.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 60
    assert page.get_by_role("heading", name="Estimate against truth").is_visible()
    assert page.locator("tbody tr").count() >= 20
    assert page.get_by_text("yahoo.com").first.is_visible()


def test_error_bars_and_points_are_drawn(page: Page):
    assert page.locator("figure").first.locator("g.mark-rule line").count() >= 20
    assert page.locator("figure").first.locator("g.mark-symbol path").count() >= 60


def test_user_input_is_not_executed(page: Page):
    assert page.title().startswith("BLENDER release")
    assert page.locator("img").count() == 0
    assert page.get_by_text("onerror").first.is_visible()


@pytest.mark.parametrize("width", [1100, 700, 390])
def test_the_page_never_scrolls_sideways(page: Page, width):
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
