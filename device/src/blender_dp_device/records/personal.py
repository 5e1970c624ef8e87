"""A filter for records that plainly name or unlock somebody: addresses, numbers, passwords, session tokens, private hosts.

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
- Public hosts are public names: neither their digits nor their length count.
- A host is private if it has no dot and is asked by http (an intranet's), if its last name is one that is never given out
  (`PRIVATE_NAMES`: of RFC 6761 and RFC 6762, appendix G, and what routers use), or if it is an address in a network that
  nobody reaches from elsewhere (`PRIVATE_NETWORKS`). A host whose last name is a number is an address to a browser: one
  that is not written as four plain numbers is caught. example is given out to nobody either, but is for texts like these.
  A name without a dot after https may be no host at all: the canonical form puts https before whatever has no scheme, and
  that can be a page of an app, or a category. Hardly anybody gives out a certificate for such a name.
- Only http and https lead to what others can see: file:///home/jane and the like are caught, and ftp, too.
- Dashes and underscores part the words of a title, so /top-10-hotels-in-paris-2006 passes, and so does a token in
  pieces shorter than 20; a UUID is caught. A title of 20 letters and digits in one word is caught.
- A parameter is known by its whole name (monkey=1 passes) and only with a value (key= passes).
- An address needs a domain with a dot and a letter after it: root@localhost, 3@1.99 and /@name pass.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from urllib.parse import unquote

from blender_dp_device.records.canonical import canonical_record
from blender_dp_device.records.record import Record

PERSONAL_VERSION = 2
"""Changes whenever any record would get another answer."""

QUERY_DIGITS = 7
"""From this many digits on, a number in a query may be somebody's."""

PARAMETER_NAMES = (
    "access_token", "api_key", "apikey", "auth", "auth_token", "authtoken", "cftoken", "client_secret", "code", "e-mail",
    "e_mail", "email", "id_token", "jsessionid", "key", "mail", "mobile", "passwd", "password", "phone", "phpsessid", "pwd",
    "refresh_token", "secret", "session", "session_id", "sessionid", "sid", "ssn", "telephone", "token",
)  # fmt: skip
"""Parameters of exactly these names, in any case, carry somebody's address, number, password or session."""

PRIVATE_NAMES = (
    "corp", "home", "home.arpa", "internal", "intranet", "invalid", "lan", "local", "localdomain", "localhost", "private",
    "test",
)  # fmt: skip
"""Hosts under these names are within somebody's own walls."""

PRIVATE_NETWORKS = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    "::/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "4000::/2", "8000::/1",
)  # fmt: skip
"""So are hosts with these addresses: all of IANA's special-purpose registries, and what is not given out yet.

They are written down, as what a language's library takes for private changes from version to version.
"""

# No two neighbouring repetitions share a character, or their number is bounded, so every search takes linear time.
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
    """Whether a canonical URL has an address, credentials, a telling parameter, a written number or a token in it.

    Or leads to where only some can go. No URL, which is an empty text, is not personal.
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
    """Whether a canonical URL leads to a private host, or is not of the web at all."""
    web = _WEB.match(url)
    if web is None:
        return True
    host = unquote(web[1]).lower().replace("\u3002", ".")  # an ideographic full stop parts names, too
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
    # What is after a % is a name that this machine has for one of its own networks.
    return "%" in text or any(address in network for network in _NETWORKS)


def _is_long_number(run: str) -> bool:
    return sum(map(str.isdecimal, run)) >= QUERY_DIGITS and not _DATES.fullmatch(run)


def _is_mixed(word: str) -> bool:
    return not word.isalpha() and not word.isdecimal()
