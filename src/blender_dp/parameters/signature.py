"""Give one function the signature of another, for editors, type checkers and `help`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

P = ParamSpec("P")


def takes(source: Callable[P, object]) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, P], None]]:
    """Decorate an `__init__` that passes its keyword arguments to `source`, so that its signature lists them."""

    def decorate(method: Callable[..., None]) -> Callable[Concatenate[Any, P], None]:
        first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        arguments = inspect.signature(source).parameters.values()
        method.__signature__ = inspect.Signature([first, *arguments])  # type: ignore[attr-defined]
        return method

    return decorate
