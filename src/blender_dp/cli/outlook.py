"""What a run says about its result in advance: before it reads the log, and before it spends anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from blender_dp.cli.output import note, warn
from blender_dp.errors import ParameterError
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.foresight import Foresight, foresee
from blender_dp.privacy.limits import weaknesses
from blender_dp.release.manifest import Sizes
from blender_dp_device.records.checks import open_unit


@dataclass
class Outlook:
    """Collects what was said in advance."""

    collection: Collection
    levels: int = 2
    """1 if it is known that the records of the log are single items."""
    foresight: Foresight | None = None
    warnings: list[str] = field(default_factory=list)

    def before(self, opt_in: str | Sequence[str], users: int | None, *, quiet: bool) -> None:
        """Say what is known before the log is read: from the named opt-in users, or from the expected number of users.

        An ε that is too large is refused here, and a δ that is too large for the expected users. Some of the named users may
        be missing from the log, so their number alone only causes a warning.
        """
        p, expected = self.collection.parameters, _opting_in(opt_in, users)
        for weakness in weaknesses(p.epsilon, p.delta, expected):
            if not weakness.is_refused or p.allow_weak_privacy:
                continue
            if weakness.field == "epsilon" or isinstance(opt_in, str):
                raise ParameterError(weakness.field, weakness.problem, weakness.fix)
            self._warn(f"the run will stop if all of the named users are in the log. {weakness}")
        self._foresee(None if expected is None else round(expected * float(p.f_o)))
        if self.foresight and not quiet:
            note(self.foresight.note)

    def add_sizes(self, sizes: Sizes) -> None:
        """Say what the groups, once they are counted, mean for the list."""
        self._foresee(sizes.discovery)

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        foresight = self.foresight
        foreseen = [foresight.warning] if foresight and foresight.warning else []  # that of the counted users, if they are
        return {"needed_count": foresight.needed_count if foresight else None, "warnings": [*self.warnings, *foreseen]}

    def _foresee(self, discovery_users: int | None) -> None:
        warned = self.foresight is not None and self.foresight.warning is not None
        self.foresight = foresee(self.collection, discovery_users, self.levels)
        if self.foresight.warning and not warned:
            warn(self.foresight.warning)

    def _warn(self, message: str) -> None:
        self.warnings.append(message)
        warn(message)


def _opting_in(opt_in: str | Sequence[str], users: int | None) -> int | None:
    """The number of opt-in users, if it is known: that of their names, or a share of the expected users."""
    if not isinstance(opt_in, str):
        return len({*opt_in})
    share = open_unit(opt_in, "opt_in", "Pass the share of the users who opt in, such as 0.05, or a file of their ids")
    return None if users is None else round(users * float(share))
