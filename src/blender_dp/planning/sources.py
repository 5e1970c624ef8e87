"""The outline of whatever a plan is made for: the name of a shape, a release, a log, or counted users."""

from __future__ import annotations

from pathlib import Path

from blender_dp.evaluation.population import Population
from blender_dp.evaluation.shapes import is_shape, shape_of
from blender_dp.evaluation.sources import PopulationSource, population_of_release
from blender_dp.planning.outline import Outline
from blender_dp.release import Release

_UNLISTED = "Queries and URLs that the release does not list"

Planned = str | Path | PopulationSource | Release | Population | Outline


def outline_of(planned: Planned) -> Outline:
    """The outline of a shape (`aol`, `yandex`, `zipf:1.1`), of a release or log (or its path), or of a population."""
    if isinstance(planned, Outline):
        return planned
    if isinstance(planned, Population):
        return Outline.of_population("population", planned)
    if isinstance(planned, Release):
        return Outline.of_population("release", population_of_release(planned, listed_only=True), _UNLISTED)
    source = planned if isinstance(planned, PopulationSource) else PopulationSource(str(planned))
    if is_shape(source.name):
        return Outline.of_shape(source.name, shape_of(source.name, source.users))
    return Outline.of_population(source.name, source.population(listed_only=True), _UNLISTED if source.is_release else "")
