"""The only source of randomness: the operating system's generator.

Everything private starts here, on devices and on the curator's machine. The linter refuses `os.urandom`,
`secrets`, `random` and `numpy.random` everywhere else in both packages.
"""

from __future__ import annotations

import os


def system_bytes(count: int) -> bytes:
    """Return `count` unpredictable bytes, or raise what the operating system raises; there is no fallback."""
    return os.urandom(count)
