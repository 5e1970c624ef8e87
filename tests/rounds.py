"""Rounds of a synthetic population for tests of trends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from blender_dp import Blender, Release
from blender_dp.evaluation.drift import Round, collect_rounds, head_of
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import Shape, aol_shape

HEAD = head_of(Population.of_shape(Shape(100_000, aol_shape().query_shares[:20_000]), 7), 300)
QUERIES = [query for query, _ in HEAD.names(np.flatnonzero(np.diff(HEAD.query_of, prepend=-1)))]


def rounds(
    changes: Sequence[Mapping[str, float]],
    *,
    seed: int = 1,
    users: int = 100_000,
    opt_in: float = 0.1,
    reuse_lists: bool = False,
    **parameters: object,
) -> list[Round]:
    """One round for each mapping, whose values are factors of the shares of queries; all other shares stay the same."""
    factors = [np.array([change.get(query, 1.0) for query in QUERIES]) for change in changes]
    collection = Blender(**({"epsilon": 4, "delta": "1e-5", "max_queries": 30} | parameters)).collection
    return list(collect_rounds(collection, HEAD, factors, users=users, opt_in=opt_in, seed=seed, reuse_lists=reuse_lists))


def emptied(release: Release) -> Release:
    """The release as if its list were empty."""
    nothing = replace(release.reporting_list, head_list=release.head_list.restrict([]))
    manifest = replace(release.manifest, head_list=nothing.digest)
    rows = release.queries[-1:], release.records[-1:]
    return replace(release, manifest=manifest, reporting_list=nothing, queries=rows[0], records=rows[1])
