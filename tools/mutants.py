"""Run the tests of the privacy-critical modules on mutants of them, and list the mutants that no test notices.

`make mutants` runs all modules; `make mutants MODULES='arithmetic sampling'` only those whose path has one of the words.

This is a small tool of our own because the ones that exist do not fit: mutmut 3 works on a copy of one source folder, and
its modules must be importable under the folder's name, which `device/src` is not; cosmic-ray writes every mutant into the
working tree and starts Python, numpy and DuckDB anew for each. Here a mutant exists in memory only, in a forked process
that has the libraries loaded already.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(ROOT / "src"), str(ROOT / "device/src")]

from mutations import Mutation, mutations  # noqa: E402

# What is changed, and the tests that have to notice. The tests must not start other processes: those load the files.
TARGETS = {
    "device/src/blender_dp_device/arithmetic.py": ["tests/device/test_arithmetic.py"],
    "device/src/blender_dp_device/channel": ["tests/device/channel"],
    "src/blender_dp/sampling": ["tests/unit/sampling"],
    "src/blender_dp/privacy": ["tests/unit/privacy", "tests/unit/mechanisms"],
    "src/blender_dp/mechanisms": ["tests/unit/mechanisms"],
    "src/blender_dp/collector/rounds/spending.py": ["tests/collector/test_spending.py"],
    "src/blender_dp/collector/rounds/ledger.py": ["tests/collector/test_ledger.py"],
}
EQUIVALENT = ROOT / "tools/equivalent_mutants.toml"
PROCESSES = 2
PACKAGES = ("blender_dp", "blender_dp_device", "tests")


@dataclass
class Score:
    """How the mutants of one module fared."""

    killed: int = 0
    equivalent: int = 0
    survivors: list[Mutation] = field(default_factory=list)

    def __str__(self) -> str:
        """One row of the table."""
        real = self.killed + len(self.survivors)
        share = f"{self.killed / real:.1%}" if real else "-"
        return f"{real:7} {self.killed:7} {len(self.survivors):9} {self.equivalent:11} {share:>7}"


def main(words: list[str]) -> int:
    """Run the mutants of every module whose path has one of the words, and print the scores."""
    known = equivalent()
    load_libraries()
    scores: dict[Path, Score] = {}
    for target, tests in TARGETS.items():
        paths = [path for path in files_of(ROOT / target) if not words or any(word in str(path) for word in words)]
        if not paths:
            continue
        limit = seconds_unchanged(tests)
        for path in paths:
            scores[path] = Score()
            relative = path.relative_to(ROOT).as_posix()
            real = [mutation for mutation in mutations(path) if not any(is_entry(one, mutation) for one in known)]
            scores[path].equivalent = sum(1 for _ in mutations(path)) - len(real)
            for mutation, noticed in outcomes(real, tests, limit):
                if noticed:
                    scores[path].killed += 1
                else:
                    scores[path].survivors.append(mutation)
                    say(f"survived: {relative}:{mutation.line} {mutation.function}: {mutation.change}")
            say(f"{relative}: {scores[path].killed} killed, {len(scores[path].survivors)} survived")
    say(f"\n{'mutants':>7} {'killed':>7} {'survivors':>9} {'equivalent':>11} {'score':>7}  module")
    for path, score in scores.items():
        say(f"{score}  {path.relative_to(ROOT)}")
    return 0


def equivalent() -> list[dict[str, str]]:
    """The mutants that no test can notice, each with the reason."""
    entries: list[dict[str, str]] = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return entries


def is_entry(entry: dict[str, str], mutation: Mutation) -> bool:
    """Whether an entry means this mutant. It names a line only if the same change is made in several lines of a function."""
    line = mutation.path.read_text(encoding="utf-8").splitlines()[mutation.line - 1].strip()
    path = mutation.path.relative_to(ROOT).as_posix()
    return (entry["file"], entry["function"], entry["change"], entry.get("line", line)) == (
        path, mutation.function, mutation.change, line,
    )  # fmt: skip


def files_of(path: Path) -> list[Path]:
    """The Python files at a path, those that only re-export left out."""
    return [path] if path.is_file() else sorted(one for one in path.rglob("*.py") if one.name != "__init__.py")


def load_libraries() -> None:
    """Import everything once, and forget our own modules: a forked child imports only those again."""
    for name in ("blender_dp", "blender_dp.pipeline", "hypothesis", "scipy.stats", "tests.conftest"):
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]


def seconds_unchanged(tests: list[str]) -> int:
    """The time a mutant gets: several times that of the unchanged code, which has to pass."""
    start = time.monotonic()
    _, status = os.waitpid(start_child(None, tests, 600), 0)
    if status:
        sys.exit(f"The tests fail without any change: pytest {' '.join(tests)}")
    return 10 + 5 * round(time.monotonic() - start)


def outcomes(changes: Iterable[Mutation], tests: list[str], limit: int) -> Iterator[tuple[Mutation, bool]]:
    """Every mutation with whether the tests noticed it, by a failure, a crash or a timeout."""
    running: dict[int, Mutation] = {}
    for change in changes:
        running[start_child(change, tests, limit)] = change
        if len(running) == PROCESSES:
            yield finished(running)
    while running:
        yield finished(running)


def finished(running: dict[int, Mutation]) -> tuple[Mutation, bool]:
    """Wait for the next child to end."""
    pid, status = os.wait()
    return running.pop(pid), os.waitstatus_to_exitcode(status) != 0


def start_child(change: Mutation | None, tests: list[str], limit: int) -> int:
    """Fork a process that runs the tests, with one change or none."""
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    if change is not None:
        sys.meta_path.insert(0, _Finder(change))
    os.chdir(ROOT)
    os.environ["BLENDER_DP_HYPOTHESIS"] = "mutants"
    flags = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "-W", "ignore"]
    os._exit(int(pytest.main([*flags, *tests])))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a changed syntax tree."""

    def __init__(self, change: Mutation) -> None:
        self.change = change
        source = "device/src" if (ROOT / "device/src") in change.path.parents else "src"
        self.name = ".".join(change.path.relative_to(ROOT / source).with_suffix("").parts)

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.change.path, loader=self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.change.tree, self.change.path, "exec"), module.__dict__)  # noqa: S102


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
