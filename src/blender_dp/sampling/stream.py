"""The stream of random words that every vectorised sampler draws from.

AES-256 in counter mode, keyed by the operating system, gives words faster than most statistical generators and is
unpredictable as long as AES is. A seeded stream exists for tests and simulations; whatever it touches is marked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from blender_dp.entropy import system_bytes
from blender_dp.errors import ParameterError

Words = NDArray[np.uint64]

_KEY_BYTES = 32
_BLOCK_BYTES = 1 << 18  # stays in the second-level cache
_REKEY_BYTES = 1 << 36  # far below what would let AES blocks be told from random ones


class Entropy:
    """An endless stream of uniform 64-bit words. Make one with `Entropy.system()`."""

    def __init__(self, seed: bytes | None = None, *, secret: bool = False) -> None:
        self._seed = seed
        self._secret = secret
        self._zeros = bytes(_BLOCK_BYTES)
        self._key()

    @classmethod
    def system(cls) -> Entropy:
        """A stream keyed by the operating system: the only one for real people's data."""
        return cls()

    @classmethod
    def seeded(cls, seed: int | str) -> Entropy:
        """A repeatable stream for tests and simulations. Releases made with it say `insecure: seeded`."""
        return cls(hashlib.sha256(f"blender-dp insecure seed {seed}".encode()).digest())

    @classmethod
    def fixed(cls, secret: bytes) -> Entropy:
        """A stream that 32 secret bytes from the operating system fix: unpredictable, and the same again after a crash.

        For work that must not draw fresh noise when it is done over. Whoever keeps the secret must destroy it afterwards.
        """
        if len(secret) != _KEY_BYTES:
            raise ParameterError("secret", f"has {len(secret)} bytes", f"Give {_KEY_BYTES} of the operating system's")
        return cls(secret, secret=True)

    def __reduce__(self) -> tuple[Callable[[], Entropy], tuple[()]]:
        """In another process there is another stream. A seeded one cannot be sent: it would say the same everywhere."""
        if self._seed is not None:
            raise TypeError("a seeded stream cannot be sent to another process; simulate in this one")
        return Entropy.system, ()

    @property
    def is_seeded(self) -> bool:
        """Whether the stream can be predicted by whoever knows the seed, which is no secret."""
        return self._seed is not None and not self._secret

    @property
    def repeats(self) -> bool:
        """Whether the stream can be had again, so that the order in which it is used matters."""
        return self._seed is not None

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
        forked = self._process != os.getpid()
        if self._seed is None and (forked or self._drawn > _REKEY_BYTES):
            self._key()  # a forked child must not repeat its parent's words

    def _key(self) -> None:
        self._process = os.getpid()
        self._drawn = 0
        key = system_bytes(_KEY_BYTES) if self._seed is None else self._seed
        self._cipher: CipherContext = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
