"""Rows that Spark stores, and errors that do not quote them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from weakref import finalize

import pyarrow as pa

from blender_dp.errors import LogError
from blender_dp.extras import needs

needs("spark")

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

_numbers = count()


class StoredRows:
    """Rows that the workers store as long as this object lives. They are personal data, so no copy may be left behind."""

    def __init__(self, frame: DataFrame) -> None:
        # Every plan is made unique: for an equal one, Spark would reuse the older rows, even if the file has changed since.
        unique = frame.where(f"{next(_numbers)} >= 0")
        self.frame = unique.persist(StorageLevel.MEMORY_AND_DISK)
        finalize(self, _drop, self.frame).atexit = False  # at exit Spark stops, and drops them itself


def _drop(frame: DataFrame) -> None:
    with suppress(PySparkException, Py4JError, OSError):  # Spark may have been stopped, which drops them
        frame.unpersist()


@contextmanager
def typed_errors(name: str) -> Iterator[None]:
    """Replace Spark's errors by one that names the log."""
    try:
        yield
    except (PySparkException, Py4JError, pa.ArrowException):
        raise unreadable(name) from None


def unreadable(name: str) -> LogError:
    """The error that replaces Spark's, which quotes the rows that cause it."""
    problem = "cannot be read: a file is damaged or not in the expected format, or a worker failed"
    return LogError(name, problem, "Check the files, or pass --format; every worker needs blender-dp[spark]")
