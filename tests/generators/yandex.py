"""Made-up logs in the format of the log of Yandex's Personalized Web Search Challenge of 2013, with its proportions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.generators import Integers, created, draw_queries, mixed, write_lines

_SESSIONS = 20_000  # at a time, so that memory does not depend on the size of the log
_SESSIONS_PER_USER = 6
_QUERIES, _CLICKS = (0.55, 0.25, 0.12, 0.08), (0.35, 0.45, 0.20)  # shares of 1 to 4 a session, of 0 to 2 a query
_TEST = 0.01  # sessions that end with a test query, in the last three days
_DAYS, _LAST_DAY = 27, 30
_TERMS, _MOST_TERMS = 4_701_603, 5
_URLS, _DOMAINS, _RESULTS = 70_348_426, 5_199_927, 10
_SCATTER = 7_919  # prime to the number of URLs, so a query's results are unlike and no two the same


class _Queries(NamedTuple):
    session: Integers  # its place among the sessions
    serp: Integers  # its place in the session
    query: Integers
    test: np.ndarray
    clicks: Integers  # how many


def write_yandex(path: Path, sessions: int, *, seed: int = 0) -> None:
    """Write a log of this many sessions, compressed if the name ends with .gz. The same arguments give the same bytes."""
    rng = np.random.default_rng(seed)
    users, asked = max(1, sessions // _SESSIONS_PER_USER), 0
    with created(path) as file:
        for first in range(0, sessions, _SESSIONS):
            ids = np.arange(first, min(first + _SESSIONS, sessions))
            test = rng.random(ids.size) < _TEST
            queries = _queries(test, asked, rng)
            asked += queries.query.size
            write_lines(file, _lines(ids, _sessions(ids, test, users, rng), queries, rng))


def _queries(test: np.ndarray, asked: int, rng: np.random.Generator) -> _Queries:
    counts = 1 + rng.choice(len(_QUERIES), test.size, p=_QUERIES)
    session = np.repeat(np.arange(test.size), counts)
    serp = np.arange(session.size) - np.repeat(np.cumsum(counts) - counts, counts)
    tested = test[session] & (serp == counts[session] - 1)
    clicks = np.where(tested, 0, rng.choice(len(_CLICKS), session.size, p=_CLICKS))  # whose clicks are to be guessed
    return _Queries(session, serp, draw_queries(asked + np.arange(session.size), rng), tested, clicks)


def _sessions(ids: Integers, test: np.ndarray, users: int, rng: np.random.Generator) -> pa.Array:
    day = np.where(test, rng.integers(_DAYS + 1, _LAST_DAY + 1, ids.size), rng.integers(1, _DAYS + 1, ids.size))
    user = (rng.random(ids.size) ** 2 * users).astype(np.int64)  # some come often
    return _joined(_text(ids), "M", _text(day), _text(user))


def _lines(ids: Integers, sessions: pa.Array, queries: _Queries, rng: np.random.Generator) -> pa.StringArray:
    """All lines in order. An event is a query or a click; a query's clicks come before the next query."""
    event_query = np.repeat(np.arange(queries.query.size), 1 + queries.clicks)
    asks = np.diff(event_query, prepend=-1) > 0
    opens = np.flatnonzero(np.diff(queries.session[event_query], prepend=-1))  # every session's first event
    clock = np.cumsum(rng.geometric(0.02, event_query.size))
    passed = clock - clock[opens][queries.session[event_query]]
    clicked = event_query[~asks]
    lines = pa.concat_arrays(
        [
            sessions,
            _query_lines(ids, queries, passed[asks]),
            _joined(
                _text(ids[queries.session[clicked]]),
                _text(passed[~asks]),
                "C",
                _text(queries.serp[clicked]),
                _text(_urls(queries.query[clicked], np.minimum(rng.geometric(0.4, clicked.size), _RESULTS) - 1)),
            ),
        ]
    )
    places = np.concatenate([2 * opens, 2 * np.flatnonzero(asks) + 1, 2 * np.flatnonzero(~asks) + 1])
    return lines.take(pa.array(np.argsort(places)))


def _query_lines(ids: Integers, queries: _Queries, passed: Integers) -> pa.Array:
    return _joined(
        _text(ids[queries.session]),
        _text(passed),
        pc.if_else(pa.array(queries.test), "T", "Q"),
        _text(queries.serp),
        _text(queries.query),
        _terms(queries.query),
        *(_result(_urls(queries.query, place)) for place in range(_RESULTS)),
    )


def _terms(query: Integers) -> pa.Array:
    count = 1 + mixed(query) * _MOST_TERMS
    terms = [(mixed(query, salt) ** 3 * _TERMS).astype(np.int64) for salt in range(1, _MOST_TERMS + 1)]
    cut = [pa.array(term, mask=place > count - 1).cast(pa.string()) for place, term in enumerate(terms)]
    return pc.binary_join_element_wise(*cut, ",", null_handling="skip")


def _urls(query: Integers, place: Integers | int) -> Integers:
    """The URL at this place of the query's results, always the same."""
    return (query * _RESULTS + place) * _SCATTER % _URLS


def _result(url: Integers) -> pa.Array:
    domain = (mixed(url) ** 2 * _DOMAINS).astype(np.int64)  # some have many URLs
    return pc.binary_join_element_wise(_text(url), _text(domain), ",")


def _text(numbers: Integers) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _joined(*columns: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(pc.binary_join_element_wise(*columns, "\t"), "\n", "")
