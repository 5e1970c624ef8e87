"""A round's reports, counted in the database and by an engine: the counts are the same."""

from __future__ import annotations

import fcntl
import io
import itertools
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage import report_counting as counting
from blender_dp.collector.storage.parquet_export import parquet_pieces, write_parquet
from blender_dp.collector.storage.report_counting import Counting, count_in_database
from blender_dp.collector.storage.schema import reports
from blender_dp.errors import DocumentError
from blender_dp.logs import find_reports
from tests.collector.places import Place, listed, report

DIGEST, CELLS = "d" * 64, 40


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "blender_dp.collector.storage.report_cells._BATCH", 70
    )  # so that some reports make several row groups


def filled(rounds: Rounds, size: int, count: int = 300) -> str:
    """A round with reports, and another one with others."""
    made, other = listed(rounds), listed(rounds, name="other")
    cells = itertools.cycle(itertools.combinations(range(CELLS), size))
    rounds.contributions.add_reports(made.round, [report(i, *next(cells)) for i in range(count)])
    rounds.contributions.add_reports(other.round, [report(i, *next(cells)) for i in range(7)])
    return made.round


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("size", [1, 3])
def test_both_ways_agree(place: Place, size: int) -> None:
    rounds = place.rounds()
    name = filled(rounds, size)
    scratch = place.folder / "export"
    with rounds.store.read() as connection:
        expected, clients = count_in_database(connection, name, CELLS)
    found = Counting(scratch, export_from=0).count(rounds.store, name, DIGEST, CELLS)
    assert (clients, int(expected.sum())) == (300, 300 * size)
    assert found[1] == clients
    np.testing.assert_array_equal(found[0], expected)
    assert [file.name for file in scratch.iterdir()] == ["lock"]
    assert scratch.stat().st_mode & 0o777 == 0o700


class Full:
    free = 10


def test_the_threshold(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = place.rounds()
    name = filled(rounds, 1)
    points: list[str] = []
    monkeypatch.setattr(counting, "reached", points.append)
    for export_from, exports in ((301, 0), (300, 1), (0, 1)):
        points.clear()
        assert Counting(place.folder / "export", export_from).count(rounds.store, name, DIGEST, CELLS)[1] == 300
        assert len(points) == exports
    points.clear()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Full)
    assert Counting(place.folder / "export", 0).count(rounds.store, name, DIGEST, CELLS)[1] == 300
    assert points == []  # there is no room for an export


def test_the_release_is_the_same(place: Place, tmp_path: Path) -> None:
    """The bytes are the same, whether or not the reports were exported."""
    rounds = place.rounds()
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(i, i % 2) for i in range(50)])
    rounds.lifecycle.close(made.round)
    place.close()
    copy = place.copy(tmp_path / "copy")
    ways = [place.rounds(), copy.rounds(export_from=0)]
    for one in ways:
        one.schedule.advance_due()
    released = [one.lookup.round(made.round) for one in ways]
    copy.close()
    assert released[0].state == "released"
    assert released[0] == released[1]


def test_one_process_exports_at_a_time(place: Place) -> None:
    """While another process exports, a round is counted in the database, and that process's file stays."""
    rounds = place.rounds(export_from=0)
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(5)])
    rounds.lifecycle.close(made.round)
    scratch = place.folder / "export"
    scratch.mkdir()
    left = scratch / "another.parquet"
    with (scratch / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        left.write_bytes(b"half of it")
        rounds.schedule.advance_due()
        assert rounds.lookup.round(made.round).state == "released"
        assert left.exists()
    rounds.schedule.advance_due()
    assert not left.exists()


def test_files_left_by_a_crash_are_removed(place: Place) -> None:
    rounds = place.rounds(export_from=0)
    scratch = place.folder / "export"
    scratch.mkdir()
    (scratch / "0.parquet").write_bytes(b"half of it")
    rounds.schedule.advance_due()
    assert [file.name for file in scratch.iterdir()] == ["lock"]


@pytest.mark.parametrize("cells", [b"\x63\0\0\0", b"\0\0\0\0\0\0"])
@pytest.mark.parametrize("export_from", [0, 1000])
def test_reports_with_cells_that_the_list_does_not_have(place: Place, cells: bytes, export_from: int) -> None:
    rounds = place.rounds()
    name = filled(rounds, 1, count=5)
    with rounds.store.write("test") as connection:
        connection.execute(reports.insert(), {"round": name, "id": b"x" * 16, "cells": cells})
    with pytest.raises(DocumentError):
        Counting(place.folder / "export", export_from).count(rounds.store, name, DIGEST, CELLS)
    assert not list((place.folder / "export").glob("*.parquet"))


@pytest.mark.usefixtures("small_batches")
def test_the_file(place: Place, tmp_path: Path) -> None:
    """It has several row groups, is the same in pieces, and is what `blender-dp aggregate` looks for."""
    rounds = place.rounds()
    name = filled(rounds, 3)
    whole = io.BytesIO()
    with rounds.store.read() as connection:
        assert sum(write_parquet(connection, name, DIGEST, whole)) == 300
        pieces = list(parquet_pieces(connection, name, DIGEST))
    assert b"".join(pieces) == whole.getvalue()
    assert len(pieces) > 4
    file = tmp_path / "reports.parquet"
    file.write_bytes(whole.getvalue())
    assert find_reports([file]).files == (file,)
    assert pq.ParquetFile(file).num_row_groups == 5
    table = pq.read_table(file)
    assert table.column_names == ["head_list", "cell"]
    assert (table.num_rows, table["head_list"].to_pylist()[0]) == (900, DIGEST)
