"""Synthetic populations shaped like published logs. No real user's data is in here.

The shapes are those of the two logs in the BLENDER papers, AOL's and Yandex's: their size, their top shares, a power law
for the rest, and a long tail of queries that only one user asked. They are for demonstrations, experiments and tests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.sampling import Entropy
from blender_dp_device.records.checks import at_least_one

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TOP = (
    ("google", "https://www.google.com/"),
    ("yahoo", "https://www.yahoo.com/"),
    ("google.com", "https://www.google.com/"),
    ("myspace.com", "https://www.myspace.com/"),
    ("mapquest", "https://www.mapquest.com/"),
    ("yahoo.com", "https://www.yahoo.com/"),
    ("www.google.com", "https://www.google.com/"),
    ("myspace", "https://www.myspace.com/"),
    ("ebay", "https://www.ebay.com/"),
)
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_SCATTER = 7919  # coprime to the number of words, so neighbouring ranks get different-looking words and no two the same
_ZIPF_QUERIES = 1_000_000
_ZIPF_USERS = 1_000_000
_FEWER_URLS = 0.3  # the number of a query's URLs is geometric with this parameter
_EXPONENTS = (1.5, 3.0)  # the shares of its URLs fall with a power between these, all equally probable


@dataclass(frozen=True)
class Shape:
    """The number of users and the share of each query, most popular first; every other user has a unique query."""

    users: int
    query_shares: Floats


def aol_shape() -> Shape:
    """The published top of the AOL log, continued by power laws."""
    top = np.array([0.0211, 0.0067, 0.0066, 0.0055, 0.0055, 0.0048, 0.0044, 0.0034, 0.0030])
    upper = top[-1] * (9 / np.arange(10, 51)) ** 1.38
    lower = upper[-1] * (50 / np.arange(51, 300_001)) ** 0.9
    return Shape(519_371, np.concatenate([top, upper, lower]))


def yandex_shape() -> Shape:
    """A log of the size of the Yandex log: three popular queries and one power law."""
    return Shape(4_970_073, np.concatenate([[0.03, 0.018, 0.014], 0.012 * np.arange(4.0, 1_000_001) ** -0.9]))


def zipf_shape(exponent: float, users: int = _ZIPF_USERS) -> Shape:
    """A power law over a million queries: the share of rank r is proportional to r^-exponent."""
    shares = np.arange(1.0, _ZIPF_QUERIES + 1) ** -exponent
    return Shape(users, shares / shares.sum())


def aol_like(seed: int = 0, *, users: int | None = None) -> pa.Table:
    """A population like AOL's: one record per user, with columns user, query and url."""
    return _population(aol_shape(), seed, users)


def yandex_like(seed: int = 0, *, users: int | None = None) -> pa.Table:
    """A population like Yandex's: one record per user, with columns user, query and url."""
    return _population(yandex_shape(), seed, users)


def _population(shape: Shape, seed: int, users: int | None) -> pa.Table:
    return population(Shape(shape.users if users is None else at_least_one(users, "users"), shape.query_shares), seed)


def population(shape: Shape, seed: int) -> pa.Table:
    """Draw every user's record independently. The same seed gives the same table."""
    query, url = drawn_records(shape, seed)
    return pa.table({"user": pa.array(np.arange(shape.users)).cast(pa.string()), **record_names(query, url)})


def drawn_records(shape: Shape, seed: int) -> tuple[Integers, Integers]:
    """Draw the number of every user's query and the rank of the URL; `record_names` gives their names."""
    entropy = Entropy.seeded(f"population {seed}")
    listed = shape.query_shares.size
    query = np.searchsorted(np.cumsum(shape.query_shares), uniform(shape.users, entropy), side="right")
    unique = query == listed
    query[unique] += np.arange(np.count_nonzero(unique))  # every one of these has only one user
    url_counts, exponents = _url_laws(listed, entropy)
    place = np.minimum(query, listed - 1)
    draw = uniform(shape.users, entropy)
    url = _url_ranks(np.where(unique, 1, url_counts[place]), exponents[place], draw * _totals(url_counts, exponents)[place])
    return query, url


def url_shares(queries: int, entropy: Entropy) -> tuple[Integers, Floats]:
    """Draw how many URLs each query has; return also the share of every URL within its query, query by query."""
    counts, exponents = _url_laws(queries, entropy)
    return counts, _url_shares(counts, exponents)


def _url_shares(counts: Integers, exponents: Floats) -> Floats:
    ranks = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + 1.0
    shares: Floats = ranks ** -np.repeat(exponents, counts) / np.repeat(_totals(counts, exponents), counts)
    return shares


def _url_laws(queries: int, entropy: Entropy) -> tuple[Integers, Floats]:
    """The number of URLs of each query, and the exponent of the power law of their shares."""
    counts = 1 + np.floor(np.log(uniform(queries, entropy)) / np.log(1 - _FEWER_URLS)).astype(np.int64)
    lowest, highest = _EXPONENTS
    return counts, lowest + (highest - lowest) * uniform(queries, entropy)


def url_cases(most: int = 16, powers: int = 3) -> tuple[Floats, Integers, Floats]:
    """Which URLs a query can have: probabilities, numbers of URLs, and the share of every URL, case by case.

    A few cases stand for all of them: Gaussian quadrature over the exponents, and no more URLs than `most`.
    """
    urls = np.arange(1, most + 1)
    nodes, weights = np.polynomial.legendre.leggauss(powers)
    exponents = np.mean(_EXPONENTS) + np.diff(_EXPONENTS) / 2 * nodes
    chances = _FEWER_URLS * (1 - _FEWER_URLS) ** (urls - 1)
    chances[-1] /= _FEWER_URLS  # so many, or more
    counts = np.repeat(urls, powers)
    return np.outer(chances, weights / 2).ravel(), counts, _url_shares(counts, np.tile(exponents, most))


def _totals(url_counts: Integers, exponents: Floats) -> Floats:
    """The sum of j^-exponent over each query's URLs."""
    total = np.zeros(url_counts.size)
    for j in range(1, int(url_counts.max(initial=0)) + 1):
        has = np.flatnonzero(url_counts >= j)
        total[has] += float(j) ** -exponents[has]
    return total


def _url_ranks(counts: Integers, exponents: Floats, target: Floats) -> Integers:
    """Each user's URL rank: the first j among 1..count at which the sum of j^-exponent exceeds the target.

    Most users stop at the first URLs, so every step looks only at those who have not stopped yet.
    """
    url = np.ones(counts.size, np.int64)
    going = np.flatnonzero(counts > 1)
    reached = np.zeros(going.size)
    for j in range(1, int(counts.max())):
        reached += float(j) ** -exponents[going]
        beyond = (target[going] >= reached) & (j < counts[going])
        going, reached = going[beyond], reached[beyond]
        url[going] += 1
    return url


def record_names(query: Integers, url: Integers) -> dict[str, pa.Array]:
    """The columns query and url for the numbers that `drawn_records` returns."""
    import pyarrow.compute as pc  # noqa: PLC0415 (slow to import, and experiments on counts do not need it)

    words = pc.binary_join_element_wise(*_syllables(query), "")
    site = pc.binary_join_element_wise("https://www.", words, ".example/", "")
    for rank, (name, home) in enumerate(_TOP):
        chosen = pa.array(query == rank)
        words, site = pc.if_else(chosen, name, words), pc.if_else(chosen, home, site)
    page = pc.if_else(pa.array(url == 1), "", pa.array(url).cast(pa.string()))
    return {"query": words, "url": pc.binary_join_element_wise(site, page, "")}


def _syllables(numbers: Integers) -> list[pa.Array]:
    """The four syllables of a pronounceable word for every number, different for different numbers (below 24 million)."""
    base = len(_SYLLABLES)
    scattered = numbers * _SCATTER % base**4
    syllables = pa.array(_SYLLABLES)
    return [syllables.take(pa.array(scattered // base**power % base)) for power in range(4)]


def uniform(count: int, entropy: Entropy) -> Floats:
    """Uniform numbers in (0, 1): good enough for synthetic data, never used for private noise."""
    return ((entropy.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
