"""The one door to randomness: the operating system's generator.

Everything private starts here, on a device and on the curator's machine alike. The linter refuses `os.urandom`,
`secrets`, `random` and `numpy.random` everywhere else in the package.
"""

from __future__ import annotations

import hashlib
import os
from typing import NoReturn

from blender_dp.errors import ParameterError

SECRET_BYTES = 32


def system_bytes(count: int) -> bytes:
    """Return `count` unpredictable bytes, or raise what the operating system raises; there is no fallback."""
    return os.urandom(count)


class Secret:
    """Bytes that the operating system drew, kept so that interrupted work can be repeated with the same noise.

    `Secret()` draws one. There is no way to make one of bytes of one's own, so a stream that a secret fixes is as
    unpredictable as the system's. Whoever keeps a secret must encrypt it, and destroy it when the work is done.
    """

    __slots__ = ("_value",)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a secret has no subclass: it could bring bytes of its own")

    def __init__(self) -> None:
        self._value = system_bytes(SECRET_BYTES)

    @property
    def value(self) -> bytes:
        """The bytes themselves."""
        return self._value

    def derive(self, purpose: bytes) -> bytes:
        """Other bytes, for one purpose: they reveal nothing about the secret or about those of another purpose."""
        return hashlib.sha256(purpose + self._value).digest()

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be copied or sent: encrypt its value")


def restored_secret(value: bytes) -> Secret:
    """A secret that was drawn before. Only the vault calls this (the linter checks it), with bytes it has authenticated."""
    if len(value) != SECRET_BYTES:
        raise ParameterError("secret", f"has {len(value)} bytes instead of {SECRET_BYTES}", "Draw one with Secret()")
    secret = Secret.__new__(Secret)
    secret._value = value
    return secret
