from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from blender_dp import Entropy, HeadList, Release
from tests.items import release_of_items

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("fast", parent=settings.get_profile("ci"), max_examples=10)
settings.register_profile("mutants", parent=settings.get_profile("ci"), max_examples=20)  # most fall to the first ones
settings.load_profile(os.environ.get("BLENDER_DP_HYPOTHESIS", "ci"))

# A shell that runs the tests in the background ignores Ctrl-C for them, and the programs they interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent

ENGINES = "tests/engines/"
LONGEST_FIRST = (ENGINES, "tests/web/")


class WithOneSpark(LoadFileScheduling):
    """Sends a file's tests to one worker, and those of all engines: a Spark of its own in every worker would take longer."""

    def _split_scope(self, nodeid: str) -> str:
        return ENGINES if nodeid.startswith(ENGINES) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    return WithOneSpark(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The engines and the browsers first: they take longest, and compute while the collector's tests wait."""
    items.sort(key=lambda item: [not item.nodeid.startswith(folder) for folder in LONGEST_FIRST])


@pytest.fixture
def entropy(request: pytest.FixtureRequest) -> Entropy:
    """A stream that every test gets for itself, the same every time."""
    return Entropy.seeded(request.node.nodeid)


@pytest.fixture
def small_list() -> HeadList:
    return HeadList.of(
        [("google", "https://www.google.com/"), ("google", "https://www.google.com/2"), ("yahoo", "https://www.yahoo.com/")]
    )


@pytest.fixture
def item_list() -> HeadList:
    """Single items: one level."""
    return HeadList.of([("calculator", None), ("camera", None), ("maps", None)])


@pytest.fixture(scope="session")
def item_release() -> Release:
    """A release of single items, made stage by stage."""
    return release_of_items()
