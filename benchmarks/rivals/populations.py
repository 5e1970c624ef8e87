"""The users of one population, in the files that rivals read: everyone gets the same ones."""

from __future__ import annotations

import hashlib
import shutil
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.rivals.cache import HOME, digest, environment, source_of
from benchmarks.rivals.settings import Setting
from blender_dp.evaluation.code_digest import code_digest

_FILES = ("everyone.parquet", "counts.parquet", "values.npy", "codes.txt", "opt-in.txt")
_LETTERS = np.frombuffer(string.ascii_lowercase.encode(), "S1")
_LENGTH = 6
_CODES = len(_LETTERS) ** _LENGTH
_SCATTER = 50_000_017  # coprime to the number of codes, so that no two queries share one


@dataclass(frozen=True)
class Population:
    """A folder with one population's files."""

    setting: Setting
    seed: int

    @property
    def folder(self) -> Path:
        return HOME / "data" / f"{self.setting.name.lower()}-{self.seed}"

    def write(self) -> None:
        """Write the files, unless they were written by the same code for the same setting."""
        made_from, wanted = self.folder / "made-from.txt", self._made_from()
        if made_from.exists() and made_from.read_text(encoding="utf-8") == wanted:
            return
        unfinished = self.folder.with_suffix(".unfinished")
        for folder in (unfinished, self.folder):
            shutil.rmtree(folder, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _write(self.setting.make(self.seed, users=self.setting.users), self.setting, unfinished)
        (unfinished / "made-from.txt").write_text(wanted, encoding="utf-8")
        unfinished.rename(self.folder)

    def _made_from(self) -> str:
        s = self.setting
        values = f"{s.make.__name__} {s.users} {s.opt_in} {s.max_queries}"
        return digest(code_digest(), source_of(Path("benchmarks/rivals/populations.py")), environment(), values)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the users: results for other users must not be used."""
        found = hashlib.sha256()
        for name in _FILES:
            found.update((self.folder / name).read_bytes())
        return found.hexdigest()

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The true number of users of every query, most popular first."""
        table = pq.read_table(self.folder / "counts.parquet")
        return dict(zip(table["query"].to_pylist(), table["count"].to_pylist(), strict=True))

    def named(self, shares: Mapping[str, float]) -> dict[str, float]:
        """Replace indices of the given list, and codes, by the queries they stand for."""
        names = list(self.counts)
        if all(key.isdigit() for key in shares):
            return {names[int(key)]: share for key, share in shares.items()}
        return {_query(key, names): share for key, share in shares.items()}


def _write(table: pa.Table, setting: Setting, folder: Path) -> None:
    pq.write_table(table, folder / "everyone.parquet")
    counted = table.group_by("query").aggregate([([], "count_all")]).rename_columns({"count_all": "count"})
    counted = counted.sort_by([("count", "descending"), ("query", "ascending")])
    pq.write_table(counted, folder / "counts.parquet")
    rank = np.asarray(pa.compute.index_in(table["query"], value_set=counted["query"].combine_chunks()))
    np.save(folder / "values.npy", np.minimum(rank, setting.max_queries).astype(np.int32))
    (folder / "codes.txt").write_bytes(b"\n".join(codes(rank)))
    opt_in = table["query"][: setting.opt_in_users].to_pylist()
    (folder / "opt-in.txt").write_text("\n".join(opt_in) + "\n", encoding="utf-8")


def codes(numbers: np.ndarray) -> list[bytes]:
    """A code of six letters for every number."""
    scattered = np.asarray(numbers, np.int64) * _SCATTER % _CODES
    digits = [scattered // len(_LETTERS) ** power % len(_LETTERS) for power in reversed(range(_LENGTH))]
    return np.stack([_LETTERS[digit] for digit in digits], axis=1).view(f"S{_LENGTH}").ravel().tolist()


def number_of(code: str) -> int:
    """The number that a code stands for."""
    scattered = 0
    for letter in code:
        scattered = scattered * len(_LETTERS) + string.ascii_lowercase.index(letter)
    return scattered * pow(_SCATTER, -1, _CODES) % _CODES


def _query(key: str, names: list[str]) -> str:
    return names[number] if (number := number_of(key)) < len(names) else f"nobody's query {key}"
