"""The page of a release: the privacy promise, charts, the top of the list and the manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from blender_dp.brief import LONGEST, brief
from blender_dp.evaluation import Scores, Truth
from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release
from blender_dp.release.manifest import statements
from blender_dp.report import charts, colours, theme
from blender_dp.report.figure import Draw, figure

_TOP = 20


def render(
    release: Release, truth: Truth | None = None, scores: Mapping[str, Scores] | None = None, draw: Draw | None = None
) -> str:
    """Return a self-contained HTML page, with the truth and the scores if they are known.

    Queries and URLs come from people, so everything is escaped; the page has no script and loads nothing. `draw` turns a
    Vega-Lite chart into SVG, by default in this process.
    """
    manifest = release.manifest
    return page(
        "release.html",
        settings=manifest.settings,
        readable=readable,
        manifest=manifest,
        manifest_text=json.dumps(manifest.to_document(), indent=2, ensure_ascii=False),
        listed=len(release.head_list),
        levels=release.head_list.levels,
        records=sum(1 for _ in release.head_list.records()),
        urls={suggestion.query: suggestion.urls for suggestion in release.search("", _TOP)},
        trends=release.trends(_TOP),
        disagreement=release.disagreement(),
        truth=truth,
        scores=scores,
        shares=figure(lambda width: charts.shares(release, truth, width), draw),
        against_truth=figure(lambda width: charts.against_truth(release, truth, width), draw) if truth else None,
        weights=figure(lambda width: charts.weights(release, width), draw),
        promise_title="Privacy promise",
        promises=[(None, statements(manifest))],
        warning=seeded_warning() if manifest.is_seeded else None,
    )


def page(template: str, **values: object) -> str:
    """A page from a template that extends `base.html`, which has the common style. Values are escaped."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("blender_dp.report"),
    )
    environment.globals |= {"colours": colours, "theme": theme}
    environment.filters |= {"brief": brief, "name": _name}
    return environment.get_template(template).render(values)


def _name(text: str, longest: int = LONGEST) -> Markup | str:
    """A query or another name; if it is long, its beginning, and all of it for a pointer that rests there."""
    short = brief(text, longest)
    return text if short == text else Markup('<span title="{}">{}</span>').format(text, short)
