"""The trends of a campaign over its releases, computed once for every set of releases, which never change."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import anyio
import msgspec

from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp.collector.rounds.lookup import Lookup
from blender_dp.collector.rounds.published import Published
from blender_dp_device.digests import DocumentDigest

MAX_ROUNDS = 52
"""Older rounds say little about now, and their releases are still published."""
MAX_SERIES = 1000
"""The most popular queries; nobody can request more."""
MAX_POINTS = 10_000
"""Queries times rounds. Each takes milliseconds, and a collector has other things to do."""
_REMEMBERED = 16  # campaigns

Numbered = tuple[tuple[int, DocumentDigest], ...]
"""The numbers of rounds and the digests of their releases, oldest first."""


class CampaignTrends:
    """Smooths the shares of all releases of a campaign. This is post-processing of public numbers: it spends no budget.

    That may take a minute. So one campaign is computed at a time, and other requests keep their threads.
    """

    def __init__(self, lookup: Lookup, published: Published, recent: ResponseCache) -> None:
        self._lookup = lookup
        self._published = published
        self._recent = recent
        self._known = ResponseCache(math.inf, most=_REMEMBERED, threads=anyio.CapacityLimiter(1))

    async def of(self, campaign: str, n: int) -> dict[str, Any]:
        """The rounds of a campaign, by its name or its id, with their releases, and the series of the n top queries."""
        trends = await self._known.get(self._computed, await self._recent.get(self._released, campaign))
        return {**trends, "series": trends["series"][:n]}

    def _released(self, campaign: str) -> Numbered:
        released = self._lookup.released(campaign, MAX_ROUNDS)
        return tuple((one.number, one.release) for one in released if one.release is not None)

    def _computed(self, numbered: Numbered) -> dict[str, Any]:
        from blender_dp.release import Release, trends_over  # noqa: PLC0415 (slow to import)
        from blender_dp.release.population import are_comparable  # noqa: PLC0415

        releases = [(number, digest, Release.from_document(self._release(digest))) for number, digest in numbered]
        used = [one for one in releases if are_comparable([one[2], releases[-1][2]])]
        rounds = [{"number": number, "release": digest} for number, digest, _ in used]
        most = min(MAX_SERIES, MAX_POINTS // max(len(used), 1))
        series = trends_over([release for _, _, release in used], most=most).series if used else ()
        # Encoded only once: a thousand series of a year would occupy the event loop of every request.
        return {"rounds": rounds, "series": [msgspec.Raw(msgspec.json.encode(asdict(one))) for one in series]}

    def _release(self, digest: DocumentDigest) -> object:
        return json.loads(self._published.document(digest, "release") or b"")["content"]["release"]
