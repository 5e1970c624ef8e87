"""A secret that fixes a stream of randomness, so that interrupted work can be repeated with the same noise."""

from __future__ import annotations

import hashlib
from typing import NoReturn

from blender_dp.errors import ParameterError
from blender_dp_device.entropy import system_bytes

SECRET_BYTES = 32


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
