"""Makes a round's release from its reports. Nothing is drawn at random, so repeating it produces the same bytes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from blender_dp.collector.rounds import opt_in_listing
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.lifecycle import Lifecycle
from blender_dp.collector.rounds.list_maker import candidates_of
from blender_dp.collector.rounds.transitions import apply, publish
from blender_dp.collector.secrets.round_endings import Ending, Endings
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage import campaign_rows, ledger_rows, locks, round_rows
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.leases import Claim
from blender_dp.collector.storage.report_counting import Counting
from blender_dp.collector.storage.round_rows import StoredRound
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError
from blender_dp.pipeline.collection import Collection
from blender_dp.poisoning.forging import forging
from blender_dp.release import document
from blender_dp_device.digests import document_digest


@dataclass(eq=False)
class ReleaseMaker:
    """Makes releases."""

    store: Store
    endings: Endings
    signer: Signer
    clock: Clock
    counting: Counting
    lifecycle: Lifecycle

    def make(self, round_id: str, claim: Claim | None = None) -> None:
        """Blend and publish a closed round."""
        with self.store.read() as transaction:
            one = round_rows.find_stored(transaction, round_id)
            if one is None or one.state != "closed":
                return
            settings = campaign_rows.settings_of(transaction, one.campaign)
            collection = settings.collection(candidates_of(round_rows.last_released_list(transaction, one)))
            # The round's own last entry. The newest one may be another campaign's, and may differ when this is repeated.
            ledger_digest = ledger_rows.last_digest(transaction, round_id)
        reached("release: before work")
        release, bundle = self._signed(one, collection, ledger_digest)
        ending = Ending(round_id, "released", document_digest(release))
        known = self.endings.of(round_id) or ending
        if known != ending:  # the database was restored, and has fewer or other reports than were released
            self.lifecycle.abort(round_id, known.problem)
            return
        with self.store.write("release") as transaction:
            locks.hold_round(transaction, round_id)
            (claim or Claim()).check(transaction)
            values = {"release": document_digest(release), "bundle": document_digest(bundle), "problem": None}
            if not apply(transaction, one, "release", self.clock.hour(), values):
                return
            publish(transaction, "release", release)
            publish(transaction, "bundle", bundle)
            if self.endings.note(ending) != ending:
                raise StateError("round", "has ended in another way in the meantime", "The step will be repeated")

    def _signed(self, one: StoredRound, collection: Collection, ledger_digest: str | None) -> tuple[bytes, bytes]:
        """The release and the bundle for local search, signed."""
        listing = opt_in_listing.load(one.listing or "", collection)
        published = collection.published(listing.head_list, listing.design)
        counts, reports = self.counting.count(self.store, one.id, published.digest, listing.head_list.cell_count)
        release = collection.make_release(listing, counts, reports, seeded=False, reports_from="devices")
        named = {"campaign": one.campaign, "round": one.number}
        content = {
            **named,
            "ledger": ledger_digest,
            "release": json.loads(document.dump(release)),
            "poisoning": asdict(forging(collection, listing, counts)),
        }
        queries = [asdict(suggestion) for suggestion in release.search("", len(release.queries))]
        return self.signer.sign("release", content), self.signer.sign("bundle", {**named, "queries": queries})
