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
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every test that uses it runs on both databases."""
    made = Place.new(tmp_path / "place", request.getfixturevalue("server") if request.param == "postgresql" else None)
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
