"""A round from its opening to its release. Every arrow is one transaction, and doing it over changes nothing.

    open ──freeze──► listing ──make_list──► listed ──close──► closed ──make_release──► released        (or aborted)

`freeze` spends the opt-in users' budget and fixes the noise, before anything is computed: work that a crash interrupts is
done over with the same noise and comes to the same bytes. `make_list` publishes the list and forgets the noise in one
transaction, and then destroys the key of the raw records.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.monitoring.log_lines import LOG, about
from blender_dp.collector.rounds import opt_in_listing as listing
from blender_dp.collector.rounds.contributions import Contributions, new_id
from blender_dp.collector.rounds.reading import Reading, kept
from blender_dp.collector.rounds.retention import destroy_left_keys, forget_reports
from blender_dp.collector.rounds.spending import is_spent, over_limit, spend
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.ledger_journal import Journal, catch_up
from blender_dp.collector.secrets.round_endings import Ending, Endings
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.leases import Claim
from blender_dp.collector.storage.report_counting import Counting
from blender_dp.collector.storage.round_rows import Round, State, find, round_ends, settings_of, under_way
from blender_dp.collector.storage.schema import answers, events, objects, records, rounds, withdrawals
from blender_dp.collector.storage.schema import ledger as ledger_table
from blender_dp.collector.storage.store import Store
from blender_dp.errors import BlenderError, ParameterError, StateError
from blender_dp.poisoning.forging import forging
from blender_dp.release import document
from blender_dp.sampling.secret import Secret
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ReportingList

_FETCHED = 10_000  # records in one statement

LEAST_SECONDS = 600
"""A list is open to reports for at least so long: devices hear of it up to five minutes late."""


class Rounds(Contributions, Reading):
    """All that can be done to campaigns and rounds."""

    def __init__(
        self,
        store: Store,
        keys: KeyFolder,
        signer: Signer,
        clock: Callable[[], float] = time.time,
        counting: Counting | None = None,
    ) -> None:
        self.store = store
        self.keys = keys
        self.journal = Journal(keys.folder)
        self.endings = Endings(keys.folder)
        self.signer = signer
        self.clock = clock
        self.counting = counting or Counting()
        self._strange: dict[str, float] = {}

    def once(self, key: str, asked: str, status: int, work: Callable[[Rounds], str]) -> tuple[str, int, str]:
        """Do some work once for a key; what was asked first, the status and the answer, which is kept with the work.

        The work is done in the transaction that keeps its answer: after a crash both are there, or neither.
        """
        with self.store.write("answer") as connection:
            self.store.hold(connection, f"answer/{key}")
            known = connection.execute(sa.select(answers).where(answers.c.key == key)).one_or_none()
            if known is not None:
                return known.request, known.status, known.body
            inside = Rounds(self.store.joined(connection), self.keys, self.signer, self.clock, self.counting)
            body = work(inside)
            row = {"key": key, "request": asked, "status": status, "body": body, "created": self._now()}
            connection.execute(answers.insert(), row)
        return asked, status, body

    def open_round(self, campaign: str, *, lists_at: int | None = None, closes_at: int | None = None) -> Round:
        """Let opt-in users upload. One round of a campaign is under way at a time."""
        if closes_at is not None and closes_at < max(lists_at or 0, self.clock()) + LEAST_SECONDS:
            problem = f"is less than {LEAST_SECONDS} seconds after the list can be made"
            raise ParameterError("closes_at", problem, "Set it later, or leave it out")
        with self.store.write("open") as connection:
            self.store.hold(connection, f"campaign/{campaign}")
            settings = settings_of(connection, campaign)
            running = sa.select(sa.func.count()).where(
                rounds.c.campaign == campaign, rounds.c.state.not_in(("released", "aborted"))
            )
            if connection.scalar(running):
                raise StateError("campaign", "has a round that is not over", "Release or abort it first")
            last = connection.scalar(sa.select(sa.func.max(rounds.c.number)).where(rounds.c.campaign == campaign))
            name, number = new_id(), (last or 0) + 1
            body = self.signer.sign(
                "opening",
                {
                    "campaign": campaign,
                    "round": number,
                    "round_id": name,
                    "epsilon": settings.epsilon,
                    "delta": settings.delta,
                    "expires": self._opening_expires(settings, lists_at, closes_at),
                },
            )
            self._publish(connection, "opening", body)
            self.keys.create(name)  # a key without a round does no harm, a round without a key would
            connection.execute(
                rounds.insert(),
                {
                    "id": name,
                    "campaign": campaign,
                    "number": number,
                    "state": "open",
                    "lists_at": lists_at,
                    "closes_at": closes_at,
                    "created": self._now(),
                    "opening": document_digest(body),
                },
            )
            self._event(connection, name, "opened")
            return find(connection, name)

    def freeze(self, name: str, *, scheduled: bool = False) -> None:
        """Take no more records, spend the opt-in users' budget, and fix the noise."""
        with self.store.write("freeze") as connection:
            self._hold(connection, name)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "open":
                return
            settings = settings_of(connection, row.campaign)
            users = connection.scalar(sa.select(sa.func.count()).where(records.c.round == name)) or 0
            problem = (
                self._lost_key(name)
                or self._too_late(row.closes_at)
                or self._too_few("opt-in users", users, settings.min_opt_in)
                or settings.too_weak(users)
                or self._may_not_spend(connection, row, settings)
            )
            if problem:
                self._refuse(connection, row, problem, scheduled=scheduled)
                return
            secret = vault.seal_secret(self.keys.read(name), f"{name}/noise", Secret())
            loss = settings.collection().promises()[0].loss
            spend(self.store, self.journal, connection, row, "opt-in", loss, self._dated(connection, name))
            changes = {"state": "listing", "noise": secret, "problem": None, "refused_at": None}
            connection.execute(rounds.update().where(rounds.c.id == name).values(changes))
            self._event(connection, name, "frozen")

    def make_list(self, name: str, claim: Claim | None = None) -> None:
        """Make and publish the head list, and destroy what could read the raw records."""
        try:
            self._make_list(name, claim or Claim())
        except BlenderError:
            if self.round(name).state == "listing":
                raise
            # Somebody else has made the list meanwhile, or aborted the round, and destroyed the key.

    def _make_list(self, name: str, claim: Claim) -> None:
        with self.store.read() as connection:
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "listing":
                return
            settings = settings_of(connection, row.campaign)
            candidates = self._candidates(connection, row)
            expires = self._expires(connection, row, settings)
            chosen = sa.select(records.c.owner, records.c.sealed).where(records.c.round == name).order_by(records.c.owner)
            kept = connection.execution_options(yield_per=_FETCHED).execute(chosen).all()
        reached("list: before work")
        key = self.keys.read(name)
        secret = vault.unseal_secret(key, f"{name}/noise", row.noise)
        unsealed = [(owner, vault.unseal_record(key, f"{name}/{owner}", sealed)) for owner, sealed in kept]
        raw = [(owner, record.query or "", record.url) for owner, record in unsealed]
        collection = settings.collection(candidates)
        made = listing.make(collection, raw, secret, settings.expected_clients)
        published = collection.published(made.head_list, made.design)
        body = self.signer.sign("head-list", self._list_content(row, published, expires))
        with self.store.write("list") as connection:
            self._hold(connection, name)
            claim.check(connection)
            changes: dict[str, Any] = {
                "state": "listed",
                "listing": listing.dump(made, collection),
                "head_list": document_digest(body),
                "noise": None,
                "problem": None,
            }
            if not self._advance(connection, name, "listing", changes):
                return  # somebody else did, with the same bytes
            self._delete_records(connection, name)
            self._publish(connection, "head-list", body)
            loss = collection.promises()[1].loss
            spend(self.store, self.journal, connection, row, "client", loss, self._dated(connection, name))
            self._event(connection, name, "listed")
        self.keys.destroy(name)
        self.store.forget_deleted()

    def close(self, name: str, *, scheduled: bool = False) -> None:
        """Take no more reports, if there are enough."""
        with self.store.write("close") as connection:
            self._hold(connection, name)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "listed":
                return
            settings = settings_of(connection, row.campaign)
            if problem := self._too_few("reports", kept(connection, name, settings.min_reports), settings.min_reports):
                self._refuse(connection, row, problem, scheduled=scheduled)
                return
            self._advance(connection, name, "listed", {"state": "closed", "problem": None, "refused_at": None})
            self._event(connection, name, "closed")

    def make_release(self, name: str, claim: Claim | None = None) -> None:
        """Blend and publish. Nothing is drawn, so doing it over gives the same bytes."""
        with self.store.read() as connection:
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "closed":
                return
            settings = settings_of(connection, row.campaign)
            collection = settings.collection(self._candidates(connection, row))
            found = listing.load(row.listing, collection)
            # The round's own last entry, not the newest: that may be another campaign's, and another one after a crash.
            own = sa.select(ledger_table.c.digest).where(ledger_table.c.round == name)
            head = connection.scalar(own.order_by(ledger_table.c.number.desc()).limit(1))
        reached("release: before work")
        published = collection.published(found.head_list, found.design)
        counted = self.counting.count(self.store, name, published.digest, found.head_list.cell_count)
        release = collection.make_release(found, *counted, seeded=False, reports_from="devices")
        content = {
            "campaign": row.campaign,
            "round": row.number,
            "ledger": head,
            "release": json.loads(document.dump(release)),
            "poisoning": asdict(forging(collection, found, counted[0])),
        }
        body = self.signer.sign("release", content)
        suggestions = [asdict(suggestion) for suggestion in release.search("", len(release.queries))]
        bundle = self.signer.sign("bundle", {"campaign": row.campaign, "round": row.number, "queries": suggestions})
        ending = Ending(name, "released", document_digest(body))
        known = self.endings.of(name) or ending
        if known != ending:  # the database was restored, and with it fewer or other reports than were released
            self.abort(name, known.problem)
            return
        with self.store.write("release") as connection:
            self._hold(connection, name)
            (claim or Claim()).check(connection)
            changes = {
                "state": "released",
                "release": document_digest(body),
                "bundle": document_digest(bundle),
                "problem": None,
            }
            if not self._advance(connection, name, "closed", changes):
                return
            self._publish(connection, "release", body)
            self._publish(connection, "bundle", bundle)
            self._event(connection, name, "released")
            if self.endings.note(ending) != ending:
                raise StateError("round", "has ended in another way meanwhile", "It is tried again")

    def abort(self, name: str, reason: str) -> None:
        """End a round without a release. What was spent stays spent; raw records are deleted, and reports by and by."""
        with self.store.write("abort") as connection:
            self._hold(connection, name)
            if find(connection, name).state in {"released", "aborted"}:
                raise StateError("round", "is over already", "Open another one")
            changes: dict[str, Any] = {"state": "aborted", "noise": None, "problem": reason}
            connection.execute(rounds.update().where(rounds.c.id == name).values(changes))
            self._delete_records(connection, name)
            self._event(connection, name, f"aborted: {reason}")
            self.endings.note(Ending(name, "aborted", reason))
        self.keys.destroy(name)
        self.store.forget_deleted()

    def advance_due(self) -> list[str]:
        """Do what is due: scheduled steps whose time has come, and work that a crash interrupted."""
        now = self.clock()
        with self.store.read() as connection:
            due = under_way(connection)
        failed: list[Exception] = []
        for one in due:
            try:
                self._advance_one(one, now)
            except Exception as error:  # noqa: BLE001 (raised below: a round that is stuck must not hold up the others)
                failed.append(error)
                with about(one.id):
                    LOG.error("the round does not advance: %s", type(error).__name__)
                with suppress(sa.exc.SQLAlchemyError):  # a storage that fails cannot be told either
                    self._stuck(one, _said(error))
        destroy_left_keys(self.store, self.keys, self._strange, self.clock())
        self.counting.clean()
        if failed:
            raise failed[0]
        return [one.id for one in due]

    def _advance_one(self, one: Round, now: float) -> None:
        if self._ended_before(one.id):
            return
        if one.state == "open" and (problem := self._lost_key(one.id)):
            self._stuck(one, problem)
        waits = one.refused_at == self._now()  # until the next hour: when it goes on must not tell who came when
        if one.state == "open" and one.lists_at is not None and one.lists_at <= now and not waits:
            self.freeze(one.id, scheduled=True)
        if one.state == "listed" and one.closes_at is not None and one.closes_at <= now and not waits:
            self.close(one.id, scheduled=True)
        if self.round(one.id).state in {"listing", "closed"}:
            with self.store.claim(one.id) as claim:  # it takes long, and the others would do the same in vain
                if claim:
                    self.make_list(one.id, claim)
                    self.make_release(one.id, claim)

    def _ended_before(self, name: str) -> bool:
        """Abort a round that is under way although it has ended: the database was restored, or an abort interrupted.

        A release that was interrupted is completed instead, from the same reports: its round is closed.
        """
        known = self.endings.of(name)
        state = self.round(name).state  # after the look at the file: whoever writes it has closed the round before
        if known is None or state in {"released", "aborted"} or (known.end == "released" and state == "closed"):
            return False
        with suppress(StateError):  # somebody else was faster
            self.abort(name, known.problem)
        return True

    def _lost_key(self, name: str) -> str | None:
        if self.keys.has(name):
            return None
        return (
            "the key of its raw records is gone: its list was made before the database was restored, or the folder of keys"
            " was lost: abort the round"
        )

    def _stuck(self, one: Round, problem: str) -> None:
        with self.store.write("stuck") as connection:
            self._hold(connection, one.id)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == one.id)).one()
            if row.state in {one.state, "listing", "closed"}:  # or else the step was done, and only its clearing up failed
                self._say(connection, row, problem)

    def forget_reports(self) -> int:
        """Delete the reports of rounds that were released long enough ago, or aborted; return how many."""
        return forget_reports(self.store, self.clock())

    def _too_few(self, what: str, count: int, least: int) -> str | None:
        return f"too few {what}: {count}, and {least} is the least" if count < least else None

    def _too_late(self, closes_at: int | None) -> str | None:
        """Whether a list would expire before devices hear of it: a budget would be spent for nothing."""
        if closes_at is None or closes_at >= self.clock() + LEAST_SECONDS:
            return None
        return f"closes_at is past, or less than {LEAST_SECONDS} seconds away: abort the round, and open another one"

    def _may_not_spend(self, connection: Connection, row: Any, settings: CampaignSettings) -> str | None:  # noqa: ANN401
        entries = catch_up(self.store, connection, self.journal)
        if is_spent(entries, row.id, "client"):  # a list may be public: another one would cost as much again
            return "the list of this round was made before the database was put back: abort the round"
        if is_spent(entries, row.id, "opt-in"):  # by a transaction that was interrupted: nothing came of it
            return None
        return over_limit(entries, row.campaign, settings, self.clock(), round_ends(connection))

    def _candidates(self, connection: Connection, row: Any) -> HeadList | None:  # noqa: ANN401
        """The list of the last round that was released: it is public."""
        body = connection.scalar(
            sa.select(objects.c.body)
            .join(rounds, rounds.c.head_list == objects.c.digest)
            .where(rounds.c.campaign == row.campaign, rounds.c.number < row.number, rounds.c.state == "released")
            .order_by(rounds.c.number.desc())
            .limit(1)
        )
        return HeadList.from_document(json.loads(body)["content"]["head_list"]) if body else None

    def _expires(self, connection: Connection, row: Any, settings: CampaignSettings) -> int:  # noqa: ANN401
        """When devices stop answering the list. It was fixed with the noise: a list that is made again is the same."""
        if row.closes_at is not None:
            return int(row.closes_at)
        frozen = sa.select(events.c.at).where(events.c.round == row.id, events.c.what == "frozen")
        return int(connection.execute(frozen).scalar_one()) + settings.list_days * DAY_SECONDS

    def _opening_expires(self, settings: CampaignSettings, lists_at: int | None, closes_at: int | None) -> int:
        """When devices stop uploading. Not at `lists_at`: a round that has too few users then waits for more."""
        return closes_at or max(self._now(), lists_at or 0) + settings.list_days * DAY_SECONDS

    def _list_content(self, row: Any, published: ReportingList, expires: int) -> dict[str, Any]:  # noqa: ANN401
        """What the signed document says. Reports name that document, by its own digest, which is not the list's."""
        return {
            "campaign": row.campaign,
            "round": row.number,
            "round_id": row.id,
            "head_list": published.to_document(),
            "list_digest": published.digest,
            "expires": expires,
        }

    def _delete_records(self, connection: Connection, name: str) -> None:
        """Delete a round's raw records, and who has withdrawn: it takes no more uploads."""
        for table in (records, withdrawals):
            self.store.delete_round(connection, table, name)

    def _publish(self, connection: Connection, kind: str, body: bytes) -> None:
        self.store.insert_new(connection, objects, [{"digest": document_digest(body), "kind": kind, "body": body}])

    def _advance(self, connection: Connection, name: str, state: State, changes: dict[str, Any]) -> bool:
        """Move on, if the round is still where it was; exactly one of all who try succeeds."""
        moved = connection.execute(rounds.update().where(rounds.c.id == name, rounds.c.state == state).values(changes))
        return moved.rowcount == 1

    def _say(self, connection: Connection, row: Any, problem: str) -> None:  # noqa: ANN401
        if row.problem != problem:  # the worker comes by every second
            connection.execute(rounds.update().where(rounds.c.id == row.id).values(problem=problem))

    def _refuse(self, connection: Connection, row: Any, problem: str, *, scheduled: bool) -> None:  # noqa: ANN401
        """Say why a step is not taken; a scheduled one is tried again in the next hour, one by hand at any time."""
        self._say(connection, row, problem)
        if scheduled:
            connection.execute(rounds.update().where(rounds.c.id == row.id).values(refused_at=self._now()))

    def _event(self, connection: Connection, name: str, what: str) -> None:
        connection.execute(events.insert(), {"at": self._now(), "round": name, "what": what})

    def _dated(self, connection: Connection, name: str) -> int:
        """Now, or when something happened last to a round: a clock may go back, and what is spent must not look old."""
        return max(self._now(), connection.scalar(sa.select(sa.func.max(events.c.at)).where(events.c.round == name)) or 0)


def _said(error: Exception) -> str:
    """What may be told about a failure: our own errors tell nothing private, and say what to do; others quote at will."""
    return str(error) if isinstance(error, BlenderError) else f"the work failed: {type(error).__name__}; it is tried again"
