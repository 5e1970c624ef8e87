"""Files that a device must not lose, and the lock between its processes, on every system."""

from __future__ import annotations

import errno
import importlib.util
import os
import selectors
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from blender_dp_device import files

HOLD = """
import sys, time
from pathlib import Path
from blender_dp_device.files import exclusive
print("ready", flush=True)
with exclusive(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.readline()
"""


def holder(path: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parent.parent)}
    command = [sys.executable, "-c", HOLD, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment)


def says(process: subprocess.Popen[bytes], line: bytes, seconds: float = 30) -> bool:
    """Whether a process prints this line next, within this many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        return bool(selector.select(seconds)) and process.stdout.readline() == line + b"\n"


def is_locked(path: Path) -> bool:
    """Whether another process has to wait for the lock."""
    with holder(path) as process:
        try:
            assert says(process, b"ready")
            return not says(process, b"locked", 0.5)
        finally:
            process.kill()


@pytest.mark.slow
def test_one_process_at_a_time_holds_the_lock(tmp_path):
    with files.exclusive(tmp_path / "lock"):
        assert is_locked(tmp_path / "lock")
    assert not is_locked(tmp_path / "lock")


def test_one_thread_at_a_time_holds_the_lock(tmp_path):
    """Every holder opens the file itself: a lock of the whole process would let a second thread in."""
    handle = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        import fcntl  # noqa: PLC0415 (this test is for the systems that have it)

        with files.exclusive(tmp_path / "lock"), pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)


@pytest.mark.parametrize("end", ["in good order", "killed"])
def test_the_lock_ends_with_its_process(tmp_path, end):
    with holder(tmp_path / "lock") as process:
        assert says(process, b"ready")
        assert says(process, b"locked")
        if end == "killed":
            process.kill()
        else:
            process.communicate(b"\n")
        process.wait(10)
    with files.exclusive(tmp_path / "lock"):
        pass


def test_the_lock_ends_with_an_error(tmp_path):
    with pytest.raises(KeyError), files.exclusive(tmp_path / "lock"):
        raise KeyError
    assert not is_locked(tmp_path / "lock")


class FakeMsvcrt(ModuleType):
    """Windows' locks as documented: of a range of bytes from the position in the file, and refused at once if held."""

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self, refusals: list[int]) -> None:
        super().__init__("msvcrt")
        self.refusals, self.calls, self.locked = refusals, [], set()

    def locking(self, handle: int, mode: int, count: int) -> None:
        self.calls.append(mode)
        place = (os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR), count)
        if mode == self.LK_UNLCK:
            self.locked.remove(place)
        elif self.refusals or place in self.locked:
            code = self.refusals.pop() if self.refusals else errno.EACCES
            raise OSError(code, os.strerror(code))
        else:
            self.locked.add(place)


@pytest.fixture
def windows(monkeypatch):
    """The module as Windows would load it."""

    def load(*refusals: int) -> SimpleNamespace:
        fake = FakeMsvcrt(list(refusals))
        monkeypatch.setitem(sys.modules, "msvcrt", fake)
        monkeypatch.setattr(sys, "platform", "win32")
        spec = importlib.util.spec_from_file_location("files_on_windows", files.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        monkeypatch.setattr(module, "_RETRY_SECONDS", 0.001)
        return SimpleNamespace(files=module, msvcrt=fake)

    return load


class TestWindows:
    def test_locking_waits_for_a_held_lock(self, windows, tmp_path):
        system = windows(errno.EACCES, errno.EDEADLK, errno.EACCES)
        with system.files.exclusive(tmp_path / "lock"):
            assert len(system.msvcrt.locked) == 1
        assert system.msvcrt.locked == set()
        assert system.msvcrt.calls == [FakeMsvcrt.LK_NBLCK] * 4 + [FakeMsvcrt.LK_UNLCK]

    def test_another_error_is_raised(self, windows, tmp_path):
        with pytest.raises(OSError, match="Bad file descriptor"), windows(errno.EBADF).files.exclusive(tmp_path / "lock"):
            pytest.fail("it is not locked")

    def test_a_lock_is_released_after_an_error(self, windows, tmp_path):
        system = windows()
        with pytest.raises(KeyError), system.files.exclusive(tmp_path / "lock"):
            raise KeyError
        assert system.msvcrt.locked == set()

    def test_a_folder_is_not_synced(self, windows, tmp_path, monkeypatch):
        system = windows()
        monkeypatch.setattr(os, "open", lambda *_: pytest.fail("Windows cannot open a folder"))
        system.files.sync_folder(tmp_path)

    def test_a_file_is_replaced_once_nobody_reads_it(self, windows, tmp_path, monkeypatch):
        system, replace, refusals = windows(), Path.replace, [PermissionError()] * 3

        def refused(source: Path, target: Path) -> Path:
            if refusals:
                raise refusals.pop()
            return replace(source, target)

        monkeypatch.setattr(Path, "replace", refused)
        system.files.write_over(tmp_path / "account.json", b"one\ntwo\n")
        assert (tmp_path / "account.json").read_bytes() == b"one\ntwo\n"

    def test_a_file_that_stays_open_is_not_replaced(self, windows, tmp_path, monkeypatch):
        def refused(*_):
            raise PermissionError

        monkeypatch.setattr(Path, "replace", refused)
        with pytest.raises(PermissionError):
            windows().files.write_over(tmp_path / "account.json", b"")


def test_a_file_is_replaced_whole(tmp_path):
    for content in (b"old", b"new" * 1000):
        files.write_over(tmp_path / "a.json", content)
        assert (tmp_path / "a.json").read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_file_left_by_a_crash_does_no_harm(tmp_path):
    (tmp_path / "a.partial").write_bytes(b"half")
    files.write_over(tmp_path / "a.json", b"whole")
    assert (tmp_path / "a.json").read_bytes() == b"whole"


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    files.write_over(tmp_path / "a.json", b"old")
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:1]))
    with pytest.raises(OSError, match="No space left"):
        files.write_over(tmp_path / "a.json", b"new")
    assert (tmp_path / "a.json").read_bytes() == b"old"
