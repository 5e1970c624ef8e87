"""A network of two machines, made of Linux network namespaces, that can drop every packet silently."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.collector.places import Server

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_NOWHERE = "02:00:00:00:00:99"  # no interface has this address: what is sent there is lost
DATABASE, COLLECTOR = "10.99.0.1", "10.99.0.2"


class NoNamespacesError(Exception):
    """Says why namespaces cannot be created here."""


class Network:
    """A namespace for the database and one for a collector, with a cable between them."""

    def __init__(self) -> None:
        """Raise `NoNamespacesError` where they cannot be created."""
        self.database, self.collector = (f"blender-dp-{name}-{os.getpid()}" for name in ("db", "one"))
        if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("ip") is None:
            raise NoNamespacesError("network namespaces need Linux, root and the command ip")
        try:
            for name in (self.database, self.collector):
                _ip("netns", "add", name)
            other_end = ("peer", "name", "cable", "netns", self.collector)
            _ip("link", "add", "cable", "netns", self.database, "type", "veth", *other_end)
            for name, address in ((self.database, DATABASE), (self.collector, COLLECTOR)):
                _ip("-n", name, "addr", "add", f"{address}/30", "dev", "cable")
                for link in ("lo", "cable"):
                    _ip("-n", name, "link", "set", link, "up")
        except subprocess.CalledProcessError as error:
            self.remove()
            raise NoNamespacesError(f"network namespaces cannot be made here: {error.stderr.strip()}") from None

    def drop_packets(self) -> None:
        """Lose everything in both directions from now on: no FIN, no reset, no ICMP, and the link stays up."""
        _ip("-n", self.database, "neigh", "replace", COLLECTOR, "lladdr", _NOWHERE, "dev", "cable", "nud", "permanent")
        _ip("-n", self.collector, "neigh", "replace", DATABASE, "lladdr", _NOWHERE, "dev", "cable", "nud", "permanent")

    def deliver_packets(self) -> None:
        _ip("-n", self.database, "neigh", "flush", "all", "nud", "permanent")
        _ip("-n", self.collector, "neigh", "flush", "all", "nud", "permanent")

    def remove(self) -> None:
        for name in (self.database, self.collector):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


class NetworkServer(Server):
    """A PostgreSQL server that listens in a namespace, and on its Unix socket, which is reached from everywhere."""

    def __init__(self, network: Network) -> None:
        super().__init__(synced=False)
        self.stop()
        data = self._folder / "data"
        with (data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {COLLECTOR}/32 trust\n")
        info = self._handle.get_postmaster_info()
        arguments = ["-w", "-D", data, "-l", data / "log", "-o", f"-h {DATABASE} -k {info.socket_dir}", "start"]
        user = {"user": self._handle.system_user} if self._handle.system_user else {}

        def start() -> None:
            enter(network.database)
            subprocess.run([self._handle.bin_path / "pg_ctl", *arguments], check=True, stdout=subprocess.DEVNULL, **user)

        thread = threading.Thread(target=start)  # a thread can be in another namespace than the rest of its process
        thread.start()
        thread.join()
        self.start()  # it is already running, and is found

    def url_over_network(self, database: str) -> str:
        return f"postgresql://postgres@{DATABASE}/{database}?sslmode=disable"


def enter(namespace: str) -> None:
    """Move the calling thread, and whatever it starts, into a namespace."""
    with (Path("/run/netns") / namespace).open() as file:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(file.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")


def inside(namespace: str, function: Callable[..., Any], *given: Any) -> None:
    """Call a function in a namespace; to be run in a separate process."""
    enter(namespace)
    function(*given)


@contextmanager
def dropped(network: Network) -> Iterator[None]:
    """Lose all packets during the block."""
    network.drop_packets()
    try:
        yield
    finally:
        network.deliver_packets()


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
