"""Lives once when it is imported, by the server that forks: its children need not import and compile everything again."""

from __future__ import annotations

import atexit
import gc
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy.dialects.postgresql.psycopg

from tests.collector import disappearing, namespaces
from tests.collector.driver import live
from tests.collector.places import Place

IMPORTED = (disappearing, namespaces, pytest, sqlalchemy.dialects.postgresql.psycopg)
"""What else they need; pytest, unless this is one of its own worker processes."""

with TemporaryDirectory() as folder:
    place = Place.new(Path(folder) / "place", None, empty=True)
    live(place)
    place.close()
gc.freeze()  # otherwise the first garbage collection of every child would copy all memory
atexit.register(gc.unfreeze)  # otherwise libraries complain about objects that are never freed
