"""The opt-in half of a round: how it is made, and its differentially private results as JSON, stored until the release."""

from __future__ import annotations

import json

import numpy as np

from blender_dp.errors import GroupError
from blender_dp.logs import PLAIN_COLUMNS
from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.sampling import Entropy
from blender_dp.sampling.secret import Secret
from blender_dp.stages import Calibration, Design, Discovery
from blender_dp_device.records.reporting_list import ReportingList

_SPLITS = 64  # attempts: the split is drawn again if a group happens to be empty


def dump(listing: Listing, collection: Collection) -> str:
    """The listing of a collection as text; floats are written so that they are read back exactly."""
    discovery, context = listing.context.discovery, listing.context
    return json.dumps(
        {
            "head_list": collection.published(listing.head_list, listing.design).to_document(),
            "discovery_counts": discovery.noisy_counts.tolist(),
            "candidates": discovery.is_candidate.tolist(),
            "discovery_users": context.discovery_users,
            "calibration_counts": listing.calibrated.noisy_counts.tolist(),
            "calibration_users": context.calibration_users,
        }
    )


def load(text: str, collection: Collection) -> Listing:
    """Load a dumped listing, for the collection that made it."""
    parts = json.loads(text)
    published = ReportingList.from_document(parts["head_list"])
    head_list = published.head_list
    discovery = Discovery(head_list, np.array(parts["discovery_counts"], float), np.array(parts["candidates"], np.bool_))
    return Listing(
        Calibration(head_list, np.array(parts["calibration_counts"], float)),
        collection.context(discovery, parts["discovery_users"], parts["calibration_users"]),
        Design(published.channel.f_c, published.channel.subset_size),
    )


def make(collection: Collection, raw: list[tuple[str, str, str | None]], secret: Secret, clients: int) -> Listing:
    """Make the opt-in half. The secret determines who is in the discovery group, which records are listed, and all noise."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import, and needed once per round)

    from blender_dp.engines import DuckDBEngine  # noqa: PLC0415

    owner, query, url = zip(*raw, strict=True)
    table = pa.table({"user": pa.array(owner), "query": pa.array(query), "url": pa.array(url, pa.string())})
    engine = DuckDBEngine(ordered=True, portable=True, spill=False)  # raw records are never written to a disk unencrypted
    group, _ = engine.bound(engine.load(table, PLAIN_COLUMNS, "records"), 1, "")
    for attempt in range(_SPLITS):
        key = secret.derive(b"split %d " % attempt).hex()
        discovering, calibrating = group.split(collection.parameters.f_o, key, "discovery")
        if discovering.users:
            break  # who is in which group depends on the secret and on who participates, not on any record
    else:
        raise GroupError(
            "opt-in users", "too few to be divided into two groups", "Abort the round; set f_o or min_opt_in higher"
        )
    return collection.make_list(discovering, calibrating, clients, Entropy.from_secret(secret), lambda _: None)
