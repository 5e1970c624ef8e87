"""Many collections on one population, with the product's own stages: the records are counted once, not every time.

There is no engine, and users are split by a shuffle instead of a hash. Everything private, and every estimate, is computed
by the code that ships.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp import Blender, Entropy, HeadList, Release, Truth, score
from blender_dp.evaluation import Scores
from blender_dp.release import QueryEstimate
from blender_dp.release.assemble import assemble
from blender_dp.release.manifest import Sizes, manifest_of
from blender_dp.stages.blending import Blend, Blended
from blender_dp.stages.discovery import Discovery
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood import Fit, fit
from blender_dp.stages.likelihood.bound import cramer_rao
from blender_dp.stages.likelihood.estimator import Calibration, all_evidence, scale_of
from blender_dp.stages.reporting import simulate

Integers = NDArray[np.int64]

_TOP = 5000  # queries whose true counts are stored; no list is longer


class Population:
    """Every distinct record with its number, and every user's record as a number."""

    def __init__(self, table: pa.Table) -> None:
        self.users = table.num_rows
        query = table["query"].combine_chunks().dictionary_encode()
        url = table["url"].combine_chunks().dictionary_encode()
        pair = query.indices.to_numpy().astype(np.int64) * len(url.dictionary) + url.indices.to_numpy()
        keys, self.record = np.unique(pair, return_inverse=True)
        self.query_of = keys // len(url.dictionary)
        self._queries, self._urls, self._url_of = query.dictionary, url.dictionary, keys % len(url.dictionary)
        self.records, self.queries = keys.size, len(query.dictionary)

    def name(self, record: int) -> tuple[str, str]:
        """The record with this number."""
        return self._queries[self.query_of[record]].as_py(), self._urls[self._url_of[record]].as_py()

    @cached_property
    def truth(self) -> Truth:
        """The true counts of the most popular queries, with all of their URLs."""
        counts = np.bincount(self.record, minlength=self.records)
        totals = np.bincount(self.query_of, weights=counts, minlength=self.queries)
        top = np.argsort(-totals)[:_TOP]
        kept = np.flatnonzero(np.isin(self.query_of, top))
        return Truth(self.users, {self.name(record): int(counts[record]) for record in kept})

    def groups(self, opt_in: float, f_o: float, seed: int) -> Groups:
        """Split the users at random, and count the records of each group."""
        order = np.argsort(Entropy.seeded(f"groups {seed}").words(self.users), kind="stable")
        first = round(self.users * opt_in)
        second = round(first * f_o)
        parts = np.split(self.record[order], [second, first])
        return Groups(self, *(np.bincount(part, minlength=self.records) for part in parts))


@dataclass(frozen=True)
class Groups:
    """The number of users in each group who have each record."""

    population: Population
    discovery: Integers
    calibration: Integers
    clients: Integers

    @cached_property
    def sizes(self) -> Sizes:
        return Sizes(*(int(counts.sum()) for counts in (self.discovery, self.calibration, self.clients)))


@dataclass(frozen=True)
class Outcome:
    """How good one release is: its estimates and those of each group alone, the errors it states, and the optimum."""

    listed: int
    scores: dict[str, Scores]
    covered_queries: float
    covered_records: float
    squared_error: float
    bound: float
    stated: float
    f_c: float
    size: int


def run(blender: Blender, groups: Groups, entropy: Entropy) -> tuple[Release, Outcome]:
    """Run one collection through the product's stages and score it."""
    p = blender.parameters
    found, number = _discover(blender, groups, entropy)
    found = blender.collection.estimator.shortlist(found, p.max_queries)
    place = _Places(groups.population, found.head_list, number)
    calibrated = blender.collection.estimator.calibrate(
        place(groups.calibration), found, blender.collection.calibration, p.max_queries, entropy
    )
    head_list: HeadList = calibrated.head_list
    sizes = groups.sizes
    context = blender.collection.context(found.restrict(head_list.queries), sizes.discovery, sizes.calibration)
    design = blender.collection.design(context, groups.sizes.clients)
    channel, published = blender.collection.channel(head_list, design), blender.collection.published(head_list, design)
    place = _Places(groups.population, head_list, number)
    reports = simulate(place(groups.clients), channel, entropy)
    result = blender.collection.estimator.combine(calibrated, reports, channel, context)
    manifest = manifest_of(
        p, blender.collection.promises(), groups.sizes, design=design, threshold=blender.collection.discovery.tau,
        reports=result.client.reports, head_list=published, seeded=entropy.is_seeded,
    )  # fmt: skip
    release = assemble(manifest, published, result)
    everybody = place(groups.discovery + groups.calibration + groups.clients) / groups.population.users
    truth, bound = groups.population.truth, float("nan")
    scores = score(release, truth)
    if isinstance(calibrated, Calibration):
        evidence = all_evidence(calibrated, result.client, reports, channel, context)
        # The best estimate from clients alone: non-negative and summing to 1, like the blend.
        alone = replace(result, blended=_as_blend(fit(evidence.of_clients(), scale_of(context))))
        scores["client"] = score(assemble(manifest, published, alone), truth)["blended"]
        bound = float(cramer_rao(evidence, everybody)[1][:-1].sum())
    return release, _outcome(release, scores, everybody, bound)


def _discover(blender: Blender, groups: Groups, entropy: Entropy) -> tuple[Discovery, dict[tuple[str, str], int]]:
    held = np.flatnonzero(groups.discovery)
    selection = blender.collection.discovery.selector(entropy).select(groups.discovery[held])
    named = sorted(
        (groups.population.name(int(held[row])), float(count), int(held[row]))
        for row, count in zip(selection.rows, selection.noisy_counts, strict=True)
    )
    counts = np.array([count for _, count, _ in named])
    found = Discovery(HeadList.of(name for name, _, _ in named), counts, np.zeros(counts.size, np.bool_))
    return found, {name: record for name, _, record in named}


class _Places:
    """Convert counts of records to counts of a list's cells."""

    def __init__(self, population: Population, head_list: HeadList, number: dict[tuple[str, str], int]) -> None:
        layout = Layout(head_list.url_counts)
        self._cells = layout.cell_count
        of_query = np.full(population.queries, layout.cell_count - 1)
        records = [(number[name], head_list.position(*name)) for name in head_list.records()]
        for record, (query, _) in records:
            of_query[population.query_of[record]] = layout.star_cells[query]
        self._cell_of = of_query[population.query_of]
        for record, (query, url) in records:
            self._cell_of[record] = layout.starts[query] + url

    def __call__(self, counts: Integers) -> Integers:
        return np.bincount(self._cell_of, weights=counts, minlength=self._cells).astype(np.int64)


def _as_blend(alone: Fit) -> Blend:
    cells = Blended(alone.shares, alone.variance, np.zeros_like(alone.shares))
    return Blend(cells, Blended(alone.query_shares, alone.query_variance, np.zeros_like(alone.query_shares)))


def _outcome(release: Release, scores: dict[str, Scores], truth: NDArray[np.float64], bound: float) -> Outcome:
    layout = Layout(release.head_list.url_counts)
    queries, query_truth = release.queries[:-1], layout.per_query(truth)[:-1]
    listed = np.delete(np.arange(layout.cell_count), layout.star_cells)
    errors = np.array([row.share for row in queries]) - query_truth
    return Outcome(
        listed=len(release.head_list),
        scores=scores,
        covered_queries=_covered(queries, query_truth),
        covered_records=_covered([release.records[i] for i in listed], truth[listed]),
        squared_error=float((errors**2).sum()),
        bound=bound,
        stated=sum(row.variance for row in queries),
        f_c=float(release.manifest.settings.f_c),
        size=release.manifest.settings.subset_size,
    )


def _covered(rows: Sequence[QueryEstimate], truth: NDArray[np.float64]) -> float:
    inside = [row.low <= true <= row.high for row, true in zip(rows, truth, strict=True)]
    return float(np.mean(inside)) if inside else float("nan")
