"""The device's README lists, byte for byte, what leaves it; both are compared over a real socket."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient
from tests.conftest import ROOT
from tests.device.agent.fake_collector import PINNED, FakeCollector
from tests.device.agent.http_server import listening

PAGE = (ROOT / "device/README.md").read_text(encoding="utf-8")
BLOCK = PAGE.partition("<!-- requests")[2].partition("```text\n")[2].partition("\n```")[0]
HEX32, HEX64 = "[0-9a-f]{32}", "[0-9a-f]{64}"
PLACES = {
    "<campaign>": HEX32, "<round>": HEX32, "<id>": HEX32, "<digest>": HEX64, "<receipt>": HEX64, "<token>": HEX64,
    "<host>": r"127\.0\.0\.1:[0-9]+", "<report bytes>": "[0-9]+", "<cells>": "[0-9]+(?:, [0-9]+)*", "<spaces>": " *",
    "<query>": '(?:null|".*")', "<url>": '(?:null|".*")',
}  # fmt: skip


def listed() -> dict[str, re.Pattern[str]]:
    """The page's requests by their names, as patterns of whole requests."""
    requests = {}
    for part in re.split(r"\n\n(?=\w+\n(?:GET|POST|DELETE) )", BLOCK):
        name, _, text = part.partition("\n")
        head, _, body = text.partition("\n\n")
        pattern = re.escape("\r\n".join([*head.splitlines(), "", body]))
        if not body:
            pattern = re.escape("\r\n".join([*head.splitlines(), "", ""]))
        for place, meaning in PLACES.items():
            pattern = pattern.replace(re.escape(place), meaning)
        requests[name] = re.compile(pattern)
    return requests


def whole_message(source: socket.socket) -> bytes:
    """One request or response, or nothing at the end of a connection."""
    message = b""
    while True:
        head, end, body = message.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: ([0-9]+)", head)
        if end and len(body) >= (int(length[1]) if length else 0):
            return message
        if not (piece := source.recv(100_000)):
            return message
        message += piece


@pytest.fixture
def recorded(fake: FakeCollector) -> Iterator[tuple[str, list[bytes]]]:
    """A URL in front of the fake collector, and the bytes of every request that a device sends to it."""
    requests: list[bytes] = []

    def serve(listener: socket.socket, onward: tuple[str, int]) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, socket.create_connection(onward) as server:
                    connection.settimeout(5)
                    while request := whole_message(connection):
                        requests.append(request)
                        server.sendall(request)
                        connection.sendall(whole_message(server))

    with listening(lambda request: fake.answer(request)) as url, socket.create_server(("127.0.0.1", 0)) as listener:  # noqa: PLW0108
        onward = ("127.0.0.1", int(url.rpartition(":")[2]))
        thread = threading.Thread(target=serve, args=(listener, onward), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def test_what_leaves_is_what_the_readme_lists(fake, recorded, tmp_path):
    url, requests = recorded
    collector = CollectorClient(url)

    def agent(name: str) -> Agent:
        return Agent(tmp_path / name, collector, key=fake.signer.public, **PINNED)

    fake.publish_bundle(1)
    agent("client").take_part("query 1", "https://site1.example/")
    agent("client").refresh_bundle()
    fake.state["state"] = "open"
    agent("opt-in").upload("5" * 64, "query 1", "https://site1.example/")
    agent("nothing").upload("5" * 64, None)
    agent("opt-in").withdraw()
    collector.close()

    patterns, names = listed(), []
    for request in requests:
        text = request.decode()
        (name,) = [name for name, pattern in patterns.items() if pattern.fullmatch(text)]
        names.append(name)
        length = re.search("Content-Length: ([0-9]+)", text)
        assert len(request.partition(b"\r\n\r\n")[2]) == (int(length[1]) if length else 0)
    assert names == [
        "current", "list", "report", "current", "bundle", "current", "opening", "upload", "current", "opening", "upload",
        "withdrawal",
    ]  # fmt: skip
    assert set(names) == set(patterns)


def test_the_page_names_no_request_twice_and_knows_all_placeholders():
    assert len(listed()) == 7
    assert set(re.findall("<[a-z ]+>", BLOCK)) == set(PLACES)
