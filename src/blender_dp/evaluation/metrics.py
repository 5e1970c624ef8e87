"""The papers' measures: L1 distance of the shares, and an NDCG of NDCGs for the ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from blender_dp.evaluation.truth import Truth
from blender_dp.release import QueryEstimate, Release

Ranking = Sequence[tuple[str, Sequence[str]]]
"""Queries, best first, each with its URLs, best first."""


@dataclass(frozen=True)
class Scores:
    """Errors and ranking quality of one set of estimates. ⋆ is left out."""

    query_l1: float
    record_l1: float
    ndcg: float


def score(release: Release, truth: Truth) -> dict[str, Scores]:
    """Score the opt-in users', the clients' and the blended estimates of a release."""
    return {
        "opt-in": _score(release, truth, lambda row: row.opt_in_share or 0.0),
        "client": _score(release, truth, lambda row: row.client_share),
        "blended": _score(release, truth, lambda row: row.share),
    }


def ndcg(ranking: Ranking, truth: Truth, k: int) -> float:
    """The normalised gain of a ranking against the population's true top k queries.

    A query's gain is multiplied by the NDCG of its own URL list, whose length is the number of listed URLs; a single item
    has no URLs, and its gain counts in full. A list shorter than k is compared with the full ideal list, so missing
    queries lower its score.
    """
    top = nlargest(k, truth.queries.values())
    quality = [_url_quality(urls, truth.urls.get(q, {})) for q, urls in ranking[:k]]
    gains = [truth.queries.get(q, 0) for q, _ in ranking[:k]]
    ideal = _dcg(top, sum(top))
    return _dcg(gains, sum(top), quality) / ideal if ideal else 0.0


def _score(release: Release, truth: Truth, share: Callable[[QueryEstimate], float]) -> Scores:
    queries = {row.query: share(row) for row in release.queries if row.query is not None}
    query_l1 = sum(abs(value - truth.query_share(query)) for query, value in queries.items())
    records = {(row.query, row.url): share(row) for row in release.records if row.query is not None and row.url is not None}
    ranking = [
        (query, sorted(urls, key=lambda url: -records[query, url]))
        for query, urls in sorted(release.head_list.entries, key=lambda entry: -queries[entry[0]])
    ]
    record_l1 = sum(abs(value - truth.record_share(record)) for record, value in records.items())
    return Scores(
        query_l1=query_l1,
        record_l1=record_l1 if release.head_list.levels == 2 else query_l1,  # a single item is its query
        ndcg=ndcg(ranking, truth, release.manifest.settings.max_queries),
    )


def _url_quality(urls: Sequence[str], truth: Mapping[str, int]) -> float:
    return _ndcg([truth.get(url, 0) for url in urls], truth) if urls else 1.0


def _ndcg(counts: Sequence[int], truth: Mapping[str, int]) -> float:
    top = nlargest(len(counts), truth.values())
    ideal = _dcg(top, sum(top))
    return _dcg(counts, sum(top)) / ideal if ideal else 0.0


def _dcg(counts: Sequence[int], total: int, quality: Sequence[float] | None = None) -> float:
    factors = quality or [1.0] * len(counts)
    gains = zip(counts, factors, strict=True)
    return sum(factor * (2 ** (count / total) - 1) / math.log2(i + 2) for i, (count, factor) in enumerate(gains) if total)
