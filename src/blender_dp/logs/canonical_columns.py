"""`usable_record` for columns: the same results, at the speed of one regular expression per string.

Most strings in a log are already canonical and harmless. A regular expression that matches only such strings selects them,
and the functions of `blender_dp_device.records` handle every other distinct string once.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.logs.tally import LONGEST_TEXT
from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import personal_query, personal_url

Form = Callable[[str], str | None]

# Canonical, without @ and %, and with at most six digits, so without an address or a long number. \z is the very end of
# the string; in some dialects $ also matches before a final newline.
_SIGN = r"[!-$&-/:-?\[-~]"
_PLAIN_QUERY = rf"\A(?:(?:{_SIGN} ?)*[0-9] ?){{0,5}}(?:{_SIGN} ?)*[!-$&-?\[-~]\z"

# Canonical, with any content.
_CANONICAL_QUERY = r"\A[!-@\[-~]+(?: [!-@\[-~]+)*\z"

# Canonical, or canonical once a slash is appended to the host. The host ends like most public ones, so it is no address and
# no private name (none of those ends in two letters). The path never has 20 letters and digits in a row, so no token; no
# digit after a dash or a dot, so no formatted number; and no 12 letters and digits after one, so no UUID.
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_PATH = "[A-Za-z0-9]{0,19}(?:[/_~][A-Za-z0-9]{0,19}|[-.]+(?:[A-Za-z][A-Za-z0-9]{0,10})?)*"
_PUBLIC = "[a-z]{2}|com|net|org|edu|gov|mil|info|biz|name|app|dev|xyz|online|site|shop|example"
_PLAIN_URL = rf"\Ahttps?://(?:{_LABEL}\.)+(?:{_PUBLIC})(?:/{_PATH})?\z"


def canonical(table: pa.Table, *, filtered: bool = True, levels: int = 2) -> pa.Table:
    """The canonical records of the columns user, query and url; a row without a usable record has null for query and url.

    Pass `filtered=False` for logs whose queries and URLs are only numbers, which would all look personal. With one level
    the URL is ignored, and null.
    """
    query_form, url_form = (_usable_query, _usable_url) if filtered else (canonical_query, canonical_url)
    query = _queries(_short(table["query"]), _PLAIN_QUERY if filtered else _CANONICAL_QUERY, query_form)
    if levels == 1:
        return pa.table({"user": table["user"], "query": query, "url": pa.nulls(len(table), pa.string())})
    url = _urls(_short(table["url"]), url_form)
    usable = pc.and_(pc.is_valid(query), pc.is_valid(url))
    nothing = pa.scalar(None, pa.string())
    return pa.table(
        {
            "user": table["user"],
            "query": pc.if_else(usable, query, nothing),
            "url": pc.if_else(usable, url, nothing),
        }
    )


def _short(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The strings, with null for giant ones, on which the expressions of `blender_dp_device.records` could be very slow."""
    texts = column.cast(pa.string())
    giant = pc.greater(pc.binary_length(texts), LONGEST_TEXT)
    return pc.if_else(giant, pa.scalar(None, pa.string()), texts) if pc.any(giant).as_py() else texts


def _queries(column: pa.ChunkedArray, plain: str, form: Form) -> pa.ChunkedArray:
    return _apply_form(column, pc.match_substring_regex(column, plain), form)


def _urls(column: pa.ChunkedArray, form: Form) -> pa.ChunkedArray:
    plain = pc.match_substring_regex(column, _PLAIN_URL)
    bare = pc.and_(plain, pc.equal(pc.count_substring(column, "/"), 2))  # only the two of the scheme: there is no path
    if pc.any(bare).as_py():
        column = pc.binary_join_element_wise(column, pc.if_else(bare, "/", ""), "")
    return _apply_form(column, plain, form)


def _apply_form(column: pa.ChunkedArray, plain: pa.ChunkedArray, form: Form) -> pa.ChunkedArray:
    """Keep plain strings and nulls, and apply the form once to every other distinct string."""
    others = pc.invert(plain.fill_null(True)).combine_chunks()
    if not pc.any(others).as_py():
        return column
    encoded = column.filter(others).combine_chunks().dictionary_encode()
    forms = pa.array([form(text) or None for text in encoded.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(column, others, forms.take(encoded.indices))


def _usable_query(text: str) -> str | None:
    query = canonical_query(text)
    return None if personal_query(query) else query


def _usable_url(text: str) -> str | None:
    url = canonical_url(text)
    return None if personal_url(url) else url
