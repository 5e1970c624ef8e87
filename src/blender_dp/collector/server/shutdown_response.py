"""A response to clients that connect while the collector is stopping, instead of a reset."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus

from blender_dp_device.wire.problems import MEDIA_TYPE, PREFIX

_LOOK_SECONDS = 0.1
_READ_SECONDS = 0.5
_READ_BYTES = 1 << 16


def _response() -> bytes:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    detail = "the collector is stopping; nothing was stored, so send it again"
    problem = {"type": f"{PREFIX}stopping", "title": status.phrase, "status": int(status), "detail": detail}
    body = json.dumps(problem).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Length: {len(body)}\r\n"
        "Retry-After: 5\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


@contextmanager
def turned_away(listener: socket.socket, is_stopping: Callable[[], bool]) -> Iterator[None]:
    """While the block runs, respond 503 to connections that nobody accepts any more, as soon as the collector is stopping.

    The kernel resets connections that are still in the queue of a listening socket when it is closed. So the socket is
    closed here, after the block, at the first moment when the queue is empty: clients that never stop connecting would
    otherwise keep a collector alive that has stopped.
    """
    ended = threading.Event()

    def run() -> None:
        while not is_stopping() and not ended.wait(_LOOK_SECONDS):
            pass
        ended.wait(_LOOK_SECONDS)  # let the server accept first
        responses = []
        with suppress(OSError):
            while (client := _next_client(listener, ended)) is not None:
                responses.append(threading.Thread(target=_turn_away, args=(client,), daemon=True))
                responses[-1].start()
                responses = [one for one in responses if one.is_alive()]
        listener.close()
        end = time.monotonic() + _READ_SECONDS
        for one in responses:
            one.join(max(end - time.monotonic(), 0))

    thread = threading.Thread(target=run, name="stopping", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _next_client(listener: socket.socket, ended: threading.Event) -> socket.socket | None:
    """Wait for the next connection; when the block has ended, return None as soon as there is none."""
    while True:
        last = ended.is_set()
        listener.settimeout(0 if last else _LOOK_SECONDS)
        try:
            return listener.accept()[0]
        except (TimeoutError, BlockingIOError):
            if last:
                return None


def _turn_away(client: socket.socket) -> None:
    with suppress(OSError), client:
        client.settimeout(_READ_SECONDS)
        client.sendall(_response())
        client.shutdown(socket.SHUT_WR)
        while client.recv(_READ_BYTES):  # otherwise the kernel would send a reset, and the response would be lost
            pass
