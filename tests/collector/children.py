"""Processes in which collectors are killed or frozen: they start with everything imported, and with warm caches."""

from __future__ import annotations

import multiprocessing

from tests.collector.places import Place

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.collector.rehearsal"])


class Bare(Place):
    """A place as another process needs it: it has its own connections, and only needs the server's address."""

    address = ""

    @classmethod
    def of(cls, place: Place, address: str = "") -> Bare:
        made = cls(place.folder)
        object.__setattr__(made, "address", address or place.url)
        return made

    @property
    def url(self) -> str:
        return self.address
