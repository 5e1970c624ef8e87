"""A release: what BLENDER publishes, with its two uses, trends and local search."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from blender_dp.errors import DocumentError
from blender_dp.extras import needs
from blender_dp.parameters import Parameters
from blender_dp.release import document, files, notebook
from blender_dp.release.comparison import Comparison, compare
from blender_dp.release.disagreement import DisagreementReport, report_disagreement
from blender_dp.release.estimates import QueryEstimate, RecordEstimate, to_arrow
from blender_dp.release.manifest import Manifest
from blender_dp_device.records.canonical import canonical_query
from blender_dp_device.records.head_list import HeadList, read_json
from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList, names_channel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True)
class Suggestion:
    """A listed query with its share, and its URLs with theirs, best first; a single item has no URLs."""

    query: str
    share: float
    urls: tuple[tuple[str, float], ...]


@dataclass(frozen=True, repr=False)
class Release:
    """Everything in a release is already private: it may be shown, distributed and stored."""

    manifest: Manifest
    reporting_list: ReportingList
    """The list with its channel, which devices reported on and can report on again."""
    queries: tuple[QueryEstimate, ...]
    records: tuple[RecordEstimate, ...]

    @property
    def head_list(self) -> HeadList:
        """The queries and URLs of the list."""
        return self.reporting_list.head_list

    def trends(self, n: int = 10) -> list[QueryEstimate]:
        """The n most popular queries, most popular first."""
        listed = (row for row in self.queries if row.query is not None)
        return sorted(listed, key=lambda row: -row.share)[:n]

    def search(self, prefix: str, n: int = 10) -> list[Suggestion]:
        """Search the list locally: the n most popular queries that begin with the prefix, each with its URLs."""
        wanted = canonical_query(prefix)
        return [s for s in self._suggestions if s.query.startswith(wanted)][:n]

    def disagreement(self) -> DisagreementReport:
        """How far opt-in users and clients differ, query by query, record by record and as a whole."""
        whole = self.manifest.settings.estimator != "average"
        return report_disagreement(self.queries, self.records, self.head_list.levels, whole_queries=whole)

    def compare(self, newer: Release, *, fdr: float = 0.05, same_users: bool = False) -> Comparison:
        """What has changed since this release: risen, fallen, new and gone, with a limit on false discoveries.

        At most `fdr` of the reported changes are expected to be false. With `same_users`, both rounds had the same users,
        and a change is a change of what these users do; by default it is a change of the population they are drawn from.
        """
        return compare(self, newer, fdr=fdr, same_users=same_users)

    def to_arrow(self) -> pa.Table:
        """All estimates as one Arrow table; `level` distinguishes queries from records, the metadata has the manifest."""
        manifest = json.dumps(self.manifest.to_document(), ensure_ascii=False)
        return to_arrow(self.queries, self.records).replace_schema_metadata({"blender-dp manifest": manifest})

    def to_pandas(self) -> pd.DataFrame:
        """The table of `to_arrow` as a pandas data frame."""
        needs("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The table of `to_arrow` as a polars data frame."""
        needs("polars")
        import polars  # noqa: PLC0415 (an extra)

        return cast("pl.DataFrame", polars.from_arrow(self.to_arrow()))

    def to_csv(self, path: Path | str) -> None:
        """Write the table of `to_arrow` as CSV."""
        files.write_csv(self, Path(path))

    def save(self, path: Path | str) -> None:
        """Write the release to a folder, or to one file if the path ends in .json (`spec/schemas/release.json`).

        A folder also has the reporting list and, as Parquet, the table of `to_arrow`.
        """
        files.save(self, Path(path))

    @classmethod
    def load(cls, path: Path | str) -> Release:
        """Read a folder or a file that `save` wrote; anything else is a `DocumentError`."""
        file = files.release_file(Path(path))
        return cls.from_document(read_json(file), str(file))

    @classmethod
    def from_document(cls, value: object, source: str = "release") -> Release:
        """Check the JSON values of a release; anything else is a `DocumentError` about the source."""
        parts = document.parse(value, source)
        reporting_list = _listed(parts, source)
        head_list = reporting_list.head_list
        if (*head_list.queries, None) != tuple(row.query for row in parts.queries):
            raise DocumentError(source, "its queries do not match its head list", document.FIX)
        if list(head_list.cells()) != [(row.query, row.url) for row in parts.records]:
            raise DocumentError(source, "its records do not match its head list", document.FIX)
        manifest = replace(parts.manifest, head_list=reporting_list.digest)  # in schema 1 the digest covered only the names
        return cls(manifest, reporting_list, parts.queries, parts.records)

    def __repr__(self) -> str:
        return notebook.line(self)

    def _repr_html_(self) -> str:
        return notebook.html(self)

    @cached_property
    def _suggestions(self) -> list[Suggestion]:
        urls: dict[str, list[tuple[str, float]]] = {}
        for row in sorted(self.records, key=lambda row: -row.share):
            if row.query is not None and row.url is not None:
                urls.setdefault(row.query, []).append((row.url, row.share))
        listed = self.trends(len(self.queries))
        return [Suggestion(row.query, row.share, tuple(urls.get(row.query, ()))) for row in listed if row.query]


def _listed(parts: document.ReleaseDocument, source: str) -> ReportingList:
    """The list of a release. If it names no channel (schema 1), the manifest's settings define it."""
    if names_channel(parts.head_list):
        reporting_list = ReportingList.from_document(parts.head_list, source)
        digest = reporting_list.digest
    else:
        reporting_list = ReportingList(HeadList.from_document(parts.head_list, source), _channel(parts.manifest.settings))
        digest = reporting_list.head_list.digest
    if parts.manifest.head_list != digest:
        raise DocumentError(source, "its manifest names another head list", document.FIX)
    if reporting_list.channel != _channel(parts.manifest.settings):
        raise DocumentError(source, "its manifest and its head list name different channels", document.FIX)
    return reporting_list


def _channel(settings: Parameters) -> ChannelSettings:
    uses_subsets = settings.randomiser == "subset"
    return ChannelSettings.of(
        randomiser=settings.randomiser,
        epsilon=settings.epsilon,
        delta=None if uses_subsets else settings.delta,
        f_c=cast("Fraction", settings.f_c),  # in a manifest f_c is always set
        subset_size=settings.subset_size,
        m_c=settings.m_c,
    )
