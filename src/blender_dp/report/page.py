"""The page: plots, the top of the list, the privacy promise and the manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from blender_dp.evaluation import Scores, Truth
from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release
from blender_dp.release.manifest import statements
from blender_dp.report import charts

_TOP = 20


def render(release: Release, truth: Truth | None = None, scores: Mapping[str, Scores] | None = None) -> str:
    """Return one HTML file that needs nothing else. Truth and scores are shown where they are known.

    Queries and URLs come from people, so everything is escaped; the page has no script and loads nothing.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("blender_dp.report").joinpath("page.html").read_text(encoding="utf-8"))
    manifest = release.manifest
    return template.render(
        colours={"blended": charts.BLENDED, "opt_in": charts.OPT_IN, "client": charts.CLIENT, "truth": charts.TRUTH},
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
        shares=Markup(charts.shares(release, truth)),  # noqa: S704 (our own SVG; the texts in it are escaped by Vega)
        against_truth=Markup(charts.against_truth(release, truth)) if truth else None,  # noqa: S704
        weights=Markup(charts.weights(release)),  # noqa: S704
        statements=statements(manifest),
        warning=seeded_warning() if manifest.is_seeded else None,
    )
