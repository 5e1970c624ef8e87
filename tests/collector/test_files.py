from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from blender_dp.collector.secrets import files as durable
from blender_dp.collector.secrets.files import write_once
from blender_dp_device.files import write_over


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
    path.with_suffix(".partial").write_bytes(b"what a crash has left")  # and anyone may read it
    for content in (b"a long first one", b"second"):
        write_over(path, content)
        assert path.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["file.json"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is synced and renamed, in order, by name."""
    done: list[tuple[str, str]] = []
    sync, rename = os.fsync, Path.replace

    def synced(handle: int) -> None:
        done.append(("sync", Path(f"/proc/self/fd/{handle}").readlink().name))
        sync(handle)

    def renamed(path: Path, target: Path) -> Path:
        done.append(("rename", path.name))
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return done


def test_a_file_is_on_disk_before_it_has_its_name_and_so_is_the_name(tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    write_over(tmp_path / "file.json", b"content")
    assert steps == [("sync", "file.partial"), ("rename", "file.partial"), ("sync", tmp_path.name)]


@pytest.mark.parametrize("fails", ["write", "fsync"])
def test_a_failure_in_the_middle_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    path = tmp_path / "file.json"
    write_over(path, b"old")

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(durable.os, fails, broken)
        with pytest.raises(OSError, match="broken"):
            write_over(path, b"new")
        assert path.read_bytes() == b"old"
    write_over(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    write_over(path, b"old")
    monkeypatch.setattr(durable.os, "write", lambda _, content: len(content) - 1)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_over(path, b"new")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_once(tmp_path / "other", b"new")
    assert path.read_bytes() == b"old"
    assert not (tmp_path / "other").exists()
