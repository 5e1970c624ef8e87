from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from blender_dp import durable
from blender_dp.durable import write_once, write_over


@pytest.fixture(autouse=True)
def everybody_may_read_new_files() -> None:
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_file_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_once(path, b"first")
    write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert [one.name for one in path.parent.iterdir()] == ["file"]
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.with_suffix(".partial").write_bytes(b"what a crash has left")  # and anybody may read
    for content in (b"a long first one", b"second"):
        write_over(path, content)
        assert path.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["file.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_over(path, b"old")
    monkeypatch.setattr(durable.os, "write", lambda _, content: len(content) - 1)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_over(path, b"new")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_once(tmp_path / "other", b"new")
    assert path.read_bytes() == b"old"
    assert not (tmp_path / "other").exists()
