"""Makes a round's head list from its raw records, and then destroys the key that could decrypt them.

The list is published and the noise forgotten in one transaction; the key of the raw records is destroyed after it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.rounds import opt_in_listing, rules
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.ledger import Ledger
from blender_dp.collector.rounds.transitions import apply, publish, spending_time
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage import campaign_rows, event_rows, locks, record_rows, round_rows
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.leases import Claim
from blender_dp.collector.storage.round_rows import StoredRound
from blender_dp.collector.storage.store import Store
from blender_dp.errors import BlenderError
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList


@dataclass(frozen=True)
class _Inputs:
    """Everything that the list depends on."""

    round: StoredRound
    settings: CampaignSettings
    candidates: HeadList | None
    expires: int
    sealed: list[tuple[str, bytes]]
    """Owners and their encrypted records."""


@dataclass(eq=False)
class ListMaker:
    """Makes head lists."""

    store: Store
    keys: KeyFolder
    ledger: Ledger
    signer: Signer
    clock: Clock

    def make(self, round_id: str, claim: Claim | None = None) -> None:
        """Make and publish the head list of a round that is being listed."""
        try:
            inputs = self._read(round_id)
            if inputs is not None:
                self._make(inputs, claim or Claim())
        except BlenderError:
            with self.store.read() as transaction:
                if round_rows.get(transaction, round_id).state == "listing":
                    raise
            # In the meantime, another process has made the list or aborted the round, and destroyed the key.

    def _read(self, round_id: str) -> _Inputs | None:
        with self.store.read() as transaction:
            one = round_rows.find_stored(transaction, round_id)
            if one is None or one.state != "listing":
                return None
            settings = campaign_rows.settings_of(transaction, one.campaign)
            frozen_at = event_rows.time_of(transaction, round_id, "frozen")
            return _Inputs(
                one,
                settings,
                candidates_of(round_rows.last_released_list(transaction, one)),
                rules.list_expiry(one.closes_at, frozen_at, settings.list_days),
                record_rows.all_sealed(transaction, round_id),
            )

    def _make(self, inputs: _Inputs, claim: Claim) -> None:
        one, settings = inputs.round, inputs.settings
        reached("list: before work")
        key = self.keys.read(one.id)
        secret = vault.unseal_secret(key, f"{one.id}/noise", one.noise or b"")
        records = [(owner, vault.unseal_record(key, f"{one.id}/{owner}", sealed)) for owner, sealed in inputs.sealed]
        raw = [(owner, record.query or "", record.url) for owner, record in records]
        collection = settings.collection(inputs.candidates)
        listing = opt_in_listing.make(collection, raw, secret, settings.expected_clients)
        published = collection.published(listing.head_list, listing.design)
        body = self.signer.sign(
            "head-list",
            {
                "campaign": one.campaign,
                "round": one.number,
                "round_id": one.id,
                "head_list": published.to_document(),
                "list_digest": published.digest,
                "expires": inputs.expires,
            },
        )
        values = {"listing": opt_in_listing.dump(listing, collection), "head_list": document_digest(body), "noise": None}
        with self.store.write("list") as transaction:
            locks.hold_round(transaction, one.id)
            claim.check(transaction)
            hour = self.clock.hour()
            if not apply(transaction, one, "list", hour, {**values, "problem": None}):
                return  # another process did it, with the same bytes
            record_rows.delete_all(transaction, one.id)
            publish(transaction, "head-list", body)
            loss = collection.promises()[1].loss
            self.ledger.spend(transaction, one, "client", loss, spending_time(transaction, one.id, hour))
        self.keys.destroy(one.id)
        self.store.purge_deleted()


def candidates_of(document: bytes | None) -> HeadList | None:
    """The records that may be listed again: those of the campaign's last released list, which is public."""
    return HeadList.from_document(json.loads(document)["content"]["head_list"]) if document else None
