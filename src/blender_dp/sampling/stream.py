"""The stream of random words that every vectorised sampler draws from.

AES-256 in counter mode, keyed by the operating system, produces words faster than most statistical generators and is
unpredictable as long as AES is secure. Seeded streams are for tests and simulations; releases made with them say so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from blender_dp.errors import ParameterError
from blender_dp.sampling.secret import Secret
from blender_dp_device.entropy import system_bytes

Words = NDArray[np.uint64]

_KEY_BYTES = 32
_BLOCK_BYTES = 1 << 18  # stays in the second-level cache
_REKEY_BYTES = 1 << 36  # far below the amount at which AES blocks can be distinguished from random ones


_forks: list[None] = []  # one entry for every fork between the first process and this one


def _process() -> tuple[int, int]:
    """Identify this process; the number of forks distinguishes it from ancestors that had the same process id."""
    return os.getpid(), len(_forks)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(None))


@dataclass(frozen=True)
class Seed:
    """A key that is not secret."""

    value: bytes


class Entropy:
    """An endless stream of uniform 64-bit words. Create one with `Entropy.system()`."""

    def __init__(self, source: Secret | Seed | None = None) -> None:
        if not isinstance(source, Secret | Seed | None):
            raise ParameterError("source", f"{type(source).__name__} is not a source of randomness", "Use Entropy.system()")
        self._source = source
        self._zeros = bytes(_BLOCK_BYTES)
        self._key()

    @classmethod
    def system(cls) -> Entropy:
        """A stream keyed by the operating system: the only kind to use with real people's data."""
        return cls()

    @classmethod
    def seeded(cls, seed: int | str) -> Entropy:
        """A repeatable stream for tests and simulations. Releases made with it say `insecure: seeded`."""
        return cls(Seed(hashlib.sha256(f"blender-dp insecure seed {seed}".encode()).digest()))

    @classmethod
    def from_secret(cls, secret: Secret) -> Entropy:
        """A stream determined by a secret from the operating system: unpredictable, and repeatable after a crash.

        For work that must not draw fresh noise when it is repeated. Bytes from any other source are a seed, not a secret.
        """
        if not isinstance(secret, Secret):
            raise ParameterError("secret", f"{type(secret).__name__} is not a Secret", "Draw one with Secret()")
        return cls(secret)

    def __reduce__(self) -> tuple[Callable[[], Entropy], tuple[()]]:
        """Unpickle as a new stream. Repeatable streams cannot be pickled: every process would draw the same words."""
        if self.repeats:
            raise TypeError("a seeded stream cannot be sent to another process; simulate in this one")
        return Entropy.system, ()

    @property
    def is_seeded(self) -> bool:
        """Whether anyone who knows the seed, which is not secret, can predict the stream."""
        return isinstance(self._source, Seed)

    @property
    def repeats(self) -> bool:
        """Whether the stream is repeatable, so that the order in which it is used matters."""
        return self._source is not None

    def words(self, count: int) -> Words:
        """Return `count` uniform words, to be used once."""
        out = np.empty(count, np.uint64)
        self.fill(out)
        return out

    def fill(self, out: Words) -> None:
        """Overwrite a contiguous array with uniform words."""
        self._renew()
        view = memoryview(out.data).cast("B")
        for start in range(0, len(view), _BLOCK_BYTES):
            part = view[start : start + _BLOCK_BYTES]
            self._cipher.update_into(memoryview(self._zeros)[: len(part)], part)
        self._drawn += len(view)

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), of any size, exactly (by rejection)."""
        bits = (bound - 1).bit_length()
        while True:
            value = int.from_bytes(self.words((bits + 63) // 64).tobytes(), "little") & ((1 << bits) - 1)
            if value < bound:
                return value

    def _renew(self) -> None:
        forked = self._process != _process()  # a forked child must not repeat its parent's words
        if forked and self.repeats:
            raise ParameterError(
                "entropy", "belongs to another process, whose words it would repeat", "Create a stream in this process"
            )
        if not self.repeats and (forked or self._drawn > _REKEY_BYTES):
            self._key()

    def _key(self) -> None:
        self._process = _process()
        self._drawn = 0
        key = system_bytes(_KEY_BYTES) if self._source is None else self._source.value
        self._cipher: CipherContext = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
