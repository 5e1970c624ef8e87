"""A real HTTP server on this machine; the test chooses every response."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    """By their names in lower case."""
    content: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path


@dataclass
class Answer:
    """A response to send."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None

    @property
    def body(self) -> bytes:
        if self.status == 204:  # it has none: the client would take any bytes for the start of the next response
            return b""
        return self.content if self.json is None else json.dumps(self.json).encode()


Respond = Callable[[Request], Answer | None]
"""None closes the connection without a response."""


@contextmanager
def listening(respond: Respond) -> Iterator[str]:
    """Serve on a free port; yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def respond(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = respond(Request(self.command, self.path, headers, content))
            if answer is None:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 204:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            try:
                self.wfile.write(answer.body)
            except OSError:  # the client has read enough
                self.close_connection = True

        do_GET = do_POST = do_DELETE = respond  # noqa: N815 (the names that the base class looks for)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # the client hung up

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
