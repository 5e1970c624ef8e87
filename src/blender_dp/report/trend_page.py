"""A page of trends from several releases: the promise, what changed, and a small chart for every popular query."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from blender_dp.brief import brief
from blender_dp.privacy.limits import exposure_statement
from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import meaning, seeded_warning
from blender_dp.release import Manifest, Release
from blender_dp.release.explanation import why_empty
from blender_dp.release.manifest import GroupPromise, statements
from blender_dp.release.series import Trends
from blender_dp.report.figure import Draw, drawn
from blender_dp.report.page import page
from blender_dp.report.theme import on_page
from blender_dp.report.trend_panel import trend_panel

_WIDTH = 300


def render_trends(releases: Sequence[Release], trends: Trends, n: int = 12, *, draw: Draw | None = None) -> str:
    """Return a self-contained HTML page of the n most popular queries, from the releases and `trends_over` them.

    It contains published numbers only, so it costs no privacy. It loads nothing and has no script.
    """
    return page(
        "trends.html",
        names=trends.names,
        shown=[(one, on_page((draw or drawn)(trend_panel(trends.names, one, _WIDTH)))) for one in trends.series[:n]],
        comparison=releases[-2].compare(releases[-1]) if len(releases) > 1 else None,
        share=lambda value: "not listed" if value is None else f"{value:z.4f}",
        why_empty=None if trends.series else why_empty(releases[-1].manifest),
        **_promises(trends.names, [release.manifest for release in releases]),
        warning=seeded_warning() if any(release.manifest.is_seeded for release in releases) else None,
    )


def _promises(names: Sequence[str], manifests: Sequence[Manifest]) -> dict[str, object]:
    """The box of promises: each different promise once, with the releases that it holds for, and what all add up to."""
    equal: dict[object, list[int]] = {}
    for number, manifest in enumerate(manifests):
        equal.setdefault(_promised(manifest), []).append(number)
    if len(manifests) == 1:
        return {"promise_title": "Privacy promise", "promises": [(None, statements(manifests[0]))]}
    several = len(equal) > 1
    each = [
        (_names_of(names, numbers) if several else None, _statements([manifests[number] for number in numbers]))
        for numbers in equal.values()
    ]
    title = "Privacy promises: the releases differ" if several else "Privacy promise of each release"
    return {"promise_title": title, "promises": [*each, ("Together" if several else None, [_total(manifests)])]}


def _promised(manifest: Manifest) -> object:
    """What is equal for releases with the same promise; the sizes of their groups may differ."""
    groups = tuple((one.group, one.model, one.epsilon, one.delta) for one in manifest.groups)
    return groups, manifest.settings.delta, manifest.reports_from, manifest.weak_privacy_allowed


def _statements(manifests: Sequence[Manifest]) -> list[str]:
    """What the common promise of several releases means; their exposure is that of the largest."""
    most = max(manifests, key=lambda manifest: manifest.discovery_users)
    if len(manifests) == 1:
        return statements(most)
    promises = [_without_size(one, most.reports_from) for one in most.groups]
    exposure = (
        f"{exposure_statement(most.settings.delta, most.discovery_users)} That is the release with the most discovery users."
    )
    forced = ["Weak privacy was allowed explicitly for these releases."] * most.weak_privacy_allowed
    return [*promises, exposure, *forced]


def _without_size(promise: GroupPromise, reports_from: str) -> str:
    words = meaning(promise.model, promise.epsilon, promise.delta, reports_from)
    return f"{promise.group.capitalize()}: {words[0].lower()}{words[1:]}"


def _names_of(names: Sequence[str], numbers: Sequence[int]) -> str:
    """The releases with these numbers, three or more in a row as "June to August"."""
    rows = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    parts: list[str] = []
    for _, row in rows:
        shown = [brief(names[number]) for _, number in row]
        parts += [f"{shown[0]} to {shown[-1]}"] if len(shown) > 2 else shown
    return ", ".join(parts)


def _total(manifests: Sequence[Manifest]) -> str:
    """The losses of someone who participated in every release: they add up, whichever group the person was in."""
    epsilon = sum((max(group.epsilon for group in one.groups) for one in manifests), Fraction())
    delta = sum((max(group.delta for group in one.groups) for one in manifests), Fraction())
    return (
        f"All {len(manifests)} releases together: someone who participated in every one has a total privacy loss of at most "
        f"ε = {readable(epsilon)} and δ = {readable(delta)}."
    )
