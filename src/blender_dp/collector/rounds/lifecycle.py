"""The steps of a round that an operator or the schedule triggers; `round_states` has the table of all of them.

`freeze` spends the opt-in users' budget and fixes the noise, before anything is computed: work that a crash interrupts is
repeated with the same noise and produces the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.campaign import CampaignSettings, new_id
from blender_dp.collector.round_states import OVER, WORKED_ON
from blender_dp.collector.rounds import rules
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.ledger import Ledger
from blender_dp.collector.rounds.spending import may_not_list
from blender_dp.collector.rounds.transitions import apply, publish, spending_time
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.round_endings import Ending, Endings
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage import campaign_rows, event_rows, locks, record_rows, report_rows, round_rows
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import ParameterError, StateError
from blender_dp.sampling.secret import Secret
from blender_dp_device.digests import document_digest


@dataclass(eq=False)
class Lifecycle:
    """Opens, freezes, closes and aborts rounds."""

    store: Store
    keys: KeyFolder
    ledger: Ledger
    endings: Endings
    signer: Signer
    clock: Clock

    def open(self, campaign: str, *, lists_at: int | None = None, closes_at: int | None = None) -> Round:
        """Open the next round, so that opt-in users can upload. A campaign has one round at a time."""
        if problem := rules.closes_too_early(lists_at, closes_at, self.clock.now()):
            raise ParameterError("closes_at", problem, "Set it later, or leave it out")
        with self.store.write("open") as transaction:
            locks.hold(transaction, f"campaign/{campaign}")
            settings = campaign_rows.settings_of(transaction, campaign)
            if round_rows.has_one_under_way(transaction, campaign):
                raise StateError("campaign", "has a round that is not over", "Release or abort it first")
            round_id, number, hour = new_id(), round_rows.last_number(transaction, campaign) + 1, self.clock.hour()
            body = self.signer.sign(
                "opening",
                {
                    "campaign": campaign,
                    "round": number,
                    "round_id": round_id,
                    "epsilon": settings.epsilon,
                    "delta": settings.delta,
                    "expires": rules.opening_expiry(lists_at, closes_at, hour, settings.list_days),
                },
            )
            publish(transaction, "opening", body)
            self.keys.create(round_id)  # a key without a round is harmless; a round without a key is not
            values = {"id": round_id, "campaign": campaign, "number": number, "state": "open", "created": hour}
            times = {"lists_at": lists_at, "closes_at": closes_at}
            round_rows.insert(transaction, {**values, **times, "opening": document_digest(body)})
            event_rows.insert(transaction, round_id, "opened", hour)
            return round_rows.get(transaction, round_id)

    def freeze(self, round_id: str, *, scheduled: bool = False) -> None:
        """Accept no more records, spend the opt-in users' budget, and fix the noise."""
        with self.store.write("freeze") as transaction:
            locks.hold_round(transaction, round_id)
            one = round_rows.find_stored(transaction, round_id)
            if one is None or one.state != "open":
                return
            settings = campaign_rows.settings_of(transaction, one.campaign)
            if problem := self._may_not_freeze(transaction, one, settings):
                self._refuse(transaction, one, problem, scheduled=scheduled)
                return
            secret = vault.seal_secret(self.keys.read(round_id), f"{round_id}/noise", Secret())
            loss, hour = settings.collection().promises()[0].loss, self.clock.hour()
            self.ledger.spend(transaction, one, "opt-in", loss, spending_time(transaction, round_id, hour))
            apply(transaction, one, "freeze", hour, {"noise": secret, "problem": None, "refused_at": None})

    def close(self, round_id: str, *, scheduled: bool = False) -> None:
        """Accept no more reports, if there are enough."""
        with self.store.write("close") as transaction:
            locks.hold_round(transaction, round_id)
            one = round_rows.find_stored(transaction, round_id)
            if one is None or one.state != "listed":
                return
            minimum = campaign_rows.settings_of(transaction, one.campaign).min_reports
            if problem := rules.too_few("reports", report_rows.count(transaction, round_id, minimum), minimum):
                self._refuse(transaction, one, problem, scheduled=scheduled)
                return
            apply(transaction, one, "close", self.clock.hour(), {"problem": None, "refused_at": None})

    def abort(self, round_id: str, reason: str) -> None:
        """End a round without a release. What was spent stays spent; raw records are deleted at once, reports soon."""
        with self.store.write("abort") as transaction:
            locks.hold_round(transaction, round_id)
            one = round_rows.get(transaction, round_id)
            if one.state in OVER:
                raise StateError("round", "is already over", "Open another one")
            apply(transaction, one, "abort", self.clock.hour(), {"noise": None, "problem": reason}, detail=reason)
            record_rows.delete_all(transaction, round_id)
            self.endings.note(Ending(round_id, "aborted", reason))
        self.keys.destroy(round_id)
        self.store.purge_deleted()

    def note_problem(self, one: Round, problem: str) -> None:
        """Store why a round does not advance, unless the step succeeded and only its cleanup failed."""
        with self.store.write("stuck") as transaction:
            locks.hold_round(transaction, one.id)
            now = round_rows.get(transaction, one.id)
            if now.state in {one.state, *WORKED_ON}:
                _store_problem(transaction, now, problem)

    def _may_not_freeze(self, transaction: Transaction, one: Round, settings: CampaignSettings) -> str | None:
        users = record_rows.count(transaction, one.id)
        return (
            rules.lost_key(has_key=self.keys.has(one.id))
            or rules.too_late_to_list(one.closes_at, self.clock.now())
            or rules.too_few("opt-in users", users, settings.min_opt_in)
            or settings.too_weak(users)
            or may_not_list(
                self.ledger.catch_up(transaction), one, settings, self.clock.now(), event_rows.round_ends(transaction)
            )
        )

    def _refuse(self, transaction: Transaction, one: Round, problem: str, *, scheduled: bool) -> None:
        """Store why a step is refused. A scheduled step is retried in the next hour; the operator can retry at any time."""
        _store_problem(transaction, one, problem)
        if scheduled:
            round_rows.update(transaction, one.id, {"refused_at": self.clock.hour()})


def _store_problem(transaction: Transaction, one: Round, problem: str) -> None:
    if one.problem != problem:  # the worker checks every second
        round_rows.update(transaction, one.id, {"problem": problem})
