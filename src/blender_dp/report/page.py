"""The page: plots, the top of the list, the privacy promise and the manifest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from blender_dp.evaluation import Scores, Truth
from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release
from blender_dp.release.manifest import statements
from blender_dp.report import charts, colours

_TOP = 20

Draw = Callable[[charts.Spec], str]


def render(
    release: Release, truth: Truth | None = None, scores: Mapping[str, Scores] | None = None, draw: Draw | None = None
) -> str:
    """Return a self-contained HTML page, with the truth and the scores if they are known.

    Queries and URLs come from people, so everything is escaped; the page has no script and loads nothing. `draw` turns a
    Vega-Lite chart into SVG, by default in this process.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("blender_dp.report").joinpath("page.html").read_text(encoding="utf-8"))
    manifest = release.manifest

    def svg(chart: charts.Spec) -> Markup:
        return Markup((draw or _draw)(chart))  # noqa: S704 (our own SVG; Vega escapes its text)

    return template.render(
        colours={"blended": colours.BLENDED, "opt_in": colours.OPT_IN, "client": colours.CLIENT, "truth": colours.TRUTH},
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
        shares=svg(charts.shares(release, truth)),
        against_truth=svg(charts.against_truth(release, truth)) if truth else None,
        weights=svg(charts.weights(release)),
        statements=statements(manifest),
        warning=seeded_warning() if manifest.is_seeded else None,
    )


def _draw(chart: charts.Spec) -> str:
    import vl_convert  # noqa: PLC0415 (slow to load, and not needed if another process draws)

    return str(vl_convert.vegalite_to_svg(chart))
