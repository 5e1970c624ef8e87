"""Every error that a user can encounter.

    BlenderError               subject, problem, fix
    ├── ParameterError         a value is outside its range; the subject is the field
    │   └── OutsideTheoremError    ... or outside the range of a proof, which `theorem` names
    ├── GroupError             a group of users cannot be used; the subject is the group
    ├── LogError               a log, table or record is unusable; the subject is its source
    ├── DocumentError          a saved file is invalid; the subject is the file
    ├── StateError             the collector cannot do this now; `kind` says why
    ├── ChartError             charts cannot be drawn
    └── MissingExtraError      an optional dependency is not installed; the subject is the extra

Each message names its subject, the problem and the fix. None of them depends on the content of a user's record: they
mention only parameters, names of columns and files, and group sizes, all of which are public.
"""

from __future__ import annotations

from blender_dp_device.errors import BlenderError, DocumentError, ParameterError, StateError

__all__ = [
    "BlenderError",
    "ChartError",
    "DocumentError",
    "GroupError",
    "LogError",
    "MissingExtraError",
    "OutsideTheoremError",
    "ParameterError",
    "PrivacyWarning",
    "StateError",
]


class OutsideTheoremError(ParameterError):
    """A parameter is a valid number, but the proof of privacy does not cover it."""

    def __init__(self, subject: str, problem: str, fix: str, *, theorem: str) -> None:
        super().__init__(subject, f"{problem} ({theorem})", fix)
        self.theorem = theorem


class GroupError(BlenderError):
    """A group of users is too small, or has users in common with the other group."""


class LogError(BlenderError):
    """A log cannot be read, or a table or record does not have the required shape."""


class ChartError(BlenderError):
    """Charts cannot be drawn; everything else can be used."""


class MissingExtraError(BlenderError, ModuleNotFoundError):
    """The optional dependencies of this part of the package are not installed."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"the extra '{extra}'",
            f"is not installed ({module} is missing)",
            f"Install it: pip install 'blender-dp[{extra}]'",
        )
        self.extra = extra
        self.name = module


class PrivacyWarning(UserWarning):
    """ε or δ offers little privacy. This is not an error: the papers' own settings cause it too."""
