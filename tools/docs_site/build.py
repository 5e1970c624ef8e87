"""Assemble the pages of the site in one folder, and let Zensical build it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from tools.docs_site import openapi
from tools.docs_site.gallery import gallery
from tools.docs_site.links import Links, outside_code
from tools.docs_site.pages import ALIASES, ROOT, places

HERE = Path(__file__).parent
FONT = "ziamath/fonts/STIXTwoMath-Regular.ttf"
# A comment that GitHub hides, and that mkdocstrings replaces with the documentation of the names in it.
DOCUMENTED = re.compile(r"^<!-- documented:\s+([\w.\s]+?)\s+-->$", re.MULTILINE)


def build(folder: Path) -> Path:
    """Build the site below a folder; return its start page. A broken link is an error."""
    assemble(folder)
    # Run from the root, so that Zensical can import the extension for mathematics.
    paths = [str(ROOT), str(ROOT / "src"), str(ROOT / "device/src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--strict", "--config-file", "zensical.toml"]
    subprocess.run(command, check=True, env=environment, cwd=folder)  # noqa: S603
    return folder / "html/index.html"


def assemble(folder: Path) -> None:
    """Write the pages, with their links changed, and every file that they lead to."""
    shutil.rmtree(folder, ignore_errors=True)
    moved = places()
    links = Links(ROOT, {**moved, **ALIASES})
    for source, place in moved.items():
        _write(folder / "pages" / place, page(source, links))
    _write(folder / "pages/reference/http-api.md", openapi.page(json.loads((ROOT / "spec/openapi.json").read_bytes())))
    _write(folder / "pages/gallery.md", gallery((ROOT / "docs/reproduce.md").read_text(encoding="utf-8")))
    for source, place in {**links.files, "spec/openapi.json": "files/spec/openapi.json"}.items():
        _copy(ROOT / source, folder / "pages" / place)
    for name in ("site.css", "iframe-worker.js"):
        _copy(HERE / name, folder / "pages" / name)
    _copy(Path(str(distribution("ziamath").locate_file(FONT))), folder / "pages/mathematics.ttf")
    _copy(HERE / "zensical.toml", folder / "zensical.toml")


def page(source: str, links: Links) -> str:
    """The text of a page for the site."""
    text = (ROOT / source).read_text(encoding="utf-8")
    linked = outside_code(partial(links.rewritten, source=source), text)
    return DOCUMENTED.sub(lambda names: "\n\n".join(f"::: {name}" for name in names[1].split()), linked)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
