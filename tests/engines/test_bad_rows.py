"""Every engine refuses the same rows, for the same reasons, and counts the same users."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter

import pytest

from blender_dp.engines import DuckDBEngine
from blender_dp.logs import Problem, find
from tests.engines.answers import KEY, answer, expected_tally, write
from tests.engines.bad_lines import FORMATS
from tests.generators.aol import write_aol
from tests.generators.yandex import write_yandex

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.mark.parametrize(("compressed", "m"), [(False, 1), (True, 3)])
@pytest.mark.parametrize("name", FORMATS)
def test_every_kind_of_bad_row_is_counted(engine, tmp_path, name, compressed, m):
    source = find(write(tmp_path, name, compressed))
    found = answer(engine, engine.read(source), m)
    reference = DuckDBEngine(portable=True)
    assert found.tally == expected_tally(FORMATS[name][1])
    assert found[1:] == answer(reference, reference.read(source), m)[1:]
    assert {user for user, *_ in found.records} == FORMATS[name][2]
    assert found.users * m == len(found.records) == len(FORMATS[name][2]) * m
    assert sorted(found.parts[0] + found.parts[1], key=repr) == found.records


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("made", ["aol", "yandex"])
def test_realistic_logs_are_tallied_alike(engine, tmp_path, made, m):
    if made == "aol":
        write_aol(tmp_path, 20_000, files=2, compress=True)
    else:
        write_yandex(tmp_path / "log.txt.gz", 1_000)
    source, reference = find(tmp_path), DuckDBEngine(portable=True)
    found = answer(engine, engine.read(source), m)
    assert found == answer(reference, reference.read(source), m)
    assert found.tally.bad == 0
    assert min(len(part) for part in found.parts) > 0


def test_bad_rows_of_a_truncated_file_are_written_once(engine, tmp_path):
    """Each row once, although the truncation is detected only at the end of the file, after several batches of rows."""
    texts = [hashlib.md5(str(i).encode(), usedforsecurity=False).hexdigest() for i in range(60_000)]
    lines = ["user\tquery\turl", *(f"{text}\tq\tx.example" if i % 1000 else "\tq\tx" for i, text in enumerate(texts))]
    content = gzip.compress("\n".join(lines).encode())
    (tmp_path / "1.tsv").write_text("user\tquery\turl\n" + "\tq\tx\n" * 150_000, encoding="utf-8")
    (tmp_path / "2.tsv.gz").write_bytes(content[: len(content) // 2])
    source = find(tmp_path)
    _, tally = engine.bound(engine.read(source), 1, KEY)
    found = Counter(row["reason"] for row in engine.bad_rows(source))
    assert found == {str(problem): rows for problem, rows in tally.problems.items()}
    assert 150_000 < tally.problems[Problem.NO_USER] < 150_060
    assert tally.problems[Problem.FILE_CUT_OFF] == 1
