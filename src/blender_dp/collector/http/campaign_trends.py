"""The trends of a campaign over its releases, computed once for every set of releases, which never change."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from blender_dp.collector.rounds.lookup import Lookup
from blender_dp.collector.rounds.published import Published
from blender_dp_device.digests import DocumentDigest

MAX_ROUNDS = 52
"""Older rounds say little about now, and their releases are still published."""
_REMEMBERED = 16  # campaigns

Numbered = tuple[tuple[int, DocumentDigest], ...]
"""The numbers of rounds and the digests of their releases, oldest first."""


class CampaignTrends:
    """Smooths the shares of all releases of a campaign. This is post-processing of public numbers: it spends no budget."""

    def __init__(self, lookup: Lookup, published: Published) -> None:
        self._lookup = lookup
        self._published = published
        self._over = lru_cache(_REMEMBERED)(self._computed)

    def of(self, campaign: str) -> dict[str, Any]:
        """The rounds of a campaign, by its name or its id, with their releases, and the series of all queries."""
        released = self._lookup.released(campaign, MAX_ROUNDS)
        return self._over(tuple((one.number, one.release) for one in released if one.release is not None))

    def _computed(self, numbered: Numbered) -> dict[str, Any]:
        from blender_dp.release import Release, trends_over  # noqa: PLC0415 (slow to import)
        from blender_dp.release.population import are_comparable  # noqa: PLC0415

        releases = [(number, digest, Release.from_document(self._release(digest))) for number, digest in numbered]
        used = [one for one in releases if are_comparable([one[2], releases[-1][2]])]
        rounds = [{"number": number, "release": digest} for number, digest, _ in used]
        series = trends_over([release for _, _, release in used]).series if used else ()
        return {"rounds": rounds, "series": [asdict(one) for one in series]}

    def _release(self, digest: DocumentDigest) -> object:
        return json.loads(self._published.document(digest, "release") or b"")["content"]["release"]
