"""A response to clients that connect while the collector is stopping, instead of a reset."""

from __future__ import annotations

import ctypes
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus

from blender_dp_device.wire.problems import MEDIA_TYPE, PREFIX

_LOOK_SECONDS = 0.1
_READ_SECONDS = 0.5
_READ_BYTES = 1 << 16
_HANDSHAKE_SECONDS = 0.1
_SO_ATTACH_FILTER = 26
_NO_NEW_CONNECTIONS = (  # a program of Linux's packet filter: (operation, jump if true, jump if false, operand)
    (0x30, 0, 0, 13),  # load the byte that holds the flags of the TCP header
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # a SYN without ACK asks for a new connection:
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # let everything else pass
)


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
    closed here, after the block, when the queue is empty. Clients that connect in that last moment are ignored by the kernel
    (on Linux); they try again a second later, when nobody listens any more.
    """
    ended = threading.Event()

    def run() -> None:
        while not is_stopping() and not ended.wait(_LOOK_SECONDS):
            pass
        ended.wait(_LOOK_SECONDS)  # let the server accept first
        responses = []
        with suppress(OSError):
            for client in _clients(listener, ended):
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


def _clients(listener: socket.socket, ended: threading.Event) -> Iterator[socket.socket]:
    """The clients that connect until the block has ended, and then those that are still in the queue."""
    while not ended.is_set():
        listener.settimeout(_LOOK_SECONDS)
        with suppress(TimeoutError):
            yield listener.accept()[0]
    # Clients that have sent their SYN already arrive soon. If others keep coming, the first empty moment must do.
    listener.settimeout(_HANDSHAKE_SECONDS if _ignores_new_clients(listener) else 0)
    with suppress(TimeoutError, BlockingIOError):
        while True:
            yield listener.accept()[0]


def _ignores_new_clients(listener: socket.socket) -> bool:
    """Tell the kernel to drop requests for new connections, so that the queue stays empty; False if it cannot."""
    program = b"".join(struct.pack("=HBBI", *step) for step in _NO_NEW_CONNECTIONS)
    buffer = ctypes.create_string_buffer(program)
    pointer = struct.pack("@HP", len(_NO_NEW_CONNECTIONS), ctypes.addressof(buffer))
    if sys.platform == "linux":
        with suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, pointer)
            return True
    return False


def _turn_away(client: socket.socket) -> None:
    with suppress(OSError), client:
        client.settimeout(_READ_SECONDS)
        client.sendall(_response())
        client.shutdown(socket.SHUT_WR)
        while client.recv(_READ_BYTES):  # otherwise the kernel would send a reset, and the response would be lost
            pass
