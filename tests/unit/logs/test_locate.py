from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tempfile
from pathlib import Path

import pytest

from blender_dp import Columns, LogError
from blender_dp.engines.duckdb import DuckDBEngine
from blender_dp.logs import Format, find

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
def test_the_format_is_detected_from_ending_and_first_line(tmp_path, name, text, expected):
    assert find(write(tmp_path / name, text)).format is expected


def test_an_explicit_format_overrides_detection(tmp_path):
    source = find(write(tmp_path / "log.dat", "user,query,url\n"), "CSV")
    assert (source.format, source.header) == (Format.CSV, ("user", "query", "url"))
    with pytest.raises(LogError, match="'xml' is not a known format"):
        find(tmp_path / "log.dat", "xml")


def test_folders_patterns_and_several_files(tmp_path):
    for name in ("b.csv", "a.csv", "c.csv"):
        write(tmp_path / name, "user,query,url\n")
    write(tmp_path / "readme.md", "no log")
    every = tuple(tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    assert find(tmp_path).files == every
    assert find(str(tmp_path / "*.csv")).files == every
    assert find([tmp_path / "c.csv", tmp_path / "[ab].csv", tmp_path / "a.csv"]).files == (every[2], *every[:2])


def test_an_existing_file_name_is_not_treated_as_a_pattern(tmp_path):
    write(tmp_path / "log1.csv", "user,query,url\n")
    write(tmp_path / "log[1].csv", "user,query,url\n")
    assert find(tmp_path / "log[1].csv").files == (tmp_path / "log[1].csv",)


def test_aol_has_its_own_columns(tmp_path):
    source = find(write(tmp_path / "a.txt", AOL))
    assert source.columns == Columns("AnonID", "Query", "ClickURL")


def test_column_names_may_be_quoted(tmp_path):
    source = find(write(tmp_path / "a.csv", '\ufeff"user","the, query",url\n'), columns=Columns(query="the, query"))
    assert source.header == ("user", "the, query", "url")


@pytest.mark.parametrize(
    ("files", "wanted", "problem"),
    [
        ({}, "log.csv", "does not exist"),
        ({"log.xlsx": "x"}, "log.xlsx", "cannot detect the format"),
        ({"log.csv": ""}, "log.csv", "is empty"),
        ({"log.csv": "user,query,query\n"}, "log.csv", "two columns with the same name"),
        ({"log.csv": "user,query,link\n1,a,b\n"}, "log.csv", "no column 'url' for the url; its first line names 3 columns"),
        ({"a.csv": "user,query,url\n", "b.tsv": "user\tquery\turl\n"}, "", "different formats"),
        ({"a.csv": "user,query,url\n", "b.csv": "user,url,query\n"}, "", "differs from that of"),
        ({"a.md": "x"}, "", "no log files"),
        ({"a.csv": "user,query,url\n"}, "*.tsv", "no file matches"),
    ],
)
def test_unreadable_logs_are_refused(tmp_path, files, wanted, problem):
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(LogError, match=problem):
        find(tmp_path / wanted)


def test_a_first_line_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"user,\xff\n")
    (tmp_path / "b.csv.gz").write_bytes(b"this is not zipped")
    with pytest.raises(LogError, match=r"first line is not UTF-8 text; it may be Latin-1 .*--encoding latin-1"):
        find(tmp_path / "a.csv")
    with pytest.raises(LogError, match="damaged, or not compressed as its extension says"):
        find(tmp_path / "b.csv.gz")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"user;query;url\n1;secret;x\n", r"separated by ';'\. Pass --delimiter ';'"),
        ("a.csv", b"user|query|url\n1|secret|x\n", r"separated by '\|'\. Pass --delimiter '\|'"),
        ("a.csv", b"user\tquery\turl\n1\tsecret\tx\n", r"separated by tabs\. Pass --format tsv"),
        ("a.tsv", b"user,query,url\n1,secret,x\n", r"separated by commas\. Pass --format csv"),
        ("a.csv", b"1;secret;x.example\n", r"separated by ';'"),
        ("a.csv", b"17,secret,www.x.example\n", r"seems to be a row, .* 3 columns\. Add a first line .* user,query,url"),
        ("a.csv", b"17,secret,secret\n", "seems to be a row"),
        ("a.tsv", b"u1\tsecret\thttps://x.example/\n", "seems to be a row"),
        ("a.csv", b"user,query\n1,secret\n", r"no column 'url' .*--url NAME\), or rename the column, or pass --no-url"),
        ("a.csv", "user,query,url\n1,secret,x\n".encode("utf-16"), "is UTF-16 text, not UTF-8.*--encoding utf-16"),
        ("a.tsv", "user\tquery\turl\n".encode("utf-16-le"), "is UTF-16-LE text.*--encoding utf-16-le"),
        ("a.txt", "user\tquery\turl\n".encode("utf-16-be"), "is UTF-16-BE text.*--encoding utf-16-be"),
        ("a.jsonl", '{"user": 1, "query": "secret"}\n'.encode("utf-16"), "is UTF-16 text"),
        ("a.csv", "user,query,url\n".encode("utf-32"), "is UTF-32 text"),
        ("a.csv", "user,requête,url\n".encode("latin-1"), "may be Latin-1 or Windows-1252.*--encoding latin-1"),
        ("a.json", b'[{"user": 1, "query": "secret"}]', "is a JSON array, not an object per line.*jq -c"),
        ("a.jsonl", b'[\n  {"user": 1, "query": "secret"}]', "is a JSON array"),
        ("a.json", b'{"user": 1, "query": "secret"}\n', r"cannot detect the format from '.json'.*--format.*jsonl"),
        ("a.csv", gzip.compress(b"user,query,url\n", mtime=0), r"compressed with gzip.*ends in \.gz"),
        ("a.csv", b"PAR1 secret", r"is a Parquet file.*--format parquet"),
        ("a.csv", b"PK\x03\x04 secret", r"spreadsheet.*Save it as CSV"),
        ("a.csv", b"\xd0\xcf\x11\xe0 secret", r"spreadsheet.*Save it as CSV"),
        ("a.csv", bz2.compress(b"user,query,url\n"), r"compressed with bzip2\. Use gzip or Zstandard"),
        ("a.csv", lzma.compress(b"user,query,url\n"), r"compressed with xz\. Use gzip or Zstandard"),
        ("a.csv.bz2", bz2.compress(b"user,query,url\n"), r"\.bz2 is not a supported compression\. Use gzip or Zstandard"),
    ],
)
def test_errors_describe_a_file_without_quoting_it(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=said) as caught:
        find(tmp_path / name)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_row_is_mistaken_for_another_format(tmp_path):
    """The first line of a file without a header may be a user's row: at worst it is a bad row."""
    for line in (b"[1]", b'["secret"]', b"\xff\xe9", b"words", b'{"user": "\\u0000"}'):
        (tmp_path / "a.jsonl").write_bytes(line + b'\n{"user": 1, "query": "a", "url": "x.example"}\n')
        assert find(tmp_path / "a.jsonl").format is Format.JSONL


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "folder/log.csv"])
def test_a_missing_permission_is_reported_as_such(name):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = write(Path(folder) / name, "user,query,url\n")
        path.chmod(0)
        if name.startswith("folder"):
            path.parent.chmod(0)
        if os.geteuid() == 0:  # root may read everything
            os.seteuid(65534)
        try:
            with pytest.raises(LogError, match="permission denied: this account cannot read it"):
                find(path)
        finally:
            os.seteuid(os.getuid())
            path.parent.chmod(0o755)


@pytest.mark.parametrize("delimiter", [",,", "", '"', "\n", "a", "7", "\x01"])
def test_a_delimiter_is_one_character(tmp_path, delimiter):
    with pytest.raises(LogError, match="cannot separate fields"):
        find(write(tmp_path / "a.csv", "user;query;url\n"), delimiter=delimiter)


def test_only_csv_has_a_delimiter(tmp_path):
    source = find(write(tmp_path / "a.txt", "user|query|url\n"), delimiter="|")
    assert (source.format, source.delimiter, source.header) == (Format.CSV, "|", ("user", "query", "url"))
    assert find(write(tmp_path / "b.csv", "user\tquery\turl\n"), delimiter="tab").delimiter == "\t"
    for name, log_format in (("c.jsonl", None), ("c.csv", "tsv"), ("c.parquet", None)):
        with pytest.raises(LogError, match="only CSV files have a delimiter"):
            find(write(tmp_path / name, "user\tquery\turl\n"), log_format, delimiter=";")


def test_encodings_are_read_or_refused(tmp_path):
    (tmp_path / "a.tsv").write_bytes("user\trequête\turl\r\n".encode("utf-16"))
    source = find(tmp_path / "a.tsv", columns=Columns(query="requête"), encoding="UTF-16")
    assert (source.encoding, source.header) == ("utf-16", ("user", "requête", "url"))
    assert find(write(tmp_path / "b.csv", "user,query,url\n"), encoding="utf-8-sig").encoding == "utf-8"
    with pytest.raises(LogError, match="'latin-99' is not a known encoding"):
        find(tmp_path / "b.csv", encoding="latin-99")
    with pytest.raises(LogError, match="not a known encoding"):
        find(tmp_path / "b.csv", encoding="base64")
    for stateful in ("iso2022_jp", "hz", "utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape"):
        with pytest.raises(LogError, match=r"one row could change how the next one is read. Convert the files to UTF-8"):
            find(tmp_path / "b.csv", encoding=stateful)
    for name in ("b.csv", "b.jsonl"):
        write(tmp_path / name, "user,query,url\n")
        with pytest.raises(LogError, match=r"is not utf-16 text that starts with .* utf-16-le or utf-16-be"):
            DuckDBEngine().read(find(tmp_path / name, encoding="utf-16"))
    with pytest.raises(LogError, match="Parquet files have no encoding"):
        find(write(tmp_path / "c.parquet", ""), encoding="latin-1")
    with pytest.raises(LogError, match="files at URIs are read as UTF-8"):
        find("hdfs://host/a.csv", encoding="latin-1")


def test_uris_are_resolved_by_the_engine():
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
    with pytest.raises(LogError, match="cannot detect the format"):
        find("hdfs://host/logs")


def test_uris_and_paths_cannot_be_mixed(tmp_path):
    with pytest.raises(LogError, match="mixes URIs with paths"):
        find(["hdfs://host/a.csv", write(tmp_path / "a.csv", "user,query,url\n")])
