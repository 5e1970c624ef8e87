"""Made-up logs in the format of the AOL log of 2006, with its proportions: see its U500k_README.txt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.generators import Integers, created, draw_queries, mixed, write_lines

HEADER = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"

_USERS = 2_000  # at a time, about 110 000 rows: memory does not depend on the size of the log, and the caches hold it
_ROWS_PER_USER, _SKEW = 36_389_567 / 657_426, 1.5
_CLICKED = 19_442_629 / 36_389_567
_AGAIN = 1 - 21_011_340 / 36_389_567  # rows that are one more click on, or the next page of, the query before
_START = np.datetime64("2006-03-01T00:00:00", "s").astype(np.int64)
_SECONDS = 92 * 86_400
_LAST_RANK = 500
_TOP = ("google", "yahoo", "google.com", "myspace.com", "mapquest", "yahoo.com", "www.google.com", "myspace", "ebay")
_TOP_HOSTS = ("google", "yahoo", "myspace", "mapquest", "ebay")
_TOP_SITES = np.array([0, 1, 0, 2, 3, 1, 0, 2, 4])  # the host of each top query
_WORDS = 70**3
_SCATTER = 50_000_017  # prime to the number of pairs of words, so neighbours get unlike names and no two the same


class _Tables(NamedTuple):
    """Pieces of a line, with the blanks, tabs and line ends that follow them."""

    first: pa.Array  # words, then the top queries
    second: pa.Array  # words, then nothing
    rank: pa.Array  # nothing, then 1 and up
    url: pa.Array  # nothing, then the hosts from the most popular down


def write_aol(folder: Path, rows: int, *, seed: int = 0, files: int = 1, compress: bool = False) -> list[Path]:
    """Write a log of this many rows, each user's in one file. The same arguments give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"user-ct-test-collection-{i:02}.txt{'.gz' if compress else ''}" for i in range(1, files + 1)]
    starts = [rows * i // files for i in range(files + 1)]
    for number, path in enumerate(paths):
        with created(path) as file:
            # users take turns over the files, as in the real log
            _write(file, range(starts[number], starts[number + 1]), count(number, files), [seed, number])
    return paths


def _write(file: BinaryIO, rows: range, users: Iterator[int], seed: list[int]) -> None:
    """The rows with these numbers, by as many of these users as it takes."""
    rng = np.random.default_rng(seed)
    file.write(HEADER)
    while rows:
        counts = _rows_per_user(len(rows), rng)
        total = int(counts.sum())
        ids = 142 + 37 * np.fromiter(users, np.int64, counts.size)
        write_lines(file, _lines(ids, counts, np.arange(rows.start, rows.start + total), rng))
        rows = rows[total:]


def _rows_per_user(limit: int, rng: np.random.Generator) -> Integers:
    """Log-normal and rounded up, which adds a half on average; the last user has what is left."""
    location = np.log(_ROWS_PER_USER - 0.5) - _SKEW**2 / 2
    counts = np.ceil(rng.lognormal(location, _SKEW, _USERS)).astype(np.int64)
    counts = np.diff(np.minimum(np.cumsum(counts), limit), prepend=0)
    return counts[counts > 0]


def _lines(ids: Integers, counts: Integers, rows: Integers, rng: np.random.Generator) -> pa.StringArray:
    user = np.repeat(np.arange(ids.size), counts)
    clicked = rng.random(rows.size) < _CLICKED
    again = (rng.random(rows.size) < _AGAIN) & (np.diff(user, prepend=-1) == 0)
    one_more_click = again & clicked & np.roll(clicked, 1)  # on the same page of results, so at the same time
    query = draw_queries(rows, rng)[_latest(~again)]
    time = (_START + _times(user, rng))[_latest(~one_more_click)]
    rank = np.where(clicked, np.minimum(rng.geometric(0.45, rows.size), _LAST_RANK), 0)
    return pc.binary_join_element_wise(
        pc.binary_join_element_wise(pa.array(ids).cast(pa.string()), "\t", "").take(pa.array(user)),
        *_names(query),
        pa.array(time, pa.timestamp("s")).cast(pa.string()),
        _tables().rank.take(pa.array(rank)),
        _tables().url.take(pa.array(_sites(query, rank))),
        "",
    )


def _latest(chosen: np.ndarray) -> Integers:
    """For every row, the latest chosen row up to it. The first row is always chosen."""
    return np.maximum.accumulate(np.where(chosen, np.arange(chosen.size), 0))


def _times(user: Integers, rng: np.random.Generator) -> Integers:
    """Seconds since the start, in order for every user."""
    before = user * _SECONDS
    return np.sort(before + rng.integers(_SECONDS, size=user.size)) - before


def _names(query: Integers) -> tuple[pa.Array, pa.Array]:
    first, second = np.divmod(query * _SCATTER % _WORDS**2, _WORDS)
    top = query < len(_TOP)
    first[top], second[top] = _WORDS + query[top], _WORDS
    return _tables().first.take(pa.array(first)), _tables().second.take(pa.array(second))


def _sites(query: Integers, rank: Integers) -> Integers:
    """The place of the row's host in its table: always the same for a query and a rank, and a few hosts often."""
    hosts = len(_tables().url) - 1
    site = (mixed(query * (_LAST_RANK + 1) + rank) ** 2 * hosts).astype(np.int64)
    home = (query < len(_TOP)) & (rank == 1)
    site[home] = _TOP_SITES[query[home]]
    return np.where(rank > 0, 1 + site, 0)


@cache
def _tables() -> _Tables:
    words = ["".join(s) for s in product([c + v for c in "bdfgklmnprstvz" for v in "aeiou"], repeat=3)]
    hosts = [*_TOP_HOSTS, *(words[i * 7919 % _WORDS] for i in range(_WORDS))]  # unlike neighbours
    ends = (".com",) * 7 + (".org", ".net", ".edu")
    written = [_odd(i, word) for i, word in enumerate(words)]
    return _Tables(
        first=pa.array([word + " " for word in written] + list(_TOP)),
        second=pa.array([word + "\t" for word in [*written, ""]]),
        rank=pa.array(["\t\t", *(f"\t{i}\t" for i in range(1, _LAST_RANK + 1))]),
        url=pa.array(["\n", *(f"http://www.{host}{ends[max(i - 5, 0) % 10]}\n" for i, host in enumerate(hosts))]),
    )


def _odd(place: int, word: str) -> str:
    """One word in 2 000 has a mark that opens or closes nothing, so one query in 1 000; one in 20 000 is not ASCII."""
    marks = {11: f'"{word}', 2_011: f"{word}'s", 4_011: f'{word}"', 6_011: f"'{word}"}
    if place % 20_000 == 17:
        return word[:-1] + "é"
    return marks.get(place % 8_000, word)
