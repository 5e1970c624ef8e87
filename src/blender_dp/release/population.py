"""What several releases have in common, and what their users are a sample of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blender_dp.errors import ParameterError
from blender_dp.release.estimates import QueryEstimate
from blender_dp.release.manifest import Manifest

if TYPE_CHECKING:
    from blender_dp.release.release import Release


def check_comparable(releases: Sequence[Release]) -> None:
    """Refuse releases whose shares measure different things."""
    if len({one.head_list.levels for one in releases if len(one.head_list)}) > 1:
        raise ParameterError(
            "releases", "some list single items and some list queries with URLs", "Use releases of one kind"
        )
    if len({one.manifest.canonical_version for one in releases}) > 1:
        problem = "their queries have different canonical forms, so that equal queries may have different names"
        raise ParameterError("releases", problem, "Use releases with the same canonical_version")
    if len({one.manifest.settings.m_c for one in releases}) > 1:
        raise ParameterError("releases", "their users report different numbers of records", "Use releases with the same m_c")


def check_different(releases: Sequence[Release], names: Sequence[str]) -> None:
    """Refuse the same release twice: it would count as two independent ones. Empty lists may well be equal."""
    seen: dict[object, str] = {}
    for name, one in zip(names, releases, strict=True):
        contents = one.manifest.head_list, one.queries
        if len(one.head_list) and contents in seen:
            which = f"{seen[contents]} and {name} are the same" if seen[contents] != name else f"{name} is there twice"
            raise ParameterError("releases", which, "Pass every release once")
        seen[contents] = name


def are_comparable(releases: Sequence[Release]) -> bool:
    """Whether the shares of all releases measure the same thing."""
    try:
        check_comparable(releases)
    except ParameterError:
        return False
    return True


def sampling_variance(row: QueryEstimate, manifest: Manifest) -> float:
    """What to add to a variance if the share in question is the population's, and not that of the round's own users.

    The likelihood estimator states the error for its own users, without the sampling variance (`stages/likelihood/bound`).
    """
    users = sum(group.users for group in manifest.groups)
    share = min(max(row.share, 0.0), 1.0)
    return share * (1 - share) / users
