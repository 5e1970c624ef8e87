from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blender_dp.collector.rounds.facade import Rounds
from tests.collector.places import Place, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    made = Server(synced=False)
    yield made
    made.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def chosen_server(request: pytest.FixtureRequest) -> Server | None:
    """Every test that uses it runs on both databases."""
    return request.getfixturevalue("server") if request.param == "postgresql" else None


@pytest.fixture
def place(chosen_server: Server | None, tmp_path: Path) -> Iterator[Place]:
    """A database with all tables and no rows."""
    made = Place.new(tmp_path / "place", chosen_server)
    yield made
    made.remove()


@pytest.fixture
def empty_place(chosen_server: Server | None, tmp_path: Path) -> Iterator[Place]:
    """A database without tables, as before the first start."""
    made = Place.new(tmp_path / "place", chosen_server, empty=True)
    yield made
    made.remove()


@pytest.fixture
def postgresql(server: Server, tmp_path: Path) -> Iterator[Place]:
    made = Place.new(tmp_path / "place", server)
    yield made
    made.remove()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Place]:
    made = Place.new(tmp_path / "place", None)
    yield made
    made.remove()


@pytest.fixture
def rounds(place: Place) -> Rounds:
    return place.rounds()
