"""Numbers that were drawn before, in the place of a source of chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator


def drawn_before(numbers: Iterator[int]) -> Callable[[int], int]:
    return lambda _: next(numbers)
