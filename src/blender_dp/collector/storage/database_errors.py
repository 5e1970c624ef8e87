"""Errors of the database without their messages, which quote its address or what was to be stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from blender_dp.errors import StateError

DatabaseError = SQLAlchemyError
"""Any failure of the database."""

_FULL = ("disk is full", "no space left", "disk full")
_PROBLEMS = {
    "password authentication failed": "refuses the user or the password",
    "no password supplied": "requires a password",
    "does not exist": "the user or the name of the database is unknown",
    "connection refused": "no server listens at this address",
    "resolve host": "the host is unknown",
    "name or service not known": "the host is unknown",
    "timeout": "does not respond in time",
    "unable to open database file": "the folder of the file cannot be used",
    "file is not a database": "the file is not a database",
    "readonly": "is read-only",
}


def is_disk_full(error: DatabaseError) -> bool:
    """Whether the database failed because its disk is full."""
    text = str(_cause(error)).lower()
    return any(words in text for words in _FULL)


def kind_of(error: DatabaseError) -> str:
    """The type of the driver's error, which may be logged."""
    return type(_cause(error)).__name__


@contextmanager
def readable_database_errors() -> Iterator[None]:
    """Turn database errors into one sentence that does not quote the address."""
    from alembic.util.exc import CommandError  # noqa: PLC0415 (slow to import, and needed at startup only)

    try:
        yield
    except SQLAlchemyError as error:
        text = str(_cause(error)).lower()
        problem = next(
            (problem for words, problem in _PROBLEMS.items() if words in text), f"cannot be used ({kind_of(error)})"
        )
        raise StateError("database", problem, "Check that the server runs, and its URL") from None
    except CommandError:
        raise StateError("database", "has tables of a newer version", "Install the newest blender-dp") from None


def _cause(error: DatabaseError) -> BaseException:
    return getattr(error, "orig", None) or error
