"""The documentation site: every page has a place, every link leads somewhere, and nothing comes from the network."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import sync_playwright

import blender_dp
import blender_dp_device
from tests.conftest import ROOT
from tools.docs_site.build import DOCUMENTED, assemble, build
from tools.docs_site.links import Links, outside_code

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class Tags(HTMLParser):
    """The ids of a page, where its links lead, and what a browser loads for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.tags: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        if LOADED.get(tag) in values:
            self.loaded.add(values[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Tags]:
    return {path: Tags(path) for path in site.rglob("*.html") if path.name != "404.html"}


def named(items: list[object]) -> Iterator[str]:
    """Every page of a navigation."""
    for item in items:
        for value in item.values() if isinstance(item, dict) else [item]:
            yield from named(value) if isinstance(value, list) else [value]


def test_the_navigation_has_every_page_once(tmp_path: Path) -> None:
    assemble(tmp_path)
    listed = list(named(tomllib.loads((tmp_path / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]))
    files = [path.relative_to(tmp_path / "pages").as_posix() for path in (tmp_path / "pages").rglob("*.md")]
    assert sorted(listed) == sorted(files), "give every page a place in tools/docs_site/zensical.toml"
    copied = [path.name for path in (tmp_path / "pages/files").rglob("*.md*")]
    assert copied == [], "a page links to these: give them a place in tools/docs_site/pages.py"


def test_every_public_name_is_documented() -> None:
    text = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    directed = [name.rpartition(".")[2] for names in DOCUMENTED.findall(text) for name in names.split()]
    assert sorted({*blender_dp.__all__, *blender_dp_device.__all__}) == sorted(directed)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("[a](b.md)", "[a](../b.md)"),
        ("[a](../CONTRIBUTING.md#rules)", "[a](../project/contributing.md#rules)"),
        ("![a](x/y.svg)", "![a](../x/y.svg)"),
        ("[a](../src/code.py)", "[a](../files/src/code.py.txt)"),
        ("[a](#here) [b](https://b.example)", "[a](#here) [b](https://b.example)"),
        ("[a folder](../docs) [`code`](b.md)", "a folder [`code`](../b.md)"),
        ("`[a](b.md)`\n\n```text\n[a](b.md)\n```", "`[a](b.md)`\n\n```text\n[a](b.md)\n```"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(text: str, changed: str) -> None:
    places = {"docs/a.md": "in/a.md", "docs/b.md": "b.md", "CONTRIBUTING.md": "project/contributing.md"}
    links = Links(ROOT, places)
    assert outside_code(lambda part: links.rewritten(part, "docs/a.md"), text) == changed


@pytest.mark.slow
def test_every_link_leads_to_a_page_and_an_anchor(pages: dict[Path, Tags]) -> None:
    ids = {path.resolve(): tags.ids for path, tags in pages.items()}
    broken = []
    for path, tags in pages.items():
        for link in tags.links | tags.loaded:
            target, _, anchor = unquote(link).partition("#")
            if "://" in target or target.startswith(("mailto:", "data:")):
                continue
            file = (path.parent / target).resolve() if target else path.resolve()
            if not file.is_file() or (anchor and anchor not in ids.get(file, {anchor})):
                broken.append((path.name, link))
    assert broken == []


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Tags]) -> None:
    assert {link for tags in pages.values() for link in tags.loaded if "//" in link} == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\([\"']?(?:https?:)?//|@import", styles) == []


@pytest.mark.slow
def test_the_reference_has_every_public_name_route_and_schema(site: Path, pages: dict[Path, Tags]) -> None:
    anchors = {name.rpartition(".")[2] for name in pages[site / "reference/api.html"].ids}
    assert {*blender_dp.__all__, *blender_dp_device.__all__} <= anchors
    description = json.loads((ROOT / "spec/openapi.json").read_bytes())
    text = (site / "reference/http-api.html").read_text(encoding="utf-8")
    assert [path for path in description["paths"] if path not in text] == []
    assert {name.lower() for name in description["components"]["schemas"]} <= pages[site / "reference/http-api.html"].ids


@pytest.mark.slow
def test_every_proof_shows_mathematics_and_no_source_of_it(site: Path, pages: dict[Path, Tags]) -> None:
    proofs = sorted((site / "proofs").glob("*.html"))
    assert len(proofs) == len(list((ROOT / "src").rglob("proof.md")))
    for path in [*proofs, site / "papers-to-code.html"]:
        assert "math" in pages[path].tags
        _, _, article = path.read_text(encoding="utf-8").partition("<article")
        assert re.findall(r"\$[^<]*\$|\\[a-z]+", article.partition("</article>")[0]) == [], path.name


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None and not os.environ.get("BLENDER_DP_NEEDS_BROWSER"), reason="there is no Chromium")
def test_pages_and_search_work_in_a_browser_without_a_network(site: Path, pages: dict[Path, Tags]) -> None:
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 390, "height": 800}, offline=True).new_page()
        page.on("console", lambda one: problems.append(one.text) if one.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else problems.append(one.url))
        for path in sorted(pages):
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            problems += [f"{path.name}: {wide} pixels wider than a phone"] if wide > 0 else []
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("Control+k")
        page.wait_for_function("document.activeElement.shadowRoot")
        page.keyboard.type("Floyd")
        page.get_by_text("The channel").first.click()
        page.wait_for_url("**/proofs/subset-response.html*")
        browser.close()
    assert problems == []
