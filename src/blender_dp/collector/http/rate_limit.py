"""Limits what one source may send without storing its address: buckets are named by a keyed hash with a short-lived key."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Callable

from blender_dp_device.entropy import system_bytes

_RENEWED_SECONDS = 3600
_MOST = 100_000  # sources in memory
_KEY_BYTES = 32


class Sources:
    """A bucket for each source: it contains a minute's worth of reports, and refills over time.

    Addresses are replaced by hashes under a key that exists only in this process's memory, for at most an hour. Then key and
    buckets are thrown away together, so that a later memory dump does not reveal who sent anything.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: dict[bytes, tuple[float, float]] = {}
        self._renew()

    def wait(self, address: str, cost: int) -> float:
        """Take `cost` from the source's bucket and return 0; or take nothing and return the seconds until it has that much.

        A cost of more than a minute's worth is never granted; callers refuse it beforehand.
        """
        now = self._clock()
        if now - self._since >= _RENEWED_SECONDS:
            self._renew()
        name = hashlib.blake2b(_network(address), key=self._key, digest_size=16).digest()
        filled = min(float(self._per_minute), self._left(name, now))
        if filled < cost:
            return (cost - filled) * 60 / self._per_minute
        if name not in self._buckets and len(self._buckets) >= _MOST:
            self._forget(now)
        self._buckets[name] = filled - cost, now
        return 0.0

    def _left(self, name: bytes, now: float) -> float:
        left, at = self._buckets.get(name, (float(self._per_minute), now))
        return left + (now - at) * self._per_minute / 60

    def _forget(self, now: float) -> None:
        """Drop the buckets that are full again, and if that is not enough, the oldest ones."""
        active = {name: one for name, one in self._buckets.items() if self._left(name, now) < self._per_minute}
        self._buckets = dict(list(active.items())[-_MOST // 2 :])

    def _renew(self) -> None:
        self._key = system_bytes(_KEY_BYTES)
        self._since = self._clock()
        self._buckets = {}


def _network(address: str) -> bytes:
    """What counts as one source: an IPv4 address, or an IPv6 network of 64 bits, which a single household may have."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address.encode()
    if isinstance(parsed, ipaddress.IPv6Address):
        return parsed.ipv4_mapped.packed if parsed.ipv4_mapped else parsed.packed[:8]
    return parsed.packed
