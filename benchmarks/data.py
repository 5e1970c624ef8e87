"""Synthetic logs for the benchmarks: one canonical record per user, popularity as in the AOL log, stored in .bench/data."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from blender_dp.logs.synthetic import aol_shape

FOLDER = Path(".bench/data")

_SEED = 20170817
_CHUNK = 500_000  # users at a time, so that memory does not depend on the size of the log
_WORDS = pa.array(["".join(s) for s in product([c + v for c in "bdfgklmnprstvz" for v in "aeiou"], repeat=3)])
_NAMES = len(_WORDS) ** 2  # a query is two words: 10^11 possible queries
_SCATTER = 50_000_017  # coprime to that number, so that neighbouring ranks get different-looking names and no two are equal


def log(rows: int) -> Path:
    """The log of this many users, written on first use.

    Its mixture is the same at every size: 29 % of the users share 300,000 queries, and every other user has a unique one. So
    the number of distinct records grows with the number of rows, which is a hard case for grouping and for selection.
    """
    path = FOLDER / f"aol-like-{rows}.parquet"
    if not path.exists():
        print(f"writing {path} (once)", file=sys.stderr)
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        _write(rows, unfinished)
        unfinished.rename(path)
    return path


def _write(rows: int, path: Path) -> None:
    edges = np.cumsum(aol_shape().query_shares)
    schema = pa.schema([(name, pa.string()) for name in ("user", "query", "url")])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, _CHUNK):
            writer.write_table(_chunk(np.arange(first, min(first + _CHUNK, rows)), edges))


def _chunk(users: np.ndarray, edges: np.ndarray) -> pa.Table:
    rng = np.random.default_rng([_SEED, users[0]])
    rank = np.searchsorted(edges, rng.random(users.size), side="right")
    alone = rank == edges.size
    query = np.where(alone, edges.size + users, rank)  # a number that no one else has
    page = np.where(alone, 1, rng.geometric(0.7, users.size))
    scattered = query * _SCATTER % _NAMES
    first, second = (_WORDS.take(pa.array(part)) for part in np.divmod(scattered, len(_WORDS)))
    return pa.table(
        {
            "user": pa.array(users).cast(pa.string()),
            "query": pc.binary_join_element_wise(first, second, " "),
            "url": pc.binary_join_element_wise(
                "https://www.", first, second, ".example/", pa.array(page).cast(pa.string()), ""
            ),
        }
    )
