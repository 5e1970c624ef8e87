"""A server that a test programs byte by byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@contextmanager
def serving(serve: Callable[[socket.socket], None], connections: int = 1) -> Iterator[str]:
    """Handle this many connections, one after another; yield the URL."""

    def run() -> None:
        for _ in range(connections):
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(5)
                    serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()
