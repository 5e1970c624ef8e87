"""Every engine, started once per test run: Spark takes seconds to start."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

from blender_dp.engines import DuckDBEngine

# For a few rows, compiling takes longer than it saves: Spark's of every statement, and Java's of Spark.
NOT_COMPILED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
PARTITIONS = 2  # more than one, so that rows are exchanged; each costs a task for every statement
JAVA = "'-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'"
QUICK = " ".join((*(f"--conf {k}={v}" for k, v in NOT_COMPILED.items()), "--driver-java-options", JAVA, "pyspark-shell"))


@pytest.fixture(scope="session")
def spark():
    if (
        importlib.util.find_spec("pyspark") is None or not (shutil.which("java") or os.environ.get("JAVA_HOME"))
    ) and not os.environ.get("BLENDER_DP_NEEDS_SPARK"):
        pytest.skip("no Spark on this machine (pip install 'blender-dp[spark]', and Java 17)")
    from pyspark.sql import SparkSession  # noqa: PLC0415 (may be missing)

    from blender_dp.engines.spark import SparkEngine  # noqa: PLC0415 (needs Java, slow to load)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", QUICK)
        engine = SparkEngine(master="local[2]", portable=True)
        engine._session.conf.set("spark.sql.shuffle.partitions", PARTITIONS)
        yield engine
    SparkSession.getActiveSession().stop()


@pytest.fixture(params=["duckdb", "spark"])
def engine(request):
    return DuckDBEngine(portable=True) if request.param == "duckdb" else request.getfixturevalue("spark")
