"""A round from its opening to its release. Every arrow is one transaction, and doing it over changes nothing.

    open ──freeze──► listing ──make_list──► listed ──close──► closed ──make_release──► released        (or aborted)

`freeze` spends the opt-in users' budget and fixes the noise, before anything is computed: work that a crash interrupts is
done over with the same noise and comes to the same bytes. `make_list` publishes the list and forgets the noise in one
transaction, and then destroys the key of the raw records.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collection import Collection, Listing
from blender_dp.collector import ledger, listing, vault
from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.counting import Counting, exported
from blender_dp.collector.documents import Signer, digest
from blender_dp.collector.faults import reached
from blender_dp.collector.keys import KeyFolder
from blender_dp.collector.schema import answers, campaigns, events, objects, records, reports, rounds, tokens
from blender_dp.collector.schema import ledger as ledger_table
from blender_dp.collector.store import Store
from blender_dp.engines import PLAIN_COLUMNS, DuckDBEngine
from blender_dp.entropy import system_bytes
from blender_dp.errors import BlenderError, GroupError, StateError
from blender_dp.privacy.loss import Loss
from blender_dp.records.head_list import HeadList
from blender_dp.release import document
from blender_dp.release.poisoning import poisoning
from blender_dp.sampling import Entropy
from blender_dp.stages.response import Response

State = Literal["open", "listing", "listed", "closed", "released", "aborted"]

_ROUNDED_SECONDS = 3600  # a time that is kept is no more exact than this
_SPLITS = 64  # a group that chance has left empty is drawn again


@dataclass(frozen=True)
class Round:
    """One round as it is now."""

    id: str
    campaign: str
    number: int
    state: State
    lists_at: int | None
    closes_at: int | None
    head_list: str | None
    release: str | None
    bundle: str | None
    problem: str | None


_SHOWN = [getattr(rounds.c, name) for name in Round.__dataclass_fields__]


class Rounds:
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
        self.signer = signer
        self.clock = clock
        self.counting = counting or Counting()

    def once(self, key: str, asked: str, status: int, work: Callable[[Connection], str]) -> tuple[str, int, str]:
        """Do some work once for a key; what was asked first, the status and the answer, which is kept with the work.

        The work is done in the transaction that keeps its answer: after a crash both are there, or neither.
        """
        with self.store.write() as connection:
            self.store.hold(connection, f"answer/{key}")
            known = connection.execute(sa.select(answers).where(answers.c.key == key)).one_or_none()
            if known is not None:
                return known.request, known.status, known.body
            body = work(connection)
            row = {"key": key, "request": asked, "status": status, "body": body, "created": self._now()}
            connection.execute(answers.insert(), row)
            reached("answer: before commit")
        reached("answer: after commit")
        return asked, status, body

    def create_campaign(self, settings: CampaignSettings, connection: Connection | None = None) -> str:
        """Begin a campaign; its name must be new. With a `connection` it is a part of that transaction."""
        if connection is None:
            with self.store.write() as connection:  # noqa: PLR1704
                return self.create_campaign(settings, connection)
        name = _new_id()
        self.store.hold(connection, "campaigns")
        if connection.scalar(sa.select(campaigns.c.id).where(campaigns.c.name == settings.name)):
            raise StateError("campaign", f"{settings.name} is there already", "Take another name")
        row = {"id": name, "name": settings.name, "settings": settings.model_dump_json(), "created": self._now()}
        connection.execute(campaigns.insert(), row)
        return name

    def open_round(
        self,
        campaign: str,
        *,
        lists_at: int | None = None,
        closes_at: int | None = None,
        connection: Connection | None = None,
    ) -> Round:
        """Let opt-in users upload. One round of a campaign is under way at a time."""
        if connection is None:
            with self.store.write() as connection:  # noqa: PLR1704
                opened = self.open_round(campaign, lists_at=lists_at, closes_at=closes_at, connection=connection)
                reached("open: before commit")
            reached("open: after commit")
            return opened
        self.store.hold(connection, f"campaign/{campaign}")
        self._settings(connection, campaign)
        running = sa.select(sa.func.count()).where(
            rounds.c.campaign == campaign, rounds.c.state.not_in(("released", "aborted"))
        )
        if connection.scalar(running):
            raise StateError("campaign", "has a round that is not over", "Release or abort it first")
        last = connection.scalar(sa.select(sa.func.max(rounds.c.number)).where(rounds.c.campaign == campaign))
        name = _new_id()
        self.keys.create(name)  # a key without a round does no harm, a round without a key would
        connection.execute(
            rounds.insert(),
            {
                "id": name,
                "campaign": campaign,
                "number": (last or 0) + 1,
                "state": "open",
                "lists_at": lists_at,
                "closes_at": closes_at,
                "created": self._now(),
            },
        )
        self._event(connection, name, "opened")
        return _round(connection, name)

    def round(self, name: str) -> Round:
        """How a round is now."""
        with self.store.read() as connection:
            return _round(connection, name)

    def current(self, campaign: str | None = None) -> Round | None:
        """The newest round, of one campaign or of all."""
        chosen = _latest("opened")
        with self.store.read() as connection:
            row = connection.execute(chosen.where(rounds.c.campaign == campaign) if campaign else chosen).one_or_none()
        return Round(**row._mapping) if row else None

    def newest_release(self) -> Round | None:
        """The newest round that is released."""
        with self.store.read() as connection:
            row = connection.execute(_latest("released")).one_or_none()
        return Round(**row._mapping) if row else None

    def campaigns(self) -> list[tuple[str, CampaignSettings]]:
        """All campaigns."""
        with self.store.read() as connection:
            found = connection.execute(sa.select(campaigns.c.id, campaigns.c.settings).order_by(campaigns.c.created)).all()
        return [(row.id, CampaignSettings.model_validate_json(row.settings)) for row in found]

    def enrol(self, campaign: str, count: int = 1) -> list[str]:
        """Tokens for opt-in users, to be handed out and forgotten."""
        made = [vault.new_token() for _ in range(count)]
        rows = [
            {"digest": vault.token_digest(token), "role": "opt-in", "campaign": campaign, "created": self._now()}
            for token in made
        ]
        with self.store.write() as connection:
            self._settings(connection, campaign)
            connection.execute(tokens.insert(), rows)
        return made

    def upload_record(self, name: str, token: str, query: str, url: str | None) -> str:
        """Keep an opt-in user's raw record, encrypted, until the list is made; a second one replaces the first."""
        receipt = vault.new_token()
        with self.store.write() as connection:
            self._hold(connection, name, shared=True)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or not self._enrolled(connection, token, row.campaign):
                raise StateError("record", "this round knows no such opt-in user", "Enrol first", kind="forbidden")
            if row.state != "open":
                raise StateError("round", f"is {row.state}, not open", "Wait for the next round")
            owner = vault.token_digest(token, name)
            sealed = vault.seal_record(self.keys.read(name), f"{name}/{owner}", query, url)
            record = {"receipt": vault.token_digest(receipt), "round": name, "owner": owner, "sealed": sealed}
            self.store.put(connection, records, record, unique=("round", "owner"))
            reached("records: before commit")
        reached("records: after commit")
        return receipt

    def withdraw(self, receipt: str) -> bool:
        """Take a raw record back, as long as its list is not being made; whether it was there."""
        known = records.c.receipt == vault.token_digest(receipt)
        with self.store.write() as connection:
            name = connection.scalar(sa.select(records.c.round).where(known))
            if name is None:
                return False
            self._hold(connection, name, shared=True)
            if _round(connection, name).state != "open":
                return False
            deleted = connection.execute(records.delete().where(known))
            reached("withdraw: before commit")
        reached("withdraw: after commit")
        return deleted.rowcount == 1

    def add_reports(self, name: str, arrived: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep reports, each an id and its cells; one whose id is there already changes nothing."""
        with self.store.write() as connection:
            self._hold(connection, name, shared=True)
            if _round(connection, name).state != "listed":
                raise StateError("round", "does not take reports", "Ask for the current round")
            self.store.insert_reports(connection, name, arrived)
            reached("reports: before commit")
        reached("reports: after commit")

    def freeze(self, name: str) -> None:
        """Take no more records, spend the opt-in users' budget, and fix the noise."""
        with self.store.write() as connection:
            self._hold(connection, name)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "open":
                return
            settings = self._settings(connection, row.campaign)
            users = connection.scalar(sa.select(sa.func.count()).where(records.c.round == name)) or 0
            problem = self._too_few("opt-in users", users, settings.min_opt_in) or self._over_limit(
                connection, row, settings
            )
            if problem:
                self._say(connection, row, problem)
                return
            secret = vault.seal(self.keys.read(name), f"{name}/noise", system_bytes(vault.KEY_BYTES))
            self._spend(connection, row, "opt-in", settings.collection().promises()[0].loss)
            changes = {"state": "listing", "noise": secret, "problem": None}
            connection.execute(rounds.update().where(rounds.c.id == name).values(changes))
            self._event(connection, name, "frozen")
            reached("freeze: before commit")
        reached("freeze: after commit")

    def make_list(self, name: str) -> None:
        """Make and publish the head list, and destroy what could read the raw records."""
        try:
            self._make_list(name)
        except BlenderError:
            if self.round(name).state == "listing":
                raise
            # Somebody else has made the list meanwhile, or aborted the round, and destroyed the key.

    def _make_list(self, name: str) -> None:
        with self.store.read() as connection:
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "listing":
                return
            settings = self._settings(connection, row.campaign)
            candidates = self._candidates(connection, row)
            kept = connection.execute(
                sa.select(records.c.owner, records.c.sealed).where(records.c.round == name).order_by(records.c.owner)
            ).all()
        reached("list: before work")
        key = self.keys.read(name)
        secret = vault.unseal(key, f"{name}/noise", row.noise)
        raw = [(owner, *vault.unseal_record(key, f"{name}/{owner}", sealed)) for owner, sealed in kept]
        collection = settings.collection(candidates)
        made = _list(collection, raw, secret, settings.expected_clients)
        body = self.signer.sign("head-list", self._list_content(row, settings, made))
        with self.store.write() as connection:
            self._hold(connection, name)
            changes: dict[str, Any] = {
                "state": "listed",
                "listing": listing.dump(made),
                "head_list": digest(body),
                "noise": None,
                "problem": None,
            }
            if not self._advance(connection, name, "listing", changes):
                return  # somebody else did, with the same bytes
            connection.execute(records.delete().where(records.c.round == name))
            self._publish(connection, "head-list", body)
            self._spend(connection, row, "client", collection.promises()[1].loss)
            self._event(connection, name, "listed")
            reached("list: before commit")
        reached("list: after commit")
        self.keys.destroy(name)
        self.store.forget_deleted()

    def close(self, name: str) -> None:
        """Take no more reports, if there are enough."""
        with self.store.write() as connection:
            self._hold(connection, name)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "listed":
                return
            settings = self._settings(connection, row.campaign)
            count = connection.scalar(sa.select(sa.func.count()).where(reports.c.round == name)) or 0
            if problem := self._too_few("reports", count, settings.min_reports):
                self._say(connection, row, problem)
                return
            self._advance(connection, name, "listed", {"state": "closed", "problem": None})
            self._event(connection, name, "closed")
            reached("close: before commit")
        reached("close: after commit")

    def make_release(self, name: str) -> None:
        """Blend and publish. Nothing is drawn, so doing it over gives the same bytes."""
        with self.store.read() as connection:
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or row.state != "closed":
                return
            settings = self._settings(connection, row.campaign)
            collection = settings.collection()
            found = listing.load(row.listing, collection)
            reached("release: before work")
            counted = self.counting.count(connection, name, found.head_list.digest, found.head_list.cell_count)
            if counted is None:
                return  # another process is at it; the worker comes by again
            # The round's own last entry, not the newest: that may be another campaign's, and another one after a crash.
            own = sa.select(ledger_table.c.digest).where(ledger_table.c.round == name)
            head = connection.scalar(own.order_by(ledger_table.c.number.desc()).limit(1))
        release = collection.make_release(found, *counted, seeded=False, reports_from="devices")
        content = {
            "campaign": row.campaign,
            "round": row.number,
            "ledger": head,
            "release": json.loads(document.dump(release)),
            "poisoning": asdict(poisoning(release, Response.of(collection.channel(found.head_list, found.design)))),
        }
        body = self.signer.sign("release", content)
        suggestions = [asdict(suggestion) for suggestion in release.search("", len(release.queries))]
        bundle = self.signer.sign("bundle", {"campaign": row.campaign, "round": row.number, "queries": suggestions})
        with self.store.write() as connection:
            self._hold(connection, name)
            changes = {"state": "released", "release": digest(body), "bundle": digest(bundle), "problem": None}
            if not self._advance(connection, name, "closed", changes):
                return
            self._publish(connection, "release", body)
            self._publish(connection, "bundle", bundle)
            self._event(connection, name, "released")
            reached("release: before commit")
        reached("release: after commit")

    def abort(self, name: str, reason: str) -> None:
        """End a round without a release. What was spent stays spent; raw records and reports are deleted."""
        with self.store.write() as connection:
            self._hold(connection, name)
            if _round(connection, name).state in {"released", "aborted"}:
                raise StateError("round", "is over already", "Open another one")
            changes: dict[str, Any] = {"state": "aborted", "noise": None, "problem": reason}
            connection.execute(rounds.update().where(rounds.c.id == name).values(changes))
            connection.execute(records.delete().where(records.c.round == name))
            connection.execute(reports.delete().where(reports.c.round == name))
            self._event(connection, name, f"aborted: {reason}")
            reached("abort: before commit")
        reached("abort: after commit")
        self.keys.destroy(name)
        self.store.forget_deleted()

    def advance_due(self) -> list[str]:
        """Do what is due: scheduled steps whose time has come, and work that a crash interrupted."""
        now = self.clock()
        with self.store.read() as connection:
            due = [_round(connection, name) for name in connection.scalars(
                sa.select(rounds.c.id).where(rounds.c.state.not_in(("released", "aborted"))).order_by(rounds.c.created)
            )]  # fmt: skip
        failed: list[Exception] = []
        for one in due:
            try:
                self._advance_one(one, now)
            except Exception as error:  # noqa: BLE001 (raised below: a round that is stuck must not hold up the others)
                failed.append(error)
                if isinstance(error, BlenderError):  # its text tells nothing private, and says what to do
                    self._stuck(one, str(error))
        self._destroy_left_keys()
        self.counting.clean()
        if failed:
            raise failed[0]
        return [one.id for one in due]

    def _advance_one(self, one: Round, now: float) -> None:
        if one.state == "open" and one.lists_at is not None and one.lists_at <= now:
            self.freeze(one.id)
        if one.state == "listed" and one.closes_at is not None and one.closes_at <= now:
            self.close(one.id)
        self.make_list(one.id)
        self.make_release(one.id)

    def _stuck(self, one: Round, problem: str) -> None:
        with self.store.write() as connection:
            self._hold(connection, one.id)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == one.id)).one()
            if row.state not in {"released", "aborted"}:
                self._say(connection, row, problem)

    def ledger_entries(self) -> list[ledger.Entry]:
        """The whole ledger, checked."""
        with self.store.read() as connection:
            found = connection.execute(
                sa.select(ledger_table.c.entry, ledger_table.c.digest).order_by(ledger_table.c.number)
            )
            return ledger.check((row.entry, row.digest) for row in found)

    def object(self, name: str, kind: str) -> bytes | None:
        """A published document by its digest."""
        with self.store.read() as connection:
            body: bytes | None = connection.scalar(
                sa.select(objects.c.body).where(objects.c.digest == name, objects.c.kind == kind)
            )
            return body

    def exported(self, name: str) -> Iterator[bytes]:
        """The reports of a round that takes no more, piece by piece, as a file that `blender-dp aggregate` reads."""
        with self.store.read() as connection:
            row = connection.execute(sa.select(rounds.c.state, rounds.c.listing).where(rounds.c.id == name)).one_or_none()
        if row is None:
            raise StateError("round", "is not known", "Ask for the current round", kind="missing")
        if row.state not in {"closed", "released"}:
            raise StateError("round", f"is {row.state}", "Only a round that is closed or released can be exported")
        return self._exported(name, HeadList.from_document(json.loads(row.listing)["head_list"]).digest)

    def _exported(self, name: str, answered: str) -> Iterator[bytes]:
        with self.store.read() as connection:
            yield from exported(connection, name, answered)

    def _destroy_left_keys(self) -> None:
        """Destroy the keys whose rounds need them no more: a crash may have come between."""
        with self.store.read() as connection:
            needed = set(connection.scalars(sa.select(rounds.c.id).where(rounds.c.state.in_(("open", "listing")))))
            known = set(connection.scalars(sa.select(rounds.c.id)))
        for name in self.keys.names():
            if name in known and name not in needed:
                self.keys.destroy(name)

    def _settings(self, connection: Connection, campaign: str) -> CampaignSettings:
        text = connection.scalar(sa.select(campaigns.c.settings).where(campaigns.c.id == campaign))
        if text is None:
            raise StateError("campaign", "is not known", "Ask for the campaigns there are", kind="missing")
        return CampaignSettings.model_validate_json(text)

    def _enrolled(self, connection: Connection, token: str, campaign: str) -> bool:
        found = connection.execute(
            sa.select(tokens.c.digest).where(
                tokens.c.digest == vault.token_digest(token), tokens.c.role == "opt-in", tokens.c.campaign == campaign
            )
        ).one_or_none()
        return found is not None

    def _too_few(self, what: str, count: int, least: int) -> str | None:
        return f"too few {what}: {count}, and {least} is the least" if count < least else None

    def _over_limit(self, connection: Connection, row: Any, settings: CampaignSettings) -> str | None:  # noqa: ANN401
        if settings.max_epsilon is None:
            return None
        entries = (
            sa.select(ledger_table.c.entry)
            .join(rounds, rounds.c.id == ledger_table.c.round)
            .where(rounds.c.campaign == row.campaign, ledger_table.c.user_group == "opt-in")
            .order_by(ledger_table.c.number)
        )
        if settings.period_days is not None:  # since it was spent, not since the round was opened; give or take an hour
            since = self.clock() - settings.period_days * 86_400 - _ROUNDED_SECONDS
            frozen = sa.select(events.c.round).where(events.c.what == "frozen", events.c.at >= int(since))
            entries = entries.where(rounds.c.id.in_(frozen))
        losses = [ledger.parse(entry).loss for entry in connection.scalars(entries)]
        total = ledger.composed([*losses, settings.collection().promises()[0].loss])
        limit = float(Fraction(settings.max_epsilon))
        return f"the budget is used up: ε would be {total:.3g}, and {limit:g} is the most" if total > limit else None

    def _spend(self, connection: Connection, row: Any, group: str, loss: Loss) -> None:  # noqa: ANN401
        self.store.hold(connection, "ledger")
        last = connection.execute(
            sa.select(ledger_table.c.number, ledger_table.c.digest).order_by(ledger_table.c.number.desc()).limit(1)
        ).one_or_none()
        entry = ledger.Entry(
            number=(last.number if last else 0) + 1,
            campaign=row.campaign,
            round=row.id,
            group=group,
            epsilon=str(loss.epsilon),
            delta=str(loss.delta),
            before=last.digest if last else ledger.START,
        )
        connection.execute(
            ledger_table.insert(),
            {
                "number": entry.number,
                "round": row.id,
                "user_group": group,
                "entry": entry.text(),
                "digest": entry.digest,
            },
        )

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

    def _list_content(self, row: Any, settings: CampaignSettings, made: Listing) -> dict[str, Any]:  # noqa: ANN401
        return {
            "campaign": row.campaign,
            "round": row.number,
            "round_id": row.id,
            "head_list": made.head_list.to_document(),
            "digest": made.head_list.digest,
            "f_c": str(made.design.f_c),
            "subset_size": made.design.size,
            "epsilon": settings.epsilon,
            "expires": row.closes_at,
        }

    def _publish(self, connection: Connection, kind: str, body: bytes) -> None:
        self.store.insert_new(connection, objects, [{"digest": digest(body), "kind": kind, "body": body}])

    def _advance(self, connection: Connection, name: str, state: State, changes: dict[str, Any]) -> bool:
        """Move on, if the round is still where it was; exactly one of all who try succeeds."""
        moved = connection.execute(rounds.update().where(rounds.c.id == name, rounds.c.state == state).values(changes))
        return moved.rowcount == 1

    def _hold(self, connection: Connection, name: str, *, shared: bool = False) -> None:
        """Keep a round as it is until the transaction ends: shared by who adds to it, alone by who moves it on."""
        self.store.hold(connection, f"round/{name}", shared=shared)

    def _say(self, connection: Connection, row: Any, problem: str) -> None:  # noqa: ANN401
        if row.problem != problem:  # the worker comes by every second
            connection.execute(rounds.update().where(rounds.c.id == row.id).values(problem=problem))

    def _event(self, connection: Connection, name: str, what: str) -> None:
        connection.execute(events.insert(), {"at": self._now(), "round": name, "what": what})

    def _now(self) -> int:
        return int(self.clock()) // _ROUNDED_SECONDS * _ROUNDED_SECONDS


def _round(connection: Connection, name: str) -> Round:
    row = connection.execute(sa.select(*_SHOWN).where(rounds.c.id == name)).one_or_none()
    if row is None:
        raise StateError("round", "is not known", "Ask for the current round", kind="missing")
    return Round(**row._mapping)


def _latest(what: str) -> sa.Select[Any]:
    """The round that this happened to last. Events are numbered; clocks go back, and rounds of an hour have one time."""
    return (
        sa.select(*_SHOWN).join(events, events.c.round == rounds.c.id).where(events.c.what == what)
        .order_by(events.c.number.desc()).limit(1)
    )  # fmt: skip


def _new_id() -> str:
    return system_bytes(16).hex()


def _list(collection: Collection, raw: list[tuple[str, str, str | None]], secret: bytes, clients: int) -> Listing:
    """The opt-in half, fixed by the secret: who discovers, which records are listed, and all noise."""
    owner, query, url = zip(*raw, strict=True)
    table = pa.table({"user": pa.array(owner), "query": pa.array(query), "url": pa.array(url, pa.string())})
    engine = DuckDBEngine(ordered=True, portable=True)
    group, _ = engine.bound(engine.load(table, PLAIN_COLUMNS, "records"), 1, "")
    for attempt in range(_SPLITS):
        key = hashlib.sha256(b"split %d " % attempt + secret).hexdigest()
        discovering, calibrating = group.split(collection.parameters.f_o, key, "discovery")
        if discovering.users:
            break  # who is in which group depends on the secret and on who takes part, on nobody's record
    else:
        raise GroupError("opt-in users", "are too few to be parted in two", "Abort the round; set f_o or min_opt_in higher")
    return collection.make_list(discovering, calibrating, clients, Entropy.fixed(secret), lambda _: None)
