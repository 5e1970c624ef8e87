"""A filter for records that plainly identify a person or grant access: addresses, numbers, passwords, tokens, private hosts.

It is not a privacy mechanism, and no promise depends on it: differential privacy protects every record, filtered or not. It
only prevents the obvious cases from being counted at all. It is versioned and pinned by `spec/vectors/personal.json`,
because devices and batch runs must make the same decisions; any change of a decision requires a new `PERSONAL_VERSION`.

`spec/personal-filter.md` gives the reason for every limit.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from urllib.parse import unquote

from blender_dp_device.records.canonical import canonical_record
from blender_dp_device.records.record import Record

PERSONAL_VERSION = 2
"""Changes whenever the decision about any record changes."""

QUERY_DIGITS = 7
"""A number in a query with this many digits or more may identify someone."""

PARAMETER_NAMES = (
    "access_token", "api_key", "apikey", "auth", "auth_token", "authtoken", "cftoken", "client_secret", "code", "e-mail",
    "e_mail", "email", "id_token", "jsessionid", "key", "mail", "mobile", "passwd", "password", "phone", "phpsessid", "pwd",
    "refresh_token", "secret", "session", "session_id", "sessionid", "sid", "ssn", "telephone", "token",
)  # fmt: skip
"""Parameters with exactly these names, in upper or lower case, carry someone's address, number, password or session."""

PRIVATE_NAMES = (
    "corp", "home", "home.arpa", "internal", "intranet", "invalid", "lan", "local", "localdomain", "localhost", "private",
    "test",
)  # fmt: skip
"""Hosts under these names are in private networks."""

PRIVATE_NETWORKS = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    "::/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "4000::/2", "8000::/1",
)  # fmt: skip
"""So are hosts with these addresses: all of IANA's special-purpose registries, and addresses that are not assigned yet.

They are listed here because the standard library's idea of a private address changes from version to version.
"""

# Adjacent repetitions share no character, or are bounded, so every search takes linear time.
_GAP = r"[ ()\[\].‐-―−-]"
_DATE = r"(?:(?:1[89]|20)[0-9]{2}(?:[-. ][0-3]?[0-9]){2}|(?:[0-3]?[0-9][-. ]){2}(?:1[89]|20)[0-9]{2}|(?:1[89]|20)[0-9]{2})"
_BREAK = r"[ ()\[\].+-]{1,3}"

_ADDRESS = re.compile(r"[\w.+-](?:@|%40)[\w-][\w.-]*\.[^\W\d_]")
_DIGIT_RUN = re.compile(rf"\d(?:{_GAP}{{0,3}}\d)*")
_DATES = re.compile(rf"{_DATE}(?:{_GAP}{{1,3}}{_DATE}){{0,3}}")
_AUTHORITY = re.compile(r"[^:/?#]*://[^/?#]*")
_WEB = re.compile(r"https?://(?:[^/?#]*@)?([^/?#]*?)(?::[0-9]*)?(?:[/?#]|$)", re.DOTALL)
_ADDRESS_LIKE = re.compile(r"[0-9]+|0x[0-9a-f]*")
_CREDENTIALS = re.compile(r"[^:/?#]*://[^/?#]+@")
_PARAMETER = re.compile(rf"[?&;/](?:{'|'.join(PARAMETER_NAMES)})=[^&;/]", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(rf"(?:^|\D)(?:\d{{3}}{_BREAK}\d{{2,3}}{_BREAK}\d{{4}}|\d{{4}}(?:{_BREAK}\d{{4}}){{3}})(?:\D|$)")
_LONG_WORD = re.compile(r"[A-Za-z0-9]{20,}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_NETWORKS = tuple(ip_network(one) for one in PRIVATE_NETWORKS)


def usable_record(query: str | None, url: str | None, *, levels: int = 2) -> Record:
    """Return the canonical record, or ⟨⋆, ⋆⟩ if it is missing or looks personal. With one level only the query counts."""
    record = canonical_record(query, url, levels=levels)
    return Record(None, None) if looks_personal(record.query or "", record.url or "") else record


def looks_personal(query: str, url: str) -> bool:
    """Whether a canonical query or URL plainly identifies a person or grants access. Not a privacy mechanism."""
    return personal_query(query) or personal_url(url)


def personal_query(query: str) -> bool:
    """Whether a canonical query contains an e-mail address or a number as long as a telephone number."""
    return bool(_ADDRESS.search(query)) or any(_is_long_number(run[0]) for run in _DIGIT_RUN.finditer(query))


def personal_url(url: str) -> bool:
    """Whether a canonical URL contains an address, credentials, a revealing parameter, a formatted number or a token,
    or leads to a private host. The empty string, which stands for no URL, is not personal.
    """
    authority = _AUTHORITY.match(url)
    rest = unquote(url[authority.end() :] if authority else url)
    return (
        bool(_CREDENTIALS.match(url) or _ADDRESS.search(unquote(url)))
        or any(pattern.search(rest) for pattern in (_PARAMETER, _NUMBER, _UUID))
        or any(_is_mixed(word[0]) for word in _LONG_WORD.finditer(rest))
        or bool(url and private_place(url))
    )


def private_place(url: str) -> bool:
    """Whether a canonical URL leads to a private host, or is not on the web at all."""
    web = _WEB.match(url)
    if web is None:
        return True
    host = unquote(web[1]).lower().replace("\u3002", ".")  # an ideographic full stop separates labels, too
    if host.startswith("["):
        return _is_private_address(host.strip("[]"), IPv6Address)
    names = host.removesuffix(".").split(".")
    if _ADDRESS_LIKE.fullmatch(names[-1]):
        return _is_private_address(host, IPv4Address)
    is_bare = len(names) == 1 and url.startswith("http:")
    return is_bare or host == "" or names[-1] in PRIVATE_NAMES or ".".join(names[-2:]) in PRIVATE_NAMES


def _is_private_address(text: str, kind: type[IPv4Address] | type[IPv6Address]) -> bool:
    try:
        address = kind(text)
    except AddressValueError:
        return True
    # A % is followed by the name of one of this machine's own networks.
    return "%" in text or any(address in network for network in _NETWORKS)


def _is_long_number(run: str) -> bool:
    return sum(map(str.isdecimal, run)) >= QUERY_DIGITS and not _DATES.fullmatch(run)


def _is_mixed(word: str) -> bool:
    return not word.isalpha() and not word.isdecimal()
