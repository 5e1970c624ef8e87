"""A round's reports as Parquet that `blender-dp aggregate` reads: a row per reported cell, and the list's digest."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from blender_dp.collector.storage.report_cells import cells_of
from blender_dp.collector.storage.transactions import Transaction
from blender_dp_device.digests import ListDigest

_SCHEMA = pa.schema([("head_list", pa.dictionary(pa.int32(), pa.string())), ("cell", pa.uint32())])


def write_parquet(
    transaction: Transaction, round_id: str, digest: ListDigest, sink: io.IOBase, *, ordered: bool = False
) -> Iterator[int]:
    """Write a round's reports step by step; yield the number of reports written in each step."""
    lists = pa.array([digest])
    with pq.ParquetWriter(sink, _SCHEMA) as writer:
        for reports, cells in cells_of(transaction, round_id, ordered=ordered):
            head_lists = pa.DictionaryArray.from_arrays(np.zeros(len(cells), np.int32), lists)
            writer.write_batch(pa.record_batch([head_lists, pa.array(cells)], schema=_SCHEMA))
            yield reports


def parquet_pieces(transaction: Transaction, round_id: str, digest: ListDigest) -> Iterator[bytes]:
    """The same file piece by piece, to be sent: in the order of random ids, which does not reveal who reported first."""
    sink = _Pieces()
    for _ in write_parquet(transaction, round_id, digest, sink, ordered=True):
        yield sink.take()
    yield sink.take()


class _Pieces(io.RawIOBase):
    """A file that is sent while it is being written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._length

    def write(self, piece: bytes, /) -> int:  # type: ignore[override]  # any buffer, says typeshed; Arrow sends bytes
        self._pieces.append(bytes(piece))
        self._length += len(piece)
        return len(piece)

    def take(self) -> bytes:
        """Everything written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
