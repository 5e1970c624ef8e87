"""A collector that stops in the middle of something with all its connections open: no FIN, and packets acknowledged."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from types import SimpleNamespace

from sqlalchemy.exc import SQLAlchemyError

from blender_dp.collector.storage import crash_points as faults
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.timeouts import Timeouts
from tests.collector.driver import live
from tests.collector.places import Place

SHORT = Timeouts(
    connect=5, ping=2, pool=5, lock=2.5, statement=3, idle=2, startup_lock=15, long_statement=20, slow_reader=4, margin=1,
    keepalive_idle=1, keepalive_interval=1, keepalive_count=2, user_timeout=2, client_check=0.5, lease=2.5, renewal=0.5,
    pause=0.2,
)  # fmt: skip
"""The shipped limits are several times as long."""


def freeze_at(place: Place, point: str, timeouts: Timeouts = SHORT) -> None:
    """Run until that point and freeze there, like a machine that has disappeared, until someone wakes it."""
    store_module.TIMEOUTS = timeouts  # type: ignore[misc]
    faults._CRASH_AT = point

    def freeze(pid: int, _: int) -> None:
        faults._CRASH_AT = ""
        os.kill(pid, signal.SIGSTOP)

    faults.os = SimpleNamespace(getpid=os.getpid, kill=freeze)  # type: ignore[assignment]
    while faults._CRASH_AT:
        with suppress(SQLAlchemyError):  # a busy machine can be too slow for such short limits
            live(place)


def wait_until_frozen(pid: int, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while state(pid) != "T":
        assert time.monotonic() < end, "it was not frozen in time"
        time.sleep(0.02)


def state(pid: int) -> str:
    """A process's state as Linux shows it."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 (a file of the kernel)
        return file.read().rpartition(")")[2].split()[0]


def wake(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)
