"""The import graph of both packages, as it is printed in docs/architecture.md."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
from layer_picture import picture

ROOT = Path(__file__).resolve().parent.parent
Edges = dict[str, set[str]]


VIEWS = {
    "imports": ("Both packages", "blender_dp", {"blender_dp_device": "blender_dp_device"}),
    "imports-collector": ("Inside the collector", "blender_dp.collector", {}),
    "imports-device": ("Inside the device package", "blender_dp_device", {}),
}


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("blender_dp", "blender_dp_device", cache_dir=None)


def graph_section() -> str:
    """The three graphs in Markdown: the whole, inside the collector, inside the device."""
    views = [(file, title, package, edges(_graph(), package, outside)) for file, (title, package, outside) in VIEWS.items()]
    return "\n".join(_view(*view) for view in views)


def graph_pictures() -> Iterator[tuple[str, str]]:
    """The name of each graph's file, and its picture."""
    for file, (title, package, outside) in VIEWS.items():
        yield file, picture(layers(package), reduced(edges(_graph(), package, outside)), f"Imports: {title.lower()}")


def layers(package: str) -> list[list[str]]:
    """The layers of a package from the top down, as import-linter checks them; modules of one layer are independent."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = [one["layers"] for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    (chosen,) = (rows for rows in contracts if rows[0].split(" ")[0].rpartition(".")[0] == package)
    return [[name.removeprefix(f"{package}.") for name in row.split(" | ")] for row in chosen]


def edges(graph: grimp.ImportGraph, package: str, outside: dict[str, str] | None = None) -> Edges:
    """Which children of a package import which others, its own `__init__` and `__main__` left out."""
    names = {package: "", **(outside or {})}
    own = graph.find_children(package) - {f"{package}.__main__"}
    children = {child: child.removeprefix(f"{package}.") for child in own} | (outside or {})

    def child_of(module: str) -> str | None:
        return next((name for child, name in children.items() if f"{module}.".startswith(f"{child}.")), None)

    found: Edges = defaultdict(set)
    for module in graph.modules:
        importer = child_of(module)
        if importer is None or importer in names:
            continue
        for imported in graph.find_modules_directly_imported_by(module):
            target = child_of(imported)
            if target is not None and target != importer:
                found[importer].add(target)
    return found


def reduced(found: Edges) -> Edges:
    """The edges without those that a longer path implies."""
    return {
        importer: {
            target
            for target in targets
            if not any(target in _reachable(found, other) for other in targets if other != target)
        }
        for importer, targets in found.items()
    }


def _reachable(found: Edges, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for target in found.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _view(file: str, title: str, package: str, found: Edges) -> str:
    order = " → ".join(", ".join(names) for names in layers(package))
    rows = [f"{importer} → {', '.join(sorted(targets))}" for importer, targets in sorted(found.items())]
    image = f"![{title}](figures/{file}.svg)\n"
    return "\n".join([f"### {title}\n", f"Layers: {order}.\n", image, "All imports:\n", "```text", *rows, "```\n"])
