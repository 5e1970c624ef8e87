"""A secret that determines a stream of randomness, so that interrupted work can be repeated with the same noise."""

from __future__ import annotations

import hashlib
from typing import NoReturn

from blender_dp.errors import ParameterError
from blender_dp_device.entropy import system_bytes

SECRET_BYTES = 32


class Secret:
    """Random bytes from the operating system, stored so that interrupted work can be repeated with the same noise.

    `Secret()` draws one. A secret cannot be created from bytes chosen by the caller, so a stream that it determines is as
    unpredictable as the system's. A stored secret must be encrypted, and destroyed when the work is done.
    """

    __slots__ = ("_value",)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Secret cannot be subclassed: a subclass could choose its own bytes")

    def __init__(self) -> None:
        self._value = system_bytes(SECRET_BYTES)

    @property
    def value(self) -> bytes:
        """The bytes themselves."""
        return self._value

    def derive(self, purpose: bytes) -> bytes:
        """Derive bytes for one purpose; they reveal nothing about the secret or the bytes for any other purpose."""
        return hashlib.sha256(purpose + self._value).digest()

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be copied or pickled; encrypt its value instead")


def restored_secret(value: bytes) -> Secret:
    """Return a secret that was drawn earlier. Only the vault may call this, with authenticated bytes (the linter checks)."""
    if len(value) != SECRET_BYTES:
        raise ParameterError("secret", f"has {len(value)} bytes instead of {SECRET_BYTES}", "Draw one with Secret()")
    secret = Secret.__new__(Secret)
    secret._value = value
    return secret
