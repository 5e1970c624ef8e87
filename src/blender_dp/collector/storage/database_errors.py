"""What is told when the database cannot be used: its own errors quote its address, or what was to be stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import alembic.util.exc
import sqlalchemy.exc

from blender_dp.errors import StateError

_SAID = {
    "password authentication failed": "refuses the user or the password",
    "no password supplied": "wants a password",
    "does not exist": "does not know the user, or the name of the database",
    "connection refused": "does not answer: nothing listens there",
    "resolve host": "has a host that is not known",
    "name or service not known": "has a host that is not known",
    "timeout": "does not answer in time",
    "unable to open database file": "is in a folder that cannot be used",
    "file is not a database": "is a file that is no database",
    "readonly": "can only be read",
}


@contextmanager
def database_told() -> Iterator[None]:
    """Let what goes wrong with the database be one sentence, without its address."""
    try:
        yield
    except sqlalchemy.exc.SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        text = str(cause).lower()
        said = next((said for words, said in _SAID.items() if words in text), f"cannot be used ({type(cause).__name__})")
        raise StateError("database", said, "Check that it runs, and its URL") from None
    except alembic.util.exc.CommandError:
        raise StateError("database", "has tables of another version", "Install the newest blender-dp") from None
