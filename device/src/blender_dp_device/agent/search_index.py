"""A bundle as a database that also finds words in the middle of a query: SQLite with FTS5, from the standard library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blender_dp_device.digests import DocumentDigest
from blender_dp_device.files import replace
from blender_dp_device.records.canonical import canonical_query
from blender_dp_device.wire.suggestions import Row

_SCHEMA = """
CREATE TABLE bundle (digest TEXT NOT NULL);
CREATE TABLE queries (place INTEGER PRIMARY KEY, query TEXT NOT NULL, share REAL NOT NULL);
CREATE TABLE urls (
    query INTEGER NOT NULL REFERENCES queries, place INTEGER NOT NULL, url TEXT NOT NULL, probability REAL NOT NULL,
    PRIMARY KEY (query, place)
) WITHOUT ROWID;
CREATE INDEX by_text ON queries (query);
CREATE VIRTUAL TABLE words USING fts5 (query, content='queries', content_rowid='place');
"""


@dataclass(frozen=True)
class SearchIndex:
    """Finds queries by their whole text, their beginning or their words, most popular first, each with its URLs."""

    path: Path

    @classmethod
    def of(cls, path: Path, digest: DocumentDigest, queries: Sequence[Row]) -> SearchIndex:
        """The index of a verified bundle: the existing one, or a new one."""
        index = cls(path)
        if index._digest() != digest:
            partial = path.with_suffix(".db-partial")
            partial.unlink(missing_ok=True)
            with closing(sqlite3.connect(partial)) as database, database:
                _fill(database, digest, queries)
            replace(partial, path)
        return index

    def exact(self, typed: str) -> list[Row]:
        """The typed query, if the bundle has it."""
        return self._rows("query = :text", canonical_query(typed), 1)

    def prefix(self, typed: str, n: int = 10) -> list[Row]:
        """The most popular queries that start with this text."""
        return self._rows("substr(query, 1, length(:text)) = :text", canonical_query(typed), n)

    def words(self, typed: str, n: int = 10) -> list[Row]:
        """The most popular queries that contain all these words; the last one may be the beginning of a word."""
        terms = ['"' + word.replace('"', '""') + '"' for word in canonical_query(typed).split()]
        if not terms:
            return []
        return self._rows("place IN (SELECT rowid FROM words WHERE words MATCH :text)", " ".join(terms) + "*", n)

    def _rows(self, condition: str, value: str, n: int) -> list[Row]:
        chosen = f"SELECT place, query, share FROM queries WHERE {condition} ORDER BY place LIMIT {int(n)}"  # noqa: S608
        with self._open() as database:
            return [
                {"query": query, "share": share, "urls": _urls(database, place)}
                for place, query, share in database.execute(chosen, {"text": value}).fetchall()
            ]

    def _digest(self) -> str | None:
        """The digest of the indexed bundle; None if the index is missing or damaged."""
        try:
            with self._open() as database:
                row = database.execute("SELECT digest FROM bundle").fetchone()
        except sqlite3.Error:
            return None
        return str(row[0]) if row else None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            yield database


def _fill(database: sqlite3.Connection, digest: DocumentDigest, queries: Sequence[Row]) -> None:
    database.executescript(_SCHEMA)
    database.execute("INSERT INTO bundle VALUES (?)", (digest,))
    rows = ((i, row["query"], row["share"]) for i, row in enumerate(queries))
    database.executemany("INSERT INTO queries VALUES (?, ?, ?)", rows)
    urls = ((i, j, url, p) for i, row in enumerate(queries) for j, (url, p) in enumerate(row["urls"]))
    database.executemany("INSERT INTO urls VALUES (?, ?, ?, ?)", urls)
    database.execute("INSERT INTO words (words) VALUES ('rebuild')")


def _urls(database: sqlite3.Connection, query: int) -> list[list[Any]]:
    rows = database.execute("SELECT url, probability FROM urls WHERE query = ? ORDER BY place", (query,))
    return [list(row) for row in rows]
