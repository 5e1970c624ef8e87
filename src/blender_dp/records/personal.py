"""A filter for records that plainly name or unlock somebody: addresses, numbers, passwords, session tokens.

It is no privacy mechanism, and no promise rests on it: differential privacy protects every record, filtered or not. It
only keeps the obvious cases from being counted at all. It is versioned and pinned by `spec/vectors/personal.json`,
because a device and the batch path must give the same answer; any change of an answer is a new `PERSONAL_VERSION`.

Where a case could go either way:

- Digits in a query count together across spaces, dashes, dots and brackets (at most three between two digits), from 7
  on. Commas, slashes and colons part numbers, so 1,000,000 and 01/03/2006 pass; 10.4.11 passes for its 5 digits.
- Dates (2006-03-01, 1.3.2006, 03 01 2006) and years from 1800 to 2099 pass if the run is nothing but up to four of
  them: "1999-2004" passes, "555 2004" does not. They are recognised in the digits 0-9 only.
- IP addresses and ISBNs of 7 digits or more, eight digits in a row (20060301), ZIP+4 codes, long decimal fractions and
  lists of numbers (737 747 777) are caught: nothing tells them from an account or a telephone number.
- A digit is what Unicode calls a decimal digit: NFKC leaves Arabic-Indic and other ones as they are, and people write
  telephone numbers in them.
- In a URL, a bare number is mostly that of an article and passes at any length. After the host, the written forms
  3-2-4 (social security), 3-3-4 (telephone) and 4-4-4-4 (card) are caught.
- Hosts are public names: neither their digits nor their length count.
- Dashes and underscores part the words of a title, so /top-10-hotels-in-paris-2006 passes, and so does a token in
  pieces shorter than 20; a UUID is caught. A title of 20 letters and digits in one word is caught.
- A parameter is known by its whole name (monkey=1 passes) and only with a value (key= passes).
- An address needs a domain with a dot and a letter after it: root@localhost, 3@1.99 and /@name pass.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from blender_dp.records.canonical import canonical_record
from blender_dp.records.record import Record

PERSONAL_VERSION = 1
"""Changes whenever any record would get another answer."""

QUERY_DIGITS = 7
"""From this many digits on, a number in a query may be somebody's."""

PARAMETER_NAMES = (
    "access_token", "api_key", "apikey", "auth", "auth_token", "authtoken", "cftoken", "client_secret", "code", "e-mail",
    "e_mail", "email", "id_token", "jsessionid", "key", "mail", "mobile", "passwd", "password", "phone", "phpsessid", "pwd",
    "refresh_token", "secret", "session", "session_id", "sessionid", "sid", "ssn", "telephone", "token",
)  # fmt: skip
"""Parameters of exactly these names, in any case, carry somebody's address, number, password or session."""

# No two neighbouring repetitions share a character, or their number is bounded, so every search takes linear time.
_GAP = r"[ ()\[\].‐-―−-]"
_DATE = r"(?:(?:1[89]|20)[0-9]{2}(?:[-. ][0-3]?[0-9]){2}|(?:[0-3]?[0-9][-. ]){2}(?:1[89]|20)[0-9]{2}|(?:1[89]|20)[0-9]{2})"
_BREAK = r"[ ()\[\].+-]{1,3}"

_ADDRESS = re.compile(r"[\w.+-](?:@|%40)[\w-][\w.-]*\.[^\W\d_]")
_DIGIT_RUN = re.compile(rf"\d(?:{_GAP}{{0,3}}\d)*")
_DATES = re.compile(rf"{_DATE}(?:{_GAP}{{1,3}}{_DATE}){{0,3}}")
_AUTHORITY = re.compile(r"[^:/?#]*://[^/?#]*")
_CREDENTIALS = re.compile(r"[^:/?#]*://[^/?#]+@")
_PARAMETER = re.compile(rf"[?&;/](?:{'|'.join(PARAMETER_NAMES)})=[^&;/]", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(rf"(?:^|\D)(?:\d{{3}}{_BREAK}\d{{2,3}}{_BREAK}\d{{4}}|\d{{4}}(?:{_BREAK}\d{{4}}){{3}})(?:\D|$)")
_LONG_WORD = re.compile(r"[A-Za-z0-9]{20,}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def usable_record(query: str | None, url: str | None, *, levels: int = 2) -> Record:
    """Return the canonical record, or ⟨⋆, ⋆⟩ if there is none or it looks personal. With one level only the query counts."""
    record = canonical_record(query, url, levels=levels)
    return Record(None, None) if looks_personal(record.query or "", record.url or "") else record


def looks_personal(query: str, url: str) -> bool:
    """Whether a canonical query or a canonical URL plainly names or unlocks somebody. Not a privacy mechanism."""
    return personal_query(query) or personal_url(url)


def personal_query(query: str) -> bool:
    """Whether a canonical query has an e-mail address or a number as long as a telephone's in it."""
    return bool(_ADDRESS.search(query)) or any(_is_long_number(run[0]) for run in _DIGIT_RUN.finditer(query))


def personal_url(url: str) -> bool:
    """Whether a canonical URL has an address, credentials, a telling parameter, a written number or a token in it."""
    authority = _AUTHORITY.match(url)
    rest = unquote(url[authority.end() :] if authority else url)
    return (
        bool(_CREDENTIALS.match(url) or _ADDRESS.search(unquote(url)))
        or any(pattern.search(rest) for pattern in (_PARAMETER, _NUMBER, _UUID))
        or any(_is_mixed(word[0]) for word in _LONG_WORD.finditer(rest))
    )


def _is_long_number(run: str) -> bool:
    return sum(map(str.isdecimal, run)) >= QUERY_DIGITS and not _DATES.fullmatch(run)


def _is_mixed(word: str) -> bool:
    return not word.isalpha() and not word.isdecimal()
