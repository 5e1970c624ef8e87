"""Made-up search logs in the formats of published ones, of any size. What the formats have in common is here."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.logs.synthetic import aol_shape

Integers = NDArray[np.int64]


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to, compressed if its name says so."""
    with path.open("wb") as file:
        if path.suffix == ".gz":
            # no name and no time in the gzip header, so the same rows are the same bytes
            with gzip.GzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0) as compressed:
                yield compressed
        else:
            yield file


def write_lines(file: BinaryIO, lines: pa.StringArray) -> None:
    """Write strings that end their lines themselves: the array's own memory is the text."""
    _, offsets, text = lines.buffers()
    first, last = np.frombuffer(offsets, np.int32)[lines.offset : lines.offset + len(lines) + 1][[0, -1]]
    file.write(memoryview(text)[first:last])


def draw_queries(own: Integers, rng: np.random.Generator) -> Integers:
    """One query number per place, popular as in the AOL log: its rank, or a number of its own behind all ranks."""
    edges = _edges()
    drawn = rng.random(own.size)
    queries = edges.size + own
    shared = np.flatnonzero(drawn < edges[-1])
    queries[shared] = np.searchsorted(edges, drawn[shared], side="right")
    return queries


def mixed(numbers: Integers, salt: int = 0) -> NDArray[np.float64]:
    """Numbers in [0, 1) that look random, always the same for the same number."""
    scrambled = (numbers.astype(np.uint64) * np.uint64(64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
    scrambled = (scrambled ^ (scrambled >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (scrambled >> np.uint64(11)) * 2.0**-53


@cache
def _edges() -> NDArray[np.float64]:
    return np.cumsum(aol_shape().query_shares)
