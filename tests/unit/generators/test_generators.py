from __future__ import annotations

import gzip
import re
from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from blender_dp.logs.synthetic import aol_shape
from tests.generators.aol import HEADER, write_aol
from tests.generators.yandex import write_yandex

pytestmark = pytest.mark.slow  # writes logs of realistic sizes

ROWS, SESSIONS = 150_000, 30_000  # more than the generators make in one batch


def aol_rows(path):
    return [line.split("\t") for line in path.read_bytes().removeprefix(HEADER).decode().split("\n")[:-1]]


@pytest.fixture(scope="module")
def aol(tmp_path_factory):
    return write_aol(tmp_path_factory.mktemp("aol"), ROWS, files=2)


@pytest.fixture(scope="module")
def rows(aol):
    return [row for path in aol for row in aol_rows(path)]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    path = tmp_path_factory.mktemp("yandex") / "train"
    write_yandex(path, SESSIONS)
    lines = [line.split("\t") for line in path.read_text().split("\n")[:-1]]
    return [list(lines) for _, lines in groupby(lines, key=lambda line: line[0])]


def test_aol_files_have_the_usual_names_and_headers(aol):
    assert [path.name for path in aol] == ["user-ct-test-collection-01.txt", "user-ct-test-collection-02.txt"]
    assert all(path.read_bytes().count(HEADER) == 1 and path.read_bytes().startswith(HEADER) for path in aol)


def test_aol_logs_have_the_requested_number_of_rows_with_five_columns(rows):
    assert len(rows) == ROWS
    for user, query, time, rank, url in rows:
        assert user.isdecimal()
        assert query == query.strip() != ""
        assert re.fullmatch(r"2006-0[345]-\d\d \d\d:\d\d:\d\d", time)
        assert (rank, url) == ("", "") or (int(rank) >= 1 and re.fullmatch(r"http://www\.[a-z]+\.[a-z]{3}", url))


def test_aol_rows_are_sorted_by_user_and_time_and_a_user_is_in_one_file(aol):
    keys = [[(int(row[0]), row[2]) for row in aol_rows(path)] for path in aol]
    assert all(file == sorted(file) for file in keys)
    assert not {user for user, _ in keys[0]} & {user for user, _ in keys[1]}


def test_aol_users_are_skewed_and_half_of_the_rows_are_clicks(rows):
    counts = np.array(list(Counter(row[0] for row in rows).values()))
    assert 45 < counts.mean() < 70
    assert np.median(counts) < counts.mean() / 2
    assert 0.5 < np.mean([row[4] != "" for row in rows]) < 0.57


def test_aol_queries_are_as_popular_as_in_the_published_log(rows):
    counts = Counter(row[1] for row in rows)
    shares = aol_shape().query_shares
    assert counts.most_common(1)[0][0] == "google"
    assert counts["google"] / ROWS == pytest.approx(shares[0], rel=0.15)
    users = Counter(query for _, query in {(row[0], row[1]) for row in rows})
    # unique queries, and queries of very few users
    assert np.mean([users[row[1]] == 1 for row in rows]) > 1 - shares.sum() - 0.02


def test_aol_queries_contain_unbalanced_quotes(rows):
    marked = [row[1] for row in rows if re.search("[\"']", row[1])]
    assert 0.0003 < len(marked) / ROWS < 0.003
    assert any(query.startswith('"') and query.count('"') == 1 for query in marked)
    assert any("'" in query for query in marked)
    assert 0 < sum(not row[1].isascii() for row in rows) < ROWS / 1_000


def test_aol_results_are_the_same_for_all_users(rows):
    urls = {}
    for _, query, _, rank, url in rows:
        assert urls.setdefault((query, rank), url) == url
    assert urls["google", "1"] == "http://www.google.com"


@pytest.mark.parametrize("compress", [False, True])
def test_aol_bytes_depend_on_the_seed_only(tmp_path, compress):
    def made(folder, seed):
        return [p.read_bytes() for p in write_aol(tmp_path / folder, 3_000, seed=seed, files=3, compress=compress)]

    assert made("a", 1) == made("b", 1) != made("c", 2)


def test_a_compressed_aol_log_has_the_same_content(tmp_path):
    (plain,), (compressed,) = write_aol(tmp_path, 2_000), write_aol(tmp_path, 2_000, compress=True)
    assert compressed.name == "user-ct-test-collection-01.txt.gz"
    assert gzip.decompress(compressed.read_bytes()) == plain.read_bytes()


@pytest.mark.parametrize(("number", "files"), [(0, 1), (1, 2), (7, 3)])
def test_aol_tiny_logs_are_complete(tmp_path, number, files):
    assert sum(len(aol_rows(path)) for path in write_aol(tmp_path, number, files=files)) == number


def test_yandex_sessions_start_with_their_metadata(sessions):
    assert [int(session[0][0]) for session in sessions] == list(range(SESSIONS))
    for (_, kind, day, user), *rest in sessions:
        assert kind == "M"
        assert 1 <= int(day) <= 30
        assert user.isdecimal()
        assert all(line[2] in {"Q", "T", "C"} for line in rest)
    users = Counter(session[0][3] for session in sessions)
    assert 4 < SESSIONS / len(users) < 10


def test_yandex_lines_are_in_time_order_and_serps_count_up(sessions):
    for _, *rest in sessions:
        passed = [int(line[1]) for line in rest]
        assert passed[0] == 0
        assert passed == sorted(passed)
        serps = [int(line[3]) for line in rest if line[2] != "C"]
        assert serps == list(range(len(serps)))
        assert 1 <= len(serps) <= 4


def test_yandex_queries_always_have_the_same_terms_and_ten_results(sessions):
    seen = {}
    for line in (line for session in sessions for line in session[1:] if line[2] != "C"):
        _, _, _, _, query, terms, *results = line
        assert 1 <= len(terms.split(",")) <= 5
        assert len({result.split(",")[0] for result in results}) == len(results) == 10
        assert all(re.fullmatch(r"\d+,\d+", result) for result in results)
        assert seen.setdefault(query, (terms, results)) == (terms, results)


def test_yandex_clicks_are_on_the_results_of_the_query_before(sessions):
    for _, *rest in sessions:
        clicks = Counter(line[3] for line in rest if line[2] == "C")
        assert all(number <= 2 for number in clicks.values())
        serp, urls = None, set()
        for line in rest:
            if line[2] == "C":
                assert len(line) == 5
                assert line[3] == serp
                assert line[4] in urls
            else:
                serp, urls = line[3], {result.split(",")[0] for result in line[6:]}


def test_yandex_test_queries_are_rare_and_last_and_have_no_clicks(sessions):
    tests = [session for session in sessions if any(line[2] == "T" for line in session[1:])]
    assert 0.005 < len(tests) / SESSIONS < 0.015
    assert all(session[-1][2] == "T" and int(session[0][2]) > 27 for session in tests)


def test_yandex_queries_are_as_popular_as_in_the_published_log(sessions):
    queries = Counter(line[4] for session in sessions for line in session[1:] if line[2] != "C")
    assert queries.most_common(1)[0][1] / queries.total() == pytest.approx(aol_shape().query_shares[0], rel=0.15)


@pytest.mark.parametrize("name", ["train", "train.gz"])
def test_yandex_bytes_depend_on_the_seed_only(tmp_path, name):
    def made(seed):
        write_yandex(tmp_path / name, 500, seed=seed)
        return (tmp_path / name).read_bytes()

    assert made(1) == made(1) != made(2)
    assert made(1).startswith(b"\x1f\x8b") == name.endswith(".gz")
