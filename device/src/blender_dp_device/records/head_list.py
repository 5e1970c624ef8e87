"""The head list: the queries and URLs that clients report on, and the numbers of its cells.

Every query has its URLs and one place for "any other URL"; after the last query comes one cell for "any other query":

    google  → url a, url b, ⋆      cells 0 1 2
    yahoo   → url c, ⋆             cells 3 4
    ⋆                              cell  5

A list of single items (apps, words, error codes) has one level: no query has URLs, and its only cell, ⟨q, ⋆⟩, stands for
the item itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from blender_dp_device.digests import ListDigest, list_digest
from blender_dp_device.errors import DocumentError, ParameterError
from blender_dp_device.records.canonical import CANONICAL_VERSION
from blender_dp_device.records.record import Record

SCHEMA = "blender-dp/head-list/1"
"""A list of names alone, such as public candidates."""

CHANNEL_SCHEMA = "blender-dp/head-list/2"
"""A list with its channel (`records.reporting_list`)."""

_SURROGATE = re.compile("[\ud800-\udfff]")

Entries = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class HeadList:
    """Queries and their URLs, sorted, so that their order is the same everywhere and reveals nothing about counts."""

    entries: Entries

    @classmethod
    def of(cls, records: Iterable[tuple[str, str | None]]) -> HeadList:
        """Make the list of these (canonical) records; order and repeats do not matter.

        Single items are records without a URL: all of them are (query, None).
        """
        rows = list(records)
        if len({url is None for _, url in rows}) > 1:
            raise ParameterError("records", "some have a URL and some do not", "Use a URL for all of them, or for none")
        urls: dict[str, set[str]] = {}
        for query, url in rows:
            if not _is_text(query) or not (url is None or _is_text(url)):
                raise ParameterError("records", "a query or URL is empty or not a string", "List complete records only")
            urls.setdefault(query, set()).update(() if url is None else (url,))
        return cls(tuple((query, tuple(sorted(urls[query]))) for query in sorted(urls)))

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def queries(self) -> tuple[str, ...]:
        """The listed queries, without ⋆."""
        return tuple(query for query, _ in self.entries)

    @cached_property
    def levels(self) -> int:
        """1 for a list of single items, 2 for one of queries and their URLs; an empty list has 2."""
        return 1 if self.entries and not any(urls for _, urls in self.entries) else 2

    @cached_property
    def url_counts(self) -> tuple[int, ...]:
        """k_q of every query, its ⋆ included; the last one is the ⋆ query's, which is 1."""
        return (*(len(urls) + 1 for _, urls in self.entries), 1)

    @cached_property
    def cell_count(self) -> int:
        """The number of cells."""
        return sum(self.url_counts)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first cell of every query, ⋆ last."""
        return tuple(accumulate((0, *self.url_counts[:-1])))

    def records(self) -> Iterator[tuple[str, str | None]]:
        """The listed records, without any ⋆, in the order of their cells; single items have no URL, which is None."""
        return ((query, url) for query, urls in self.entries for url in urls or (None,))

    def cells(self) -> Iterator[Record]:
        """What every cell stands for, in order; None is ⋆, or the missing URL of a single item."""
        for query, urls in self.entries:
            yield from (Record(query, url) for url in urls)
            yield Record(query, None)
        yield Record(None, None)

    def position(self, query: str | None, url: str | None) -> tuple[int, int]:
        """The position of a canonical record: the indices of its query and URL, or those of ⋆ if they are not listed.

        With one level the query alone decides.
        """
        entry = self._positions.get(query)
        if entry is None:
            return len(self.entries), 0
        index, urls = entry
        return index, urls.get(url, len(urls))

    def restrict(self, queries: Iterable[str]) -> HeadList:
        """The same list with only these queries."""
        wanted = set(queries)
        return HeadList(tuple(e for e in self.entries if e[0] in wanted))

    @cached_property
    def _positions(self) -> Mapping[str | None, tuple[int, Mapping[str | None, int]]]:
        return {query: (i, {url: j for j, url in enumerate(urls)}) for i, (query, urls) in enumerate(self.entries)}

    @cached_property
    def digest(self) -> ListDigest:
        """The digest of the names alone. Reports name `ReportingList.digest`, which covers the channel."""
        return list_digest(self.to_document())

    def to_document(self) -> dict[str, Any]:
        """The names as plain JSON values, without a channel."""
        return {
            "schema": SCHEMA,
            "canonical_version": CANONICAL_VERSION,
            "queries": [{"query": query, "urls": list(urls)} for query, urls in self.entries],
        }

    @classmethod
    def from_document(cls, document: object, source: str = "head list") -> HeadList:
        """Read the names of a list with or without a channel; refuse anything else, with the reason."""
        head_list = cls(_checked(document, source))
        if head_list != HeadList.of(head_list.records()):
            raise DocumentError(source, "queries or URLs are repeated, unsorted or empty", "Write it with HeadList.save")
        return head_list

    def save(self, path: Path | str) -> None:
        """Write the names as JSON; `ReportingList.save` writes the list that devices use."""
        text = json.dumps(self.to_document(), ensure_ascii=False, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> HeadList:
        """Read the names of a list that `HeadList.save` or `ReportingList.save` wrote."""
        return cls.from_document(read_json(path), str(path))


def read_json(path: Path | str) -> object:
    """Read one JSON file; a missing or invalid one raises a `DocumentError`."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DocumentError(str(path), f"cannot be read ({error.strerror})", "Check the path") from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(str(path), f"is not JSON ({error})", "Use a file that blender-dp wrote") from None


def _checked(document: object, source: str) -> Entries:
    match document:
        case {"schema": schema} if schema not in (SCHEMA, CHANNEL_SCHEMA):
            problem = f"has schema {repr(schema)[:80]}, not {CHANNEL_SCHEMA!r}"
            raise DocumentError(source, problem, "Use a matching version of blender-dp")
        case {"schema": _, "canonical_version": version, "queries": list(rows)}:
            if type(version) is not int or version != CANONICAL_VERSION:
                problem = f"has canonical form {repr(version)[:80]}, but this version supports only {CANONICAL_VERSION}"
                raise DocumentError(source, problem, "Use a matching version of blender-dp")
            entries = tuple(_entry(row, f"{source}, queries[{i}]") for i, row in enumerate(rows))
            if len({bool(urls) for _, urls in entries}) > 1:
                raise DocumentError(source, "only some of its queries have URLs", "Write it with HeadList.save")
            return entries
    raise DocumentError(source, "needs schema, canonical_version and queries", "Use a head-list.json that blender-dp wrote")


def _entry(row: object, source: str) -> tuple[str, tuple[str, ...]]:
    match row:
        case {"query": str(query), "urls": list(urls)} if all(_is_text(text) for text in (query, *urls)):
            return query, tuple(urls)
    raise DocumentError(source, "needs a query and its list of URLs", "Use a head-list.json that blender-dp wrote")


def _is_text(value: object) -> bool:
    """Whether this is a non-empty string that UTF-8 can encode: JSON can also contain unpaired surrogates."""
    return isinstance(value, str) and value != "" and (value.isascii() or not _SURROGATE.search(value))
