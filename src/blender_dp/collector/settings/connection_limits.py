"""Limits on each connection, and on the number of connections."""

from __future__ import annotations

import resource
from dataclasses import dataclass

_SPARE_FILES = 100  # files and sockets other than connections of clients


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits on each connection, and on the number of connections."""

    head_bytes: int = 32_768
    """Request line and headers."""
    headers: int = 100
    head_seconds: float = 10.0
    """From the first byte, or from the connection, to the end of the headers."""
    body_seconds: float = 30.0
    write_seconds: float = 30.0
    """For the client to read the next 32 KiB of a response."""
    connections: int = 2_000
    pipelined: int = 16
    """Requests that a client may send before it gets the response to an earlier one."""

    @property
    def possible_connections(self) -> int:
        """The number of connections, limited by the open files that this process may have."""
        return max(1, min(self.connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES))
