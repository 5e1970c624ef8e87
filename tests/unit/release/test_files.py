from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from blender_dp import DocumentError, Release, ReportingList
from blender_dp.errors import MissingExtraError
from blender_dp.release.files import write_atomically

FOLDER = ["estimates.parquet", "head-list.json", "release.json"]


@pytest.fixture
def release() -> Release:
    """A release with URLs."""
    return Release.load(Path(__file__).with_name("data") / "release-1.json")


def test_a_folder_round_trip_is_exact(release, item_release, tmp_path):
    for name, one in (("records", release), ("new/items.v2", item_release)):
        one.save(tmp_path / name)
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == FOLDER
        assert Release.load(tmp_path / name) == Release.load(str(tmp_path / name / "release.json")) == one
        assert ReportingList.load(tmp_path / name / "head-list.json") == one.reporting_list
        assert pq.read_table(tmp_path / name / "estimates.parquet").equals(one.to_arrow(), check_metadata=True)


def test_a_path_that_ends_in_json_is_one_file(release, tmp_path):
    release.save(str(tmp_path / "mine.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    assert Release.load(tmp_path / "mine.json") == release


def test_an_existing_folder_is_used_whatever_its_name(release, tmp_path):
    (tmp_path / "odd.json").mkdir()
    release.save(tmp_path / "odd.json")
    assert Release.load(tmp_path / "odd.json") == release


def test_the_error_for_a_folder_without_a_release_names_the_file(tmp_path):
    with pytest.raises(DocumentError, match=r"release\.json: cannot be read"):
        Release.load(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old", encoding="utf-8")

    def fail(partial: Path) -> None:
        partial.write_text("ne", encoding="utf-8")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert [one.read_text(encoding="utf-8") for one in tmp_path.iterdir()] == ["old"]


def test_csv_has_every_row_and_distinguishes_missing_values_from_text(release, tmp_path):
    release.to_csv(tmp_path / "estimates.csv")
    options = pa_csv.ConvertOptions(
        column_types=release.to_arrow().schema, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    read = pa_csv.read_csv(tmp_path / "estimates.csv", convert_options=options)
    assert read.to_pylist() == release.to_arrow().to_pylist()


def test_data_frames_have_the_rows_of_the_arrow_table(release):
    for frame in (release.to_pandas(), release.to_polars()):
        assert list(frame.columns) == release.to_arrow().column_names
        assert len(frame) == release.to_arrow().num_rows
        assert list(frame["share"]) == release.to_arrow()["share"].to_pylist()
    assert release.to_polars()["query"].to_list() == release.to_arrow()["query"].to_pylist()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_the_library_one_line_says_what_to_install(release, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'blender-dp\[{name}\]'"):
        getattr(release, f"to_{name}")()


def test_the_error_for_a_missing_folder_names_the_file_that_was_meant(release, tmp_path):
    for write in (release.to_csv, release.save):
        with pytest.raises(DocumentError, match=r"/none/x\.json: cannot be written, because its folder does not exist"):
            write(tmp_path / "none" / "x.json")


def test_the_error_for_a_file_that_cannot_be_written_names_it(tmp_path):
    def fail(partial: Path) -> None:
        raise PermissionError(13, "Permission denied", str(partial))

    with pytest.raises(PermissionError, match=r"/x\.csv'$"):
        write_atomically(tmp_path / "x.csv", fail)
