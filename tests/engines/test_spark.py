"""Features of Spark only: sessions, workers, and files read in pieces."""

from __future__ import annotations

import gc
import gzip
import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from typer.testing import CliRunner

from blender_dp import Blender, Columns, Device, Entropy, LogError, ParameterError, ReportingList, aol_like
from blender_dp.cli.app import app
from blender_dp.collector.storage.report_counting import Counting, count_in_database
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS, find, find_reports
from tests.collector.places import Place
from tests.collector.test_counting import CELLS, DIGEST, filled
from tests.engines.conftest import NOT_COMPILED
from tests.generators.aol import write_aol

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}  # or an error
USERS = pa.Table.from_pylist([{"user": f"u{i}", "query": f"q{i % 7}", "url": "x.example"} for i in range(500)])


@pytest.mark.parametrize("memory", ["much", "2", "-1GB", "2GB; rm"])
def test_an_invalid_amount_of_memory_is_refused(spark, memory):
    with pytest.raises(ParameterError, match="not an amount of memory"):
        type(spark)(master="local[2]", memory=memory)


def test_an_existing_session_is_not_changed(spark):
    from pyspark.sql import SparkSession  # noqa: PLC0415 (may be missing)

    theirs = SparkSession.getActiveSession()
    substitute = theirs.conf.get("spark.sql.variable.substitute")
    views = {row.viewName for row in theirs.sql("SHOW VIEWS").collect()}
    engine = type(spark)(theirs)
    group, _ = engine.bound(engine.load(USERS, PLAIN_COLUMNS, "table"), 1, "k")
    assert group.users == 500
    assert theirs.conf.get("spark.sql.variable.substitute") == substitute
    # Views of other tests may disappear at any time: whenever their engines are collected.
    assert {row.viewName for row in theirs.sql("SHOW VIEWS").collect()} <= views


def test_work_is_applied_once_to_every_part_on_the_workers(spark):
    group, _ = spark.bound(spark.load(USERS, PLAIN_COLUMNS, "table"), 1, "k")
    parts = group.over_records(lambda batches: pa.table({"rows": [sum(batch.num_rows for batch in batches)]}))
    assert sum(part["rows"][0].as_py() for part in parts) == 500


def test_the_error_of_a_failed_worker_quotes_no_data(spark):
    group, _ = spark.bound(spark.load(USERS, PLAIN_COLUMNS, "table"), 1, "k")

    def work(batches):
        raise ValueError(next(batches).to_pylist())

    with pytest.raises(LogError, match="a worker failed") as caught:
        group.over_records(work)
    assert "q1" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_sparks_own_hash_chooses_one_of_a_users_records(spark):
    data = pa.Table.from_pylist([{"user": f"u{i}", "query": f"q{j}", "url": "x.example"} for i in range(40) for j in "ab"])
    engine = type(spark)(master="local[2]")
    chosen = []
    for key in ("k", "k", "l"):
        group, _ = engine.bound(engine.load(data, PLAIN_COLUMNS, "table"), 1, key)
        parts = group.over_records(lambda batches: pa.Table.from_batches(list(batches)))
        chosen.append(sorted((row["user"], row["query"]) for part in parts for row in part.to_pylist()))
    assert chosen[0] == chosen[1] != chosen[2]
    assert {query for _, query in chosen[0]} == {"qa", "qb"}
    assert len(chosen[0]) == 40


@pytest.mark.parametrize("name", ["_log.tsv", ".log.tsv"])
def test_a_file_that_spark_ignores_is_an_error(spark, tmp_path, name):
    (tmp_path / name).write_text("user\tquery\turl\n", encoding="utf-8")
    with pytest.raises(LogError, match="ignores"):
        spark.read(find(tmp_path / name))


def test_the_first_line_is_detected_for_any_size_of_pieces(spark, tmp_path):
    """Files larger and smaller than a piece, and lines like the header first and last in the pieces."""
    for name, rows in (("a", 50), ("b", 200), ("c", 1), ("d", 0)):
        lines = ["user,query,url"] * 2 + ["1,a,x.example", "user,query,url"] * rows
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    engine = type(spark)(master="local[2]")
    for piece in ("15", "1000", "1000000"):
        engine._session.conf.set("spark.sql.files.maxPartitionBytes", piece)
        engine._session.conf.set("spark.sql.files.openCostInBytes", piece)
        rows = engine.read(find(tmp_path)).rows
        counted = {row["user"]: row["rows"] for row in engine._frame(rows.group_by("user").agg(rows=rows.count())).collect()}
        assert counted == {"1": 251, "user": 255}


def test_a_task_reads_one_piece_only(spark, tmp_path):
    """Detecting the first line depends on this, whatever the settings of the session."""
    for number in range(5):
        (tmp_path / f"{number}.csv").write_text("user,query,url\n1,a,x.example\n", encoding="utf-8")
    assert spark._open(find(tmp_path)).rdd.getNumPartitions() == 5


@pytest.mark.parametrize(
    ("what", "log_format"),
    [("1.csv", None), ("*.csv", None), ("csv", "csv"), ("log.parquet", None), ("log.jsonl.gz", None), ("aol", "aol")],
)
def test_uris_are_read_like_paths(spark, tmp_path, what, log_format):
    """Through the same layer as hdfs:// and s3a://: a file, a pattern and a folder, and the first lines read by Spark."""
    write_aol(tmp_path / "aol", 2_000, files=2)
    pq.write_table(USERS, tmp_path / "log.parquet")
    lines = "".join(f"{json.dumps(row)}\n" for row in USERS.to_pylist())
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "csv").mkdir()
    for name, rows in (("1.csv", USERS.slice(0, 200)), ("2.csv", USERS.slice(200)), ("csv/3.csv", USERS)):
        csv.write_csv(rows, tmp_path / name)
    source = find(f"file://{tmp_path}/{what}", log_format)
    group, tally = spark.bound(spark.read(source), 1, "k")
    same, expected = spark.bound(spark.read(find(tmp_path / what, log_format)), 1, "k")
    assert (group.users, tally) == (same.users, expected)
    assert tally.records > 0
    assert list(spark.bad_rows(source)) == []
    with pytest.raises(LogError, match="only Spark reads URIs"):
        DuckDBEngine().read(source)


def test_first_lines_of_uris_are_checked(spark, tmp_path):
    (tmp_path / "1.tsv").write_text("user\tquery\turl\n1\ta\tx.example\n", encoding="utf-8")
    folder = f"file://{tmp_path}"
    with pytest.raises(
        LogError, match=r"no column 'who' .*3 columns, among them user, query, url\. Pass the name of the user column"
    ):
        spark.read(find(f"{folder}/1.tsv", columns=Columns("who")))
    (tmp_path / "2.tsv").write_text("user\turl\tquery\n1\tx.example\ta\n", encoding="utf-8")
    with pytest.raises(LogError, match="cannot be read"):
        spark.bound(spark.read(find(f"{folder}/*.tsv")), 1, "k")
    for missing in (f"{folder}/3.tsv", "nosuchscheme://host/log.tsv"):
        with pytest.raises(LogError, match="cannot be read"):
            spark.read(find(missing))
    (tmp_path / "4.csv").touch()
    with pytest.raises(LogError, match="is empty"):
        spark.read(find(f"{folder}/4.csv"))


def test_a_truncated_file_at_a_uri_is_an_error(spark, tmp_path):
    """Its complete lines could only be determined by copying the file here."""
    content = gzip.compress(b"user\tquery\turl\n" + b"".join(b"%d\tq\tx.example\n" % i for i in range(9999)))
    (tmp_path / "log.tsv.gz").write_bytes(content[: len(content) // 2])
    source = find(f"file://{tmp_path}/log.tsv.gz")
    with pytest.raises(LogError, match="cannot be read"):
        spark.bound(spark.read(source), 1, "k")
    with pytest.raises(LogError, match="cannot be read"):
        list(spark.bad_rows(source))


def test_reports_at_a_uri_are_counted(spark, tmp_path):
    (tmp_path / "reports.jsonl").write_text('{"head_list": "d", "cell": 1}\n' * 3, encoding="utf-8")
    source = find_reports([f"file://{tmp_path}/reports.jsonl"])
    assert spark.report_counts(source, "d", 2)[0].tolist() == [0, 3]
    with pytest.raises(LogError, match="only Spark reads URIs"):
        DuckDBEngine().report_counts(source, "d", 2)


def test_the_command_accepts_uris(spark, tmp_path):
    def command(*arguments: str) -> dict:
        done = CliRunner().invoke(
            app, [*arguments, "--epsilon", "4", "--delta", "1e-5", "--engine", "spark:local[2]", "--json"]
        )
        assert done.exit_code == 0, done.exception
        return json.loads(done.stdout)

    (tmp_path / "logs").mkdir()
    csv.write_csv(aol_like(2, users=20_000), tmp_path / "logs/1.csv")
    out, reports = tmp_path / "release", tmp_path / "reports.jsonl"
    made = command("run", f"file://{tmp_path}/logs", "--format", "csv", "--opt-in", "0.3", "--out", str(out))
    assert (made["log"]["records"], made["listed"] > 1) == (20_000, True)
    device = Device(ReportingList.load(out / "head-list.json"), epsilon=4)
    sent = [device.report(None) for _ in range(100)]
    rows = [json.dumps({"head_list": report.head_list, "cell": cell}) for report in sent for cell in report.cells]
    reports.write_text("\n".join(rows), encoding="utf-8")
    counted = command("aggregate", f"file://{reports}", "--head-list", str(out / "head-list.json"))
    assert counted["reports"]["records"] == len(rows)


def test_a_collectors_reports_are_counted_as_in_the_database(spark, tmp_path):
    """Here rather than among the collector's tests, because Spark is started once only."""
    place = Place.new(tmp_path / "place", None)
    rounds = place.rounds()
    name = filled(rounds, 3)
    with rounds.store.read() as connection:
        expected, clients = count_in_database(connection, name, CELLS)
    found = Counting(place.folder / "export", 0, "spark:local[1]").count(rounds.store, name, DIGEST, CELLS)
    place.remove()
    assert found[1] == clients
    np.testing.assert_array_equal(found[0], expected)


def test_bad_rows_can_be_listed(spark, tmp_path):
    (tmp_path / "log.tsv").write_text("user\tquery\turl\n1\ta\tx.example\n\tb\tx.example\n", encoding="utf-8")
    assert list(spark.bad_rows(find(tmp_path / "log.tsv"))) == [
        {"reason": "no user", "user": None, "query": "b", "url": "x.example"}
    ]
    assert spark.progress() <= 100


def test_a_seeded_simulation_is_the_same_on_both_engines(spark):
    """With statements compiled by Spark, as usual outside these tests."""
    population = aol_like(2, users=20_000)
    blender = Blender(epsilon=4, delta=1e-5, max_queries=30)
    compiling = type(spark)(master="local[2]", portable=True, ordered=True)
    assert {name: compiling._session.conf.get(name) for name in NOT_COMPILED} == NOT_COMPILED
    for name, value in COMPILED.items():
        compiling._session.conf.set(name, value)
    releases = [
        blender.run_log(population, 0.3, key=b"k", entropy=Entropy.seeded(1), engine=engine).records
        for engine in (DuckDBEngine(portable=True, ordered=True), compiling)
    ]
    assert releases[0] == releases[1]
    assert len(releases[0]) > 10


def test_a_seeded_entropy_is_not_sent_to_workers(spark):
    with pytest.raises(ParameterError, match="ordered=True"):
        Blender(epsilon=4, delta=1e-5).run_log(USERS, 0.3, entropy=Entropy.seeded(1), engine=spark)


def cached(spark) -> int:
    return len(spark._session.sparkContext._jsc.getPersistentRDDs())


@pytest.fixture
def spark_without_rows(spark):
    """Spark without rows of earlier tests: an exception that a test caught refers to the test's variables, and back.

    Commands that tests run in this process freeze what exists while they load, so that it would never be collected.
    """
    gc.unfreeze()
    gc.collect()
    assert cached(spark) == 0
    return spark


def test_no_rows_stay_in_caches(spark_without_rows, tmp_path):
    spark = spark_without_rows
    group, _ = spark.bound(spark.load(USERS, PLAIN_COLUMNS, "table"), 1, "k")
    named, others = group.part(pa.array(["u3"]))
    chosen = others.split(Fraction(1, 3), "k", "test")[0]
    assert chosen.users < others.users
    assert cached(spark) == 1  # one copy, of which groups are parts
    del group, named, others
    assert cached(spark) == 1
    del chosen
    assert cached(spark) == 0
    (tmp_path / "log.tsv").write_text("user\tquery\turl\n\tb\tx.example\n\tc\tx.example\n", encoding="utf-8")
    rows = spark.bad_rows(find(tmp_path / "log.tsv"))
    next(rows)
    del rows
    assert cached(spark) == 0


def test_a_whole_run_works_on_workers(spark_without_rows):
    blender = Blender(epsilon=4, delta=1e-5, max_queries=30)
    release = blender.run_log(aol_like(2, users=20_000), 0.3, engine=spark_without_rows)
    assert "google" in release.head_list.queries
    assert cached(spark_without_rows) == 0


def test_spark_creates_no_folder_in_the_current_folder(spark, tmp_path):
    """In a separate process: there is one Spark per process, and the folder of its tables is set when it starts."""
    code = "from blender_dp.engines.spark import SparkEngine as E; E(master='local[1]')._session.sql('SHOW TABLES').count()"
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, env=environment)
    assert list(tmp_path.iterdir()) == []
