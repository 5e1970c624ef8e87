"""Build the panels of figures: settings over one axis, for both profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blender_dp.evaluation.reproduction.data import Data
from blender_dp.evaluation.reproduction.figure import TITLES, Line, Panel


def profiles(data: Data, x: str, values: Sequence[str], **fixed: str | int) -> list[Line]:
    """The blends of both profiles, and what each group of `tight` reaches alone."""
    paper, tight = (data.sweep(profile, x, values, **fixed) for profile in ("paper", "tight"))
    return [
        Line("paper", paper),
        Line("tight", tight),
        Line("opt-in alone", tight, "opt-in"),
        Line("clients alone", tight, "client"),
    ]


def groups(data: Data, x: str, values: Sequence[str], **fixed: str | int) -> list[Line]:
    """The papers' own comparison as well: what each group of `paper` reaches alone."""
    every = profiles(data, x, values, **fixed)
    paper = every[0].settings
    return [*every, Line("paper, opt-in alone", paper, "opt-in"), Line("paper, clients alone", paper, "client")]


def panels_by_size(data: Sequence[Data], measure: str, x: str, values: Mapping[str, Sequence[str]]) -> list[Panel]:
    """One panel for every log and length of the list."""
    return [
        Panel(f"{one.label}, M = {size}", measure, x, profiles(one, x, values[one.label], max_queries=size))
        for one in data
        for size in one.sizes
    ]


def group_panels(data: Data, x: str, values: Sequence[str], max_queries: int, suffix: str) -> list[Panel]:
    """Query L1 and NDCG of every group."""
    lines = groups(data, x, values, max_queries=max_queries)
    return [Panel(f"{TITLES[measure].split(' (')[0]} {suffix}", measure, x, lines) for measure in ("query_l1", "ndcg")]
