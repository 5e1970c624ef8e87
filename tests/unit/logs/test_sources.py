from __future__ import annotations

import gzip

import pytest

from blender_dp import Columns, LogError
from blender_dp.engines import Format
from blender_dp.logs import find

AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def write(path, text: str):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "user,query,url\n", Format.CSV),
        ("a.tsv", "user\tquery\turl\n", Format.TSV),
        ("a.txt", "user\tquery\turl\r\n", Format.TSV),
        ("a.TSV.gz", "user\tquery\turl\n", Format.TSV),
        ("a.jsonl", "", Format.JSONL),
        ("a.ndjson.gz", "", Format.JSONL),
        ("a.parquet", "", Format.PARQUET),
        ("a.txt", AOL, Format.AOL),
        ("a.txt.gz", AOL, Format.AOL),
        ("a.txt", AOL.replace("\n", "\r\n"), Format.AOL),
        ("train", "0\tM\t1\t7\n", Format.YANDEX),
        ("train.gz", "0\tM\t1\t7\n", Format.YANDEX),
        ("train.txt", "0\tM\t1\t7\n", Format.YANDEX),
    ],
)
def test_the_format_is_told_by_ending_and_first_line(tmp_path, name, text, expected):
    assert find(write(tmp_path / name, text)).format is expected


def test_a_named_format_wins(tmp_path):
    source = find(write(tmp_path / "log.dat", "user,query,url\n"), "CSV")
    assert (source.format, source.header) == (Format.CSV, ("user", "query", "url"))
    with pytest.raises(LogError, match="'xml' is no format"):
        find(tmp_path / "log.dat", "xml")


def test_folders_patterns_and_several_files(tmp_path):
    for name in ("b.csv", "a.csv", "c.csv"):
        write(tmp_path / name, "user,query,url\n")
    write(tmp_path / "readme.md", "no log")
    every = tuple(tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    assert find(tmp_path).files == every
    assert find(str(tmp_path / "*.csv")).files == every
    assert find([tmp_path / "c.csv", tmp_path / "[ab].csv", tmp_path / "a.csv"]).files == (every[2], *every[:2])


def test_a_name_is_no_pattern(tmp_path):
    write(tmp_path / "log1.csv", "user,query,url\n")
    write(tmp_path / "log[1].csv", "user,query,url\n")
    assert find(tmp_path / "log[1].csv").files == (tmp_path / "log[1].csv",)


def test_aol_has_its_own_columns(tmp_path):
    source = find(write(tmp_path / "a.txt", AOL))
    assert source.columns == Columns("AnonID", "Query", "ClickURL")


def test_quoted_names(tmp_path):
    source = find(write(tmp_path / "a.csv", '\ufeff"user","the, query",url\n'), columns=Columns(query="the, query"))
    assert source.header == ("user", "the, query", "url")


@pytest.mark.parametrize(
    ("files", "wanted", "problem"),
    [
        ({}, "log.csv", "does not exist"),
        ({"log.xlsx": "x"}, "log.xlsx", "cannot tell the format"),
        ({"log.csv": ""}, "log.csv", "is empty"),
        ({"log.csv": "user,query,query\n"}, "log.csv", "two columns alike"),
        ({"log.csv": "user,query,link\n1,a,b\n"}, "log.csv", "no column 'url' for the url; its first line names 3 columns"),
        ({"a.csv": "user,query,url\n", "b.tsv": "user\tquery\turl\n"}, "", "different formats"),
        ({"a.csv": "user,query,url\n", "b.csv": "user,url,query\n"}, "", "differs from that of"),
        ({"a.md": "x"}, "", "no log files"),
        ({"a.csv": "user,query,url\n"}, "*.tsv", "no file has such a name"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, files, wanted, problem):
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(LogError, match=problem):
        find(tmp_path / wanted)


def test_a_first_line_that_is_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"user,\xff\n")
    (tmp_path / "b.csv.gz").write_bytes(b"this is not zipped")
    for name in ("a.csv", "b.csv.gz"):
        with pytest.raises(LogError, match="cannot be read as UTF-8"):
            find(tmp_path / name)


def test_uris_are_left_to_the_engine():
    source = find(["hdfs://host/a.csv.gz", "hdfs://host/logs/*.csv", "hdfs://host/a.csv.gz"])
    assert (source.files, source.format, source.header) == (
        ("hdfs://host/a.csv.gz", "hdfs://host/logs/*.csv"),
        Format.CSV,
        (),
    )
    assert find("s3a://bucket/logs", "aol").columns.user == "AnonID"
    assert find("s3a://bucket/log.txt").format is Format.TSV
    with pytest.raises(LogError, match="only Spark reads URIs"):
        _ = source.local
    with pytest.raises(LogError, match="cannot tell the format"):
        find("hdfs://host/logs")


def test_uris_and_paths_do_not_mix(tmp_path):
    with pytest.raises(LogError, match="mixes URIs with paths"):
        find(["hdfs://host/a.csv", write(tmp_path / "a.csv", "user,query,url\n")])
