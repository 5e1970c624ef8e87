"""Clients and devices that talk to a server whose every response is chosen by the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient
from tests.device.agent.fake_collector import PINNED, FakeCollector
from tests.device.agent.http_server import Respond, listening

Clients = Callable[..., CollectorClient]


@pytest.fixture
def client() -> Iterator[Clients]:
    """Make a client of a new server that responds like this."""
    with ExitStack() as stack:

        def new(respond: Respond, **more: Any) -> CollectorClient:
            made = CollectorClient(stack.enter_context(listening(respond)), **more)
            stack.callback(made.close)
            return made

        yield new


@pytest.fixture
def fake(tmp_path: Path) -> FakeCollector:
    """A collector whose every response can be replaced."""
    return FakeCollector(tmp_path / "collector")


@pytest.fixture
def collector(fake: FakeCollector, client: Clients) -> CollectorClient:
    """A client of the fake collector, as it responds at the time of each request."""
    return client(lambda request: fake.answer(request))  # noqa: PLW0108 (tests replace `answer` later)


@pytest.fixture
def agent(tmp_path: Path, fake: FakeCollector, collector: CollectorClient) -> Callable[..., Agent]:
    """Restart the device, with these changes to its settings."""
    return lambda **changed: Agent(tmp_path / "device", collector, **{**PINNED, "key": fake.signer.public, **changed})
