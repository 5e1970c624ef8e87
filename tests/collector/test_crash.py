"""Killed at every crash point, on both databases: nothing acknowledged is lost, nothing happens twice, every round ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

import blender_dp.collector
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage import crash_points as faults
from blender_dp.collector.storage.report_counting import count_in_database
from blender_dp.collector.storage.schema import campaigns, metadata, objects, records, reports, tokens, withdrawals
from tests.collector.children import SERVER, Bare
from tests.collector.driver import BATCH, BATCHES, EARLIER, USERS, Log, corrected, crash, forget, live, reports_of
from tests.collector.places import NOON, Place, Server

MADE = ("head-list", "release", "bundle")  # noisy, or derived from noisy data
FROZEN = ("listing", "listed", "closed", "released")


LATE = tuple(point for point in faults.POINTS if point.startswith("forget"))
DATED = tuple(point for point in faults.POINTS if point.startswith("redate"))


@pytest.fixture
def place(chosen_server: Server | None, tmp_path: Path, point: str) -> Iterator[Place]:
    """A place with all tables, unless creating them is what is interrupted."""
    made = Place.new(tmp_path / "place", chosen_server, empty=point.startswith("migration"))
    yield made
    made.remove()


def test_all_crash_points_are_listed() -> None:
    folder = Path(blender_dp.collector.__file__).parent
    source = "".join(path.read_text() for path in folder.rglob("*.py"))
    assert sorted(re.findall(r'\.write\("([^"]+)"\)', source)) == sorted(faults.TRANSACTIONS)
    commits = [f"{name}: {moment} commit" for name in faults.TRANSACTIONS for moment in ("before", "after")]
    assert sorted([*re.findall(r'reached\("([^"]+)"\)', source), *commits]) == sorted(faults.POINTS)
    calls = sorted(re.findall(r"(?:engine|connection)\.(?:begin|begin_nested|commit)\(", source))
    assert calls == ["engine.begin("]  # the store's
    # What is written without a transaction: leases, which expire, and the limits of a session, which are not stored.
    alone = [path.name for path in folder.rglob("*.py") if re.search(r"autocommit = True|AUTOCOMMIT", path.read_text())]
    assert sorted(alone) == ["leases.py", "postgresql.py"]


def test_the_environment_triggers_a_crash() -> None:
    code = "from blender_dp.collector.storage.crash_points import reached; reached('key: made'); print('alive')"
    asked = {**os.environ, "BLENDER_DP_CRASH_AT": "key: made"}
    assert subprocess.run([sys.executable, "-c", code], env=asked, check=False).returncode == -signal.SIGKILL
    other = {**os.environ, "BLENDER_DP_CRASH_AT": "key: removed"}
    assert subprocess.run([sys.executable, "-c", code], env=other, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("point", [point for point in faults.POINTS if point not in (*LATE, *DATED)])
def test_a_kill_at_any_point_leads_to_the_same_bytes(place: Place, tmp_path: Path, point: str) -> None:
    acknowledged = killed(place, point, live)
    copy = place.copy(tmp_path / "copy")

    found = place.rounds()  # it starts again
    state = first_state(found)
    check_acknowledged(found, acknowledged, state)
    published = bodies(found)

    finished = live(place)
    check_finished(finished)
    assert published.items() <= bodies(finished).items()  # what was published does not change
    if state in FROZEN:  # the noise was fixed: the same bytes result, however often it is repeated
        finished_copy = live(copy)
        assert bodies(finished, *MADE) == bodies(finished_copy, *MADE)  # the second round differs in each
        assert listing(finished) == listing(finished_copy)  # all noisy counts, including those that the list does not show
    copy.close()


@pytest.mark.parametrize(
    "point", [f"{name}: {moment} commit" for name in ("freeze", "close") for moment in ("before", "after")]
)
def test_a_kill_while_a_step_is_refused(place: Place, point: str) -> None:
    acknowledged = killed(place, point, partial(live, hasty=True))
    found = place.rounds()
    assert first_state(found) == {"freeze": "open", "close": "listed"}[point.partition(":")[0]]
    check_acknowledged(found, acknowledged, first_state(found))
    check_finished(live(place))


@pytest.mark.parametrize("point", LATE)
def test_a_kill_while_reports_are_deleted(place: Place, point: str) -> None:
    killed(place, point, forget)
    found = place.rounds()
    published = bodies(found)
    assert count(found, reports) == (BATCHES * BATCH if "before" in point else 0)
    finished = forget(place)
    assert (count(finished, reports), bodies(finished), first_state(finished)) == (0, published, "released")
    finished.budgets.ledger()


@pytest.mark.parametrize("point", DATED)
def test_a_kill_while_dates_are_corrected(place: Place, point: str) -> None:
    """The ledger and its journal may differ in dates until it is repeated; the later date counts."""
    killed(place, point, corrected)
    found = place.rounds()
    with found.store.write("test") as connection:
        entries = found.ledger.catch_up(connection)
    assert {one.at for one in entries} == ({NOON // 3600 * 3600} if "before" in point else {EARLIER})
    corrected(place)
    with found.store.write("test") as connection:
        assert {one.at for one in found.ledger.catch_up(connection)} == {EARLIER}
    assert found.budgets.ledger() == [one.entry for one in entries]


def killed(place: Place, point: str, life: Callable[[Place], Rounds]) -> dict[str, list]:
    """Crash there; return what had been acknowledged until then."""
    child = SERVER.Process(target=crash, args=(Bare.of(place), point, life))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL, f"{point} was never reached"
    log = Log(place.folder / "log")
    return {what: log.all(what) for what in ("record", "withdrawn", "reports", "tokens", "operator")}


def first_state(rounds: Rounds) -> str | None:
    with rounds.store.read() as connection:
        return connection.scalar(sa.text("SELECT state FROM rounds WHERE number = 1"))


def listing(rounds: Rounds) -> str:
    with rounds.store.read() as connection:
        return str(connection.scalar(sa.text("SELECT listing FROM rounds WHERE number = 1")))


def bodies(rounds: Rounds, *kinds: str) -> dict[str, bytes]:
    """The published documents, of these kinds or of all."""
    with rounds.store.read() as connection:
        found = connection.execute(sa.select(objects)).all()
    return {row.digest: row.body for row in found if not kinds or row.kind in kinds}


def count(rounds: Rounds, table: sa.Table) -> int:
    with rounds.store.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0


def digests(rounds: Rounds, role: str) -> set[str]:
    with rounds.store.read() as connection:
        return {*connection.scalars(sa.select(tokens.c.digest).where(tokens.c.role == role))}


def check_acknowledged(rounds: Rounds, acknowledged: dict[str, list], state: str | None) -> None:
    rounds.budgets.ledger()
    assert digests(rounds, "operator") <= {vault.token_digest(token) for token in acknowledged["operator"][-1:]}
    assert digests(rounds, "opt-in") >= {vault.token_digest(token) for made in acknowledged["tokens"] for token in made}
    with rounds.store.read() as connection:
        owners = connection.scalars(sa.select(records.c.owner)).all()
        ids = Counter(connection.scalars(sa.select(reports.c.id)))
        name = connection.scalar(sa.text("SELECT id FROM rounds WHERE number = 1"))
    assert max(Counter(owners).values(), default=1) == 1
    if state in {"open", "listing"}:
        expected = {vault.token_digest(acknowledged["tokens"][0][one["user"]], name) for one in acknowledged["record"]}
        last = vault.token_digest(acknowledged["tokens"][0][USERS - 1], name) if acknowledged["tokens"] else ""
        gone = {last} if len(acknowledged["record"]) == USERS else set()  # it may be withdrawn, acknowledged or not yet
        assert expected - gone <= {*owners}
        assert not (acknowledged["withdrawn"] and last in owners)
    assert all(ids[bytes(key)] == 1 for batch in acknowledged["reports"] for key, _ in reports_of(batch))
    assert max(ids.values(), default=1) == 1


def check_finished(rounds: Rounds) -> None:
    with rounds.store.read() as connection:
        states = connection.scalars(sa.text("SELECT state FROM rounds ORDER BY number")).all()
        name = connection.scalar(sa.text("SELECT id FROM rounds WHERE number = 1"))
        counts, clients = count_in_database(connection, name, 1000)
        happened = Counter(connection.scalars(sa.text("SELECT what FROM events")))
        known = set(connection.scalars(sa.text("SELECT id FROM rounds")))
        kinds = sorted(connection.scalars(sa.select(objects.c.kind)))
    assert states == ["released", "aborted"]
    assert len(digests(rounds, "operator")) == 1
    assert (clients, int(counts[0])) == (BATCHES * BATCH, BATCHES * BATCH)
    (reason,) = [what for what in happened if what.startswith("aborted")]
    assert "key of the raw records: not found" in reason  # it was stuck, and reported why
    assert happened == {"opened": 2, "frozen": 2, "listed": 1, "closed": 1, "released": 1, reason: 1}
    assert kinds == ["bundle", "head-list", "opening", "opening", "release"]
    assert [entry.group for entry in rounds.budgets.ledger()] == ["opt-in", "client", "opt-in"]
    assert (count(rounds, campaigns), count(rounds, records), count(rounds, withdrawals)) == (2, 0, 0)
    assert not known & {*rounds.keys.names()}  # a key that never got a round may be left: it decrypts nothing
    assert len(metadata.tables) == 12
