"""The releases of a series: files, folders, a folder of releases, or a live campaign."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from blender_dp.cli.files import checked, read_release
from blender_dp.cli.operate import client
from blender_dp.errors import BlenderError, DocumentError, ParameterError
from blender_dp.release import Release
from blender_dp.release.files import RELEASE
from blender_dp_device.digests import document_digest
from blender_dp_device.wire.documents import checked_key, verified_content

Named = list[tuple[str, Release]]
_MOST_ROUNDS = 52  # of a collector's trends
_SHOWN = 20  # names of campaigns in an error


@dataclass(frozen=True)
class Collected:
    """Releases with their names; those of a collector with the key that verified them."""

    releases: Named
    key: str | None = None
    """The collector's public key; None if the releases are files, which are not verified."""
    is_pinned: bool = False
    """False: the key was taken from the collector itself, so it only proves that all releases have the same origin."""

    @property
    def note(self) -> str | None:
        """How far the releases can be trusted, if they come from a collector."""
        if self.key is None:
            return None
        if self.is_pinned:
            return "All releases are signed by the key that you passed."
        return (
            "All releases are signed, but the key was taken from the collector itself. To be sure whose releases they are, "
            f"compare it with the key that the operator publishes elsewhere, and pass it: --key {self.key}"
        )


def is_url(source: str) -> bool:
    """Whether the source is a collector, and not a file."""
    return source.startswith(("http://", "https://"))


def is_one_release(sources: Sequence[str]) -> bool:
    """Whether there is only one release: a file, or the folder of a release."""
    only = Path(sources[0])
    return (
        len(sources) == 1 and not is_url(sources[0]) and (only.is_file() or not only.is_dir() or (only / RELEASE).exists())
    )


def read_series(sources: Sequence[str], campaign: str | None, key: str | None = None) -> Collected:
    """The releases with their names, in the order of the sources; within a folder, by name, with numbers in order.

    The releases of a collector are verified with `key`; without it, with the key that the collector itself publishes.
    """
    if not all(sources):
        raise ParameterError("releases", "one of them has an empty name", "Use . for the current folder")
    urls = [source for source in sources if is_url(source)]
    if urls and len(sources) > 1:
        raise ParameterError("releases", "a collector and other sources", "Pass either the URL of a collector or files")
    if urls:
        return _from_collector(urls[0], campaign, None if key is None else checked_key(key))
    if key is not None:
        raise ParameterError("key", "files are not signed", "Leave it out, or pass the URL of a collector")
    if campaign is not None:
        raise ParameterError("campaign", "files have no campaigns", "Leave it out, or pass the URL of a collector")
    paths = [path for source in sources for path in _releases(Path(source))]
    named = set(map(Path, sources))
    releases = [_loaded(path, is_named=path in named) for path in paths]
    return Collected(list(zip(_names(paths), releases, strict=True)))


def _releases(path: Path) -> list[Path]:
    if not path.is_dir() or (path / RELEASE).exists():
        return [path]
    paths = [one for one in path.iterdir() if (one / RELEASE).exists() or (one.is_file() and one.suffix == ".json")]
    if not paths:
        raise DocumentError(str(path), "contains no release", "Pass a folder of releases, or releases themselves")
    return sorted(paths, key=_natural)


def _loaded(path: Path, *, is_named: bool) -> Release:
    try:
        return read_release(path)
    except DocumentError as error:
        if is_named or path.is_dir():
            raise
        fix = f"{error.fix}, or move this file out of the folder of releases"
        raise DocumentError(error.subject, error.problem, fix) from None


def _natural(path: Path) -> list[tuple[int, str]]:
    """`round-2` before `round-10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.name)]


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of files or folders, with as many parent folders as it takes to make them different."""
    parts = [_parts(path) for path in paths]
    names = {one: one[-1] for one in parts}
    for depth in range(2, max(map(len, parts), default=0) + 1):
        often = Counter(names.values())
        names = {one: "/".join(one[-depth:]) if often[name] > 1 else name for one, name in names.items()}
    return [names[one] for one in parts]


def _parts(path: Path) -> tuple[str, ...]:
    if path.name == RELEASE:
        return path.resolve().parent.parts
    return path.absolute().with_suffix("").parts if path.is_file() else path.resolve().parts


def _from_collector(url: str, campaign: str | None, pinned: str | None) -> Collected:
    """All releases of a campaign, each verified with the collector's key and by the digest in its address."""
    with closing(client(url)) as collector, _well_formed():
        campaigns = collector.get("/v1/campaigns", **({} if campaign is None else {"campaign": campaign}))
        if len(campaigns) != 1:
            names = ", ".join(one["name"] for one in campaigns[:_SHOWN]) or "none"
            raise ParameterError("campaign", f"the collector has several or none: {names}", "Choose one with --campaign")
        chosen = quote(campaigns[0]["id"], safe="")
        key = pinned or collector.get("/v1/rounds/current", campaign=chosen)["key"]
        rounds = collector.get(f"/v1/campaigns/{chosen}/trends", n=1)["rounds"]
        if len(rounds) > _MOST_ROUNDS:
            raise DocumentError("collector", f"has more than {_MOST_ROUNDS} rounds in its trends", "Do not use it")
        releases = [_verified(collector.document(f"/v1/releases/{one['release']}"), one, key, chosen) for one in rounds]
        return Collected(releases, key, pinned is not None)


@contextmanager
def _well_formed() -> Iterator[None]:
    """Refuse responses that are JSON, but not of the collector's schema."""
    try:
        yield
    except BlenderError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DocumentError("collector", "responds with something unexpected", "Check its URL and its version") from None


def _verified(body: bytes, one: dict[str, Any], key: str, campaign: str) -> tuple[str, Release]:
    content, number = verified_content(body, "release", key, "release"), one["number"]
    if document_digest(body) != one["release"] or (content["campaign"], content["round"]) != (campaign, number):
        raise DocumentError("release", "is not the one that was requested", "Do not use it")
    source = f"release of round {number:d}"
    return f"round {number:d}", checked(Release.from_document(content["release"], source), source)
