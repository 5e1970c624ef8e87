"""Validation of the URL of a PostgreSQL database."""

from __future__ import annotations

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError


def check_postgresql_url(url: str) -> None:
    """Raise `ValueError` if this is not the URL of a PostgreSQL database. The message does not quote it."""
    if not url.startswith(("postgresql://", "postgresql+psycopg://")):
        raise ValueError("is not the URL of a PostgreSQL database: postgresql://USER:PASSWORD@HOST/NAME")
    if url.count("@") > 1:  # otherwise part of the password would be taken for the host, and shown if that is unknown
        raise ValueError("has more than one @: write an @ in the user name or the password as %40")
    try:
        make_url(url)
    except (ArgumentError, ValueError):
        raise ValueError("cannot be read: check its port, and write special characters as %XX") from None
