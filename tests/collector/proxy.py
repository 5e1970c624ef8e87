"""A proxy in front of PostgreSQL that can fall silent: it keeps connections open, accepts bytes, and forwards nothing."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading

from sqlalchemy.engine import make_url


class SilentProxy:
    """Listens on a port of this machine for a server that listens on a Unix socket."""

    def __init__(self, url: str) -> None:
        """For the server of this URL, whose host is a folder."""
        address = make_url(url)
        self._target = f"{address.query['host']}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._speaks = threading.Event()
        self._speaks.set()
        self._open: list[socket.socket] = []
        self.url = f"postgresql://postgres@127.0.0.1:{self._listener.getsockname()[1]}/{address.database}?sslmode=disable"
        threading.Thread(target=self._accept, daemon=True).start()

    def fall_silent(self) -> None:
        self._speaks.clear()

    def speak(self) -> None:
        self._speaks.set()

    def close(self) -> None:
        self.speak()
        for one in (self._listener, *self._open):
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._open.append(client)
        self._speaks.wait()  # a new connection waits, too
        server = socket.socket(socket.AF_UNIX)
        self._open.append(server)
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            server.connect(self._target)
            other = {client: server, server: client}
            for one in other:
                selector.register(one, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    self._speaks.wait()
                    one = key.fileobj
                    assert isinstance(one, socket.socket)
                    data = one.recv(1 << 16)
                    if not data:
                        return
                    other[one].sendall(data)
        for one in (client, server):
            one.close()
