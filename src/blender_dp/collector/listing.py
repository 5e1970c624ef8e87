"""What the opt-in half of a round leaves, as JSON: private already, kept until the release is made."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np

from blender_dp.collection import Collection, Listing
from blender_dp.records.head_list import HeadList
from blender_dp.stages.discovery import Discovery
from blender_dp.stages.likelihood.estimator import Calibration
from blender_dp.stages.randomiser import Design


def dump(listing: Listing) -> str:
    """The listing as text; floats are written so that they are read back exactly."""
    found, context = listing.context.discovery, listing.context
    return json.dumps(
        {
            "head_list": listing.head_list.to_document(),
            "discovery_counts": found.noisy_counts.tolist(),
            "candidates": found.is_candidate.tolist(),
            "discovery_users": context.discovery_users,
            "calibration_counts": listing.calibrated.noisy_counts.tolist(),
            "calibration_users": context.calibration_users,
            "f_c": str(listing.design.f_c),
            "subset_size": listing.design.size,
        }
    )


def load(text: str, collection: Collection) -> Listing:
    """The listing again, for the collection that made it."""
    parts = json.loads(text)
    head_list = HeadList.from_document(parts["head_list"])
    found = Discovery(head_list, np.array(parts["discovery_counts"], float), np.array(parts["candidates"], np.bool_))
    return Listing(
        Calibration(head_list, np.array(parts["calibration_counts"], float)),
        collection.context(found, parts["discovery_users"], parts["calibration_users"]),
        Design(Fraction(parts["f_c"]), parts["subset_size"]),
    )
