"""What follows from the published numbers of a campaign: changes, promise and audit. Nothing here spends budget.

Each takes up to some seconds, and its inputs never change. So it is computed once, in another thread, one at a time.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import anyio

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.http.document_cache import DocumentCache
from blender_dp.collector.http.release_files import FileName, release_file
from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp.collector.rounds.campaigns import Campaigns
from blender_dp.collector.rounds.lookup import Lookup
from blender_dp.collector.secrets.signing import canonical
from blender_dp_device.digests import DocumentDigest

if TYPE_CHECKING:
    from blender_dp.release import Release

FDR = 0.05
"""The false-discovery rate of the changes between two releases."""
MAX_POPULAR = 1000
"""The most popular queries of a release; nobody can request more."""
_REMEMBERED = 64
_FILES = 6  # each of up to tens of megabytes


class CampaignFacts:
    """Computes and remembers facts about campaigns, each given by its name or its id."""

    def __init__(self, lookup: Lookup, campaigns: Campaigns, documents: DocumentCache, recent: ResponseCache) -> None:
        self._lookup = lookup
        self._campaigns = campaigns
        self._documents = documents
        self._recent = recent
        one_at_a_time = anyio.CapacityLimiter(1)
        self._known = ResponseCache(math.inf, most=_REMEMBERED, threads=one_at_a_time)
        self._files = ResponseCache(math.inf, most=_FILES, threads=one_at_a_time)

    async def changes(self, campaign: str) -> dict[str, Any]:
        """What changed from the last but one release to the last one; null if there are none to compare."""
        return await self._known.get(self._changes, await self._recent.get(self._last_two, campaign))

    async def promise(self, campaign: str) -> dict[str, Any]:
        """What every round promises to each group, in words and as exact numbers."""
        return await self._known.get(_promise, await self._recent.get(self._campaigns.settings_of, campaign))

    async def audit(self, campaign: str) -> dict[str, Any]:
        """The exact privacy loss of the integers in use: of the newest list, or of every design if there is no list yet."""
        settings = await self._recent.get(self._campaigns.settings_of, campaign)
        return await self._known.get(self._audit, settings, await self._recent.get(self._newest_list, campaign))

    async def popular(self, digest: DocumentDigest) -> list[bytes]:
        """The most popular queries of a release with their errors, most popular first, each as JSON."""
        return await self._known.get(self._popular, digest)

    async def file(self, digest: DocumentDigest, name: FileName) -> bytes:
        """A published release as a file."""
        return await self._files.get(self._file, digest, name)

    def release(self, digest: DocumentDigest) -> Release:
        """A published release."""
        from blender_dp.release import Release  # noqa: PLC0415 (slow to import)

        return Release.from_document(self._document(digest))

    def _document(self, digest: DocumentDigest) -> dict[str, Any]:
        """A release as JSON values. They are not remembered: a large release takes tens of megabytes."""
        document: dict[str, Any] = json.loads(self._documents.document(digest, "release"))["content"]["release"]
        return document

    def _popular(self, digest: DocumentDigest) -> list[bytes]:
        listed = [row for row in self._document(digest)["queries"] if row["query"] is not None]
        return [canonical(row) for row in sorted(listed, key=lambda row: -row["share"])[:MAX_POPULAR]]

    def _file(self, digest: DocumentDigest, name: FileName) -> bytes:
        return release_file(self.release(digest), name)

    def _last_two(self, campaign: str) -> tuple[tuple[int, DocumentDigest], ...]:
        return tuple((one.number, one.release) for one in self._lookup.released(campaign, 2) if one.release)

    def _newest_list(self, campaign: str) -> DocumentDigest | None:
        rounds = self._lookup.current(campaign), self._lookup.newest_release(campaign)
        return next((one.head_list for one in rounds if one and one.head_list), None)

    def _changes(self, numbered: tuple[tuple[int, DocumentDigest], ...]) -> dict[str, Any]:
        from blender_dp.release.population import are_comparable  # noqa: PLC0415

        rounds = [{"number": number, "release": digest} for number, digest in numbered]
        releases = [self.release(digest) for _, digest in numbered]
        if len(releases) < 2 or not are_comparable(releases):
            return {"rounds": rounds, "false_discovery_rate": FDR, "changes": None}
        changes = releases[0].compare(releases[1], fdr=FDR).changes
        return {"rounds": rounds, "false_discovery_rate": FDR, "changes": [asdict(one) for one in changes]}

    def _audit(self, settings: CampaignSettings, digest: DocumentDigest | None) -> dict[str, Any]:
        from blender_dp.pipeline.audit import Tables, audit_tables  # noqa: PLC0415
        from blender_dp_device.records.head_list import HeadList  # noqa: PLC0415
        from blender_dp_device.records.reporting_list import ReportingList  # noqa: PLC0415

        parameters, head_list, channel = settings.collection().parameters, HeadList.of([]), None
        if digest:
            listed = ReportingList.from_document(self._documents.content(digest, "head-list")["head_list"])
            head_list, channel = listed.head_list, listed.channel
        findings = audit_tables(Tables.of(parameters, head_list, channel), parameters, head_list)
        return {"head_list": digest, "findings": [finding.to_document() for finding in findings]}


def _promise(settings: CampaignSettings) -> dict[str, Any]:
    from blender_dp.planning.risk import PRIOR, belief  # noqa: PLC0415
    from blender_dp.privacy.loss import Model  # noqa: PLC0415
    from blender_dp.privacy.rounding import rounded_up  # noqa: PLC0415
    from blender_dp.privacy.statement import meaning  # noqa: PLC0415

    groups = []
    for one in settings.collection().promises():
        after = belief(one.loss, probabilistic=one.model is Model.CENTRAL)
        groups.append({
            "group": one.group,
            "epsilon": str(one.loss.epsilon),
            "delta": str(one.loss.delta),
            "meaning": meaning(one.model, one.loss.epsilon, one.loss.delta, "devices"),
            "prior": float(PRIOR),
            "posterior": float(rounded_up(after.most)),
            "failure_probability": rounded_up(after.fails) if after.fails else "0",
            "unit": one.unit,
            "neighbours": one.neighbours,
        })  # fmt: skip
    stored = {name: value for name, value in settings.model_dump().items() if value is not None}
    return {
        "groups": groups,
        "exposure": settings.exposure(),
        "warnings": [str(one) for one in settings.weaknesses(settings.min_opt_in)],
        "parameters": {name: str(Fraction(value)) if name in _EXACT else str(value) for name, value in stored.items()},
    }


_EXACT = ("epsilon", "delta", "f_o")
