"""The manifest: everything a reader needs to judge a release."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from blender_dp.privacy.loss import Promise
from blender_dp.records.canonical import CANONICAL_VERSION
from blender_dp.records.parameters import Parameters


@dataclass(frozen=True)
class Settings:
    """The parameters as plain numbers, by the papers' names."""

    profile: str
    epsilon: float
    delta: float
    f_o: float
    f_c: float
    m_o: int
    m_c: int
    max_queries: int
    project: bool


@dataclass(frozen=True)
class GroupPromise:
    """What one group was promised."""

    group: str
    users: int
    model: str
    epsilon: float
    delta: float
    unit: str
    neighbours: str


@dataclass(frozen=True)
class Manifest:
    """How a release was made. `randomness` is `system`, or `insecure: seeded` for tests and simulations."""

    settings: Settings
    groups: tuple[GroupPromise, ...]
    discovery_users: int
    calibration_users: int
    reports: int
    threshold: float
    head_list: str
    canonical_version: int
    randomness: Literal["system", "insecure: seeded"]
    versions: dict[str, str]

    @property
    def is_seeded(self) -> bool:
        """Whether the noise can be repeated, and so undone, by whoever knows the seed."""
        return self.randomness != "system"


def settings_of(parameters: Parameters) -> Settings:
    """The parameters as they are written down."""
    return Settings(
        profile=parameters.profile,
        epsilon=float(parameters.epsilon),
        delta=float(parameters.delta),
        f_o=float(parameters.f_o),
        f_c=float(parameters.f_c),
        m_o=parameters.m_o,
        m_c=parameters.m_c,
        max_queries=parameters.max_queries,
        project=parameters.project,
    )


def group_promise(promise: Promise, users: int) -> GroupPromise:
    """A promise and to how many it was made."""
    return GroupPromise(
        group=promise.group,
        users=users,
        model=promise.model.value,
        epsilon=float(promise.loss.epsilon),
        delta=float(promise.loss.delta),
        unit=promise.unit,
        neighbours=promise.neighbours,
    )


def versions() -> dict[str, str]:
    """What made the release."""
    return {"blender-dp": version("blender-dp"), "python": platform.python_version(), "numpy": np.__version__}


__all__ = ["CANONICAL_VERSION", "GroupPromise", "Manifest", "Settings", "group_promise", "settings_of", "versions"]
