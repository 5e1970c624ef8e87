"""Which promises pure-LDP keeps."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import discovery_pure_ldp
import numpy as np
import oracles_pure_ldp
import xxhash
from evidence import OTHER as NO_ROW
from evidence import Claim, Finding, Setting, cited, ratio, repeated, separate_workers, shared_after_fork, unpredictable
from local_reports import DRAWS, drawn, happened
from oracles_pure_ldp import same
from pure_ldp.frequency_oracles.apple_cms import cms_client
from pure_ldp.frequency_oracles.direct_encoding import de_client
from pure_ldp.frequency_oracles.hadamard_response.internal import k2k_hadamard
from pure_ldp.frequency_oracles.local_hashing import lh_client
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer, rappor_client
from pure_ldp.frequency_oracles.unary_encoding import ue_client
from pure_ldp.heavy_hitters.prefix_extending import PEMClient

TRIALS = 200_000
ONE, OTHER = 3, 4  # two values that a user may have
CODES = ("google", "yahooo")  # the same for PEM, whose values are texts
FLIPS = 20_000


@dataclass(frozen=True)
class Method:
    """A method with a row: an event that separates two values, the noise that numpy draws, and where it does."""

    values: tuple[object, object]
    event: Callable[[object, object], bool]
    """Whether a client's report is likely for the first value and unlikely for the second one."""
    forked: Callable[[object], object]
    """One report, without what Python's own generator decides: Python seeds that again in every worker."""
    source: str


def findings(settings: Sequence[Setting]) -> list[Finding]:
    """The findings of every method, and of one without a row."""
    found = [finding for name, method in METHODS.items() for finding in _findings(name, method, settings)]
    return [*found, _rappor(settings[0])]


def _findings(name: str, method: Method, settings: Sequence[Setting]) -> list[Finding]:
    what = f"pure-LDP: {name}"
    clients = [_client(name, setting) for setting in settings]
    losses = [
        ratio(what, _happened(client, method), TRIALS, setting, "reports")
        for client, setting in zip(clients, settings, strict=True)
    ]
    report = drawn(partial(clients[0].privatise, method.values[0]))
    forked = shared_after_fork(drawn(partial(method.forked, clients[0])), use=report)
    return [
        *losses,
        unpredictable(what, repeated(_seed, report), DRAWS, method.source),
        separate_workers(what, forked, DRAWS, method.source if forked else ""),
    ]


def _happened(client: object, method: Method) -> tuple[int, int]:
    return happened(client.privatise, method.values, partial(method.event, client), TRIALS)


def _client(name: str, setting: Setting) -> object:
    if name == "PEM":
        return discovery_pure_ldp.pair(setting.epsilon)[0]
    return oracles_pure_ldp.pair(name, setting.epsilon, setting.max_queries + 1)[0]


def _seed() -> None:
    random.seed(7)
    np.random.seed(7)


def _hashes_to(client: object, report: tuple[int, int]) -> bool:
    hashed, number = report
    return _hash(client, ONE, number) == hashed != _hash(client, OTHER, number)


def _hash(client: object, value: int, number: int) -> int:
    return xxhash.xxh32(str(value), seed=number).intdigest() % client.g


def _in_its_half(client: object, report: int) -> bool:
    return _is_one(client.hr, ONE, report) and not _is_one(client.hr, OTHER, report)


def _is_one(hr: object, value: int, report: int) -> bool:
    """Whether the entry of the Hadamard matrix for a value and a report is one; the columns are those of the client."""
    block, place = divmod(int(hr.permute[value]), hr.partsz - 1)
    return not hr.entry_check((block << hr.tailbit) + place + 1, report)


def _low_bits(client: object) -> int:
    """The bits of a report within its block, except the one that depends on the value."""
    hr = client.hr
    place = int(hr.permute[ONE]) % (hr.partsz - 1) + 1
    return client.privatise(ONE) & (hr.partsz - 1) & ~(place & -place)


def _in_its_entry(client: PEMClient, report: tuple) -> bool:
    (sketch, number), group = report
    one, other = (client.client.hash_funcs[number](prefix) for prefix in _prefixes(group))
    return one != other and sketch[one] == 1 and sketch[other] == -1


def _prefixes(group: int) -> tuple[str, ...]:
    return tuple(code[: (group + 1) * discovery_pure_ldp.SIZES["fragment_length"]] for code in CODES)


def _entries_of_others(client: PEMClient) -> list[int]:
    """The entries of the sketch that the value never sets."""
    own = {h(_prefixes(group)[0]) for h in client.client.hash_funcs for group in range(client.g)}
    (sketch, _), _ = client.privatise(CODES[0])
    return [int(entry) for place, entry in enumerate(sketch) if place not in own]


METHODS = {
    "direct encoding": Method(
        (ONE, OTHER), lambda _, report: report == ONE, lambda client: client.privatise(ONE),
        cited(de_client, "random.random()"),
    ),
    "OUE": Method(
        (ONE, OTHER), lambda _, bits: bits[ONE] == 1 and bits[OTHER] == 0, lambda client: client.privatise(ONE)[ONE + 1 :],
        cited(ue_client, "np.random.choice"),
    ),
    "OLH": Method(
        (ONE, OTHER), _hashes_to, lambda client: client._perturb(ONE, seed=1),
        cited(lh_client, "np.random.random_sample"),
    ),
    "Hadamard response": Method(
        (ONE, OTHER), _in_its_half, _low_bits,
        cited(k2k_hadamard, "np.random.randint", after="class Hadamard_Rand_general_original"),
    ),
    "PEM": Method(CODES, _in_its_entry, _entries_of_others, cited(cms_client, "np.random.rand(")),
}  # fmt: skip


def _rappor(setting: Setting) -> Finding:
    """RAPPOR's client must clear a bit that is set with probability f/2."""
    f, d = 0.5, setting.max_queries + 1
    server = RAPPORServer(f, 128, 2, d, index_mapper=same)
    client = RAPPORClient(f, 128, server.get_hash_funcs(), index_mapper=same)
    kept = sum(client._perturb([1])[0] for _ in range(FLIPS))
    allowed = 1 - f / 2
    # Five standard deviations: an honest client is accused with a probability below 3e-7.
    holds = kept / FLIPS <= allowed + 5 * math.sqrt(allowed * (1 - allowed) / FLIPS)
    evidence = f"a set bit stayed set in {kept:,} of {FLIPS:,} reports at f = {f}; it should be {allowed * FLIPS:,.0f}"
    claim = Claim("pure-LDP: RAPPOR", NO_ROW, "every bit of a report is randomised")
    return claim.found(holds, evidence, cited(rappor_client, "bit == 1 and"))
