"""Every engine joins the lines of a Yandex log in the same way."""

from __future__ import annotations

from itertools import permutations

import pytest

from blender_dp.engines import DuckDBEngine
from blender_dp.logs import Problem, Tally, find
from tests.engines.answers import KEY, answer, records_of

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def test_results_pages_that_share_a_name_are_merged_alike(engine, tmp_path):
    """This should not happen, but the same line counts on every engine."""
    pages = ["5\tQ\t0\t7\t1,2\t100,3\t101,4", "0\tQ\t0\t6\t1,2\t101,9\t100,8", "7\tT\t0\t5\t9,9\t101,4"]
    logs = [
        f"{n}\tM\t1\t{n}\n{n}\t{one}\n{n}\t{other}\n{n}\t9\tC\t0\t101\n"
        for n, (one, other) in enumerate(permutations(pages, 2))
    ]
    (tmp_path / "log.txt").write_text("".join(logs), encoding="utf-8")
    source, reference = find(tmp_path / "log.txt"), DuckDBEngine(portable=True)
    found = answer(engine, engine.read(source), 1)
    assert found == answer(reference, reference.read(source), 1)
    assert found.tally == Tally(12, 6, {})
    assert found.records[0] == ("0", "6", "https://domain4.example/101")  # the smallest query, and the smallest results


@pytest.mark.parametrize("m", [1, 3])
def test_a_session_line_never_claims_another_users_click(engine, tmp_path, m):
    """A session of two users has no record, and both of them count."""
    session = "{0}\tM\t1\t{1}\n{0}\t0\tQ\t0\t7\t1,2\t100,3\n{0}\t1\tC\t0\t100\n"
    log = session.format(0, 500) + session.format(1, 400) + session.format(2, 300)
    intruder = "1\tM\t1\t399\n"
    for content in (log + intruder, intruder + log):
        (tmp_path / "log.txt").write_text(content, encoding="utf-8")
        group, tally = engine.bound(engine.read(find(tmp_path / "log.txt")), m, KEY)
        records = records_of(group)
        assert {user: query for user, query, _ in records if query} == {"300": "7", "500": "7"}
        assert {user for user, *_ in records} == {"300", "399", "400", "500"}
        assert tally == Tally(7, 2, {Problem.SESSION_OF_SEVERAL_USERS: 1})


def test_users_of_sessions_without_a_usable_id_count(engine, tmp_path):
    """Even if there are several, or the id is the reader's internal mark for null."""
    content = "0\tM\t1\t500\n\tM\t1\t3\n\tM\t1\t4\n\x02\tM\t1\t5\n\x02\tM\t1\t6\n"
    (tmp_path / "log.txt").write_text(content, encoding="utf-8")
    group, _ = engine.bound(engine.read(find(tmp_path / "log.txt", "yandex")), 1, KEY)
    assert [user for user, *_ in records_of(group)] == ["3", "4", "5", "500", "6"]


def test_a_group_keeps_the_rows_of_its_file(engine, tmp_path):
    """If the file changes, a new group has the new rows, and the first group the old ones; neither reads the file again."""
    path, groups = tmp_path / "log.txt", []
    for user in (b"500", b"501"):
        path.write_bytes(b"0\tM\t1\t%s\n0\t0\tQ\t0\t7\t1,2\t100,3\n0\t1\tC\t0\t100\n1\tM\t\xff\t600\n" % user)
        groups.append(engine.bound(engine.read(find(path)), 1, KEY)[0])
    path.unlink()
    assert [[user for user, *_ in records_of(group)] for group in groups] == [["500", "600"], ["501", "600"]]
