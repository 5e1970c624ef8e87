"""Start Spark, with the settings that its engine needs."""

from __future__ import annotations

import re
import sys

from blender_dp.errors import ParameterError
from blender_dp.extras import needs

needs("spark")

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

_SILENT = {"spark.log.level": "OFF"}  # Spark's errors quote rows
LARGEST_PIECE, OPEN_COST = "spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes"
_LOCAL = {
    **_SILENT,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",  # Spark merges small partitions, but starts with 200
    LARGEST_PIECE: "32m",  # otherwise one core reads a whole file of average size
}


def start_session(master: str, memory: str | None, scratch: str) -> SparkSession:
    """Start Spark with this master and this much memory, or use the session that this process already has."""
    local = master.startswith("local")
    settings = {
        **(_LOCAL if local else _SILENT),
        "spark.sql.warehouse.dir": scratch,
    }  # otherwise Spark creates a folder in the current one
    if memory is not None:
        settings["spark.driver.memory" if local else "spark.executor.memory"] = _java_amount(memory)
    builder = SparkSession.builder.master(master).appName("blender-dp")
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, Py4JError):
        raise ParameterError("engine", "Spark does not start", "Install Java 17 or newer, and check the master") from None
    if local:
        session.sparkContext.pythonExec = sys.executable  # otherwise it is the `python3` in the PATH
    return session


def _java_amount(memory: str) -> str:
    """An amount of memory in Java's notation."""
    match = re.fullmatch(r"([0-9]+) ?([KMGT])i?B?", memory.strip(), re.IGNORECASE)
    if match is None:
        raise ParameterError("memory", f"{memory!r} is not an amount of memory", "Use one such as 2GB")
    return match[1] + match[2].lower()
