"""The list that devices report on: a head list together with the channel of the reports, under one digest.

The channel belongs to the list. An estimate inverts the channel, so it needs exactly the one that the devices used. Two
lists with the same queries and different channels are different lists, and their reports must never be mixed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from blender_dp_device.arithmetic import Number, read_exact
from blender_dp_device.digests import ListDigest, list_digest
from blender_dp_device.errors import DocumentError, ParameterError
from blender_dp_device.records.checks import at_least_one, checked_delta, checked_epsilon, open_unit
from blender_dp_device.records.head_list import CHANNEL_SCHEMA, HeadList, read_json

RANDOMISERS = ("subset", "two-stage")
"""The ways to randomise a report."""

LARGEST = 1_000_000
"""The upper limit for the subset size and for m_c."""

_FIX = "Use a head-list.json that blender-dp wrote"


@dataclass(frozen=True, kw_only=True)
class ChannelSettings:
    """Everything besides the names that determines a list's channel, exactly. Create it with `ChannelSettings.of`."""

    randomiser: str
    epsilon: Fraction
    """The privacy loss of all m_c reports of a client together."""
    delta: Fraction | None
    """Only the randomiser "two-stage" uses it; otherwise None."""
    f_c: Fraction
    subset_size: int
    m_c: int

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number,
        f_c: Number,
        subset_size: int | None = None,
        m_c: int = 1,
        randomiser: str = "subset",
        delta: Number | None = None,
    ) -> ChannelSettings:
        """Check the values and keep them exactly. The randomiser "subset" needs a subset size, "two-stage" needs δ."""
        if randomiser not in RANDOMISERS:
            raise ParameterError("randomiser", f"{randomiser!r} is unknown", f"Use one of: {', '.join(RANDOMISERS)}")
        needs_delta = randomiser == "two-stage"
        if needs_delta and delta is None:
            raise ParameterError("delta", "the randomiser 'two-stage' needs it", "Set the δ of every client")
        if not needs_delta and subset_size is None:
            raise ParameterError("subset_size", "the randomiser 'subset' needs it", "Set how many queries a report names")
        if needs_delta and subset_size not in {None, 1}:
            raise ParameterError("subset_size", "only the randomiser 'subset' has one", "Leave it out")
        return cls(
            randomiser=randomiser,
            epsilon=checked_epsilon(epsilon),
            delta=checked_delta(delta) if needs_delta and delta is not None else None,
            f_c=open_unit(f_c, "f_c", "The papers use 0.85"),
            subset_size=_bounded(1 if subset_size is None else subset_size, "subset_size"),
            m_c=_bounded(m_c, "m_c"),
        )

    def __str__(self) -> str:
        parts = [self.randomiser, f"ε {self.epsilon}", f"f_C {self.f_c}"]
        parts.append(f"{self.subset_size} per report" if self.delta is None else f"δ {self.delta}")
        return ", ".join(parts + [f"m_C {self.m_c}"] * (self.m_c > 1))

    def to_document(self) -> dict[str, Any]:
        """The settings as JSON values; numbers that may be fractions are exact strings."""
        own = {"subset_size": self.subset_size} if self.delta is None else {"delta": str(self.delta)}
        return {"randomiser": self.randomiser, "epsilon": str(self.epsilon), "f_c": str(self.f_c), "m_c": self.m_c, **own}

    @classmethod
    def from_document(cls, document: object, source: str = "channel") -> ChannelSettings:
        """Read the settings; anything that `to_document` would not write is refused, so that a list has one digest."""
        place = f"{source}, channel"
        if not isinstance(document, dict) or not {"randomiser", "epsilon", "f_c", "m_c"} <= document.keys():
            raise DocumentError(place, "needs randomiser, epsilon, f_c and m_c", _FIX)
        try:
            settings = cls.of(**{str(name): _value(str(name), value) for name, value in document.items()})
        except ParameterError as error:
            raise DocumentError(place, f"{error.subject}: {error.problem}"[:200], _FIX) from None
        except (TypeError, ValueError):
            raise DocumentError(place, "a field is unknown, or its value is not an exact number", _FIX) from None
        if settings.to_document() != document:
            raise DocumentError(place, "a number is not in lowest terms, or a field does not belong there", _FIX)
        return settings


@dataclass(frozen=True)
class ReportingList:
    """A head list and its channel: published to devices, named by their reports, and needed for an estimate."""

    head_list: HeadList
    channel: ChannelSettings

    @property
    def report_size(self) -> int:
        """The number of cells in a report: the subset size, but not more than the list has queries."""
        return min(self.channel.subset_size, max(1, len(self.head_list)))

    @cached_property
    def digest(self) -> ListDigest:
        """The digest of list and channel, which a `Report` names. A signed document with the list in it has another one."""
        return list_digest(self.to_document())

    def to_document(self) -> dict[str, Any]:
        """List and channel as JSON values."""
        names = self.head_list.to_document()
        return {
            "schema": CHANNEL_SCHEMA,
            "canonical_version": names["canonical_version"],
            "channel": self.channel.to_document(),
            "queries": names["queries"],
        }

    @classmethod
    def from_document(cls, document: object, source: str = "head list") -> ReportingList:
        """Read list and channel; a list that names no channel (schema 1) is refused: no channel is assumed."""
        head_list = HeadList.from_document(document, source)
        if not names_channel(document):
            problem = "does not name its channel (it has schema 1)"
            raise DocumentError(source, problem, "Use ReportingList(HeadList.load(file), ChannelSettings.of(...))")
        channel = document.get("channel") if isinstance(document, dict) else None
        listed = cls(head_list, ChannelSettings.from_document(channel, source))
        if listed.to_document() != document:
            raise DocumentError(source, "has fields that are not part of a head list", _FIX)
        return listed

    def save(self, path: Path | str) -> None:
        """Write list and channel as JSON."""
        text = json.dumps(self.to_document(), ensure_ascii=False, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> ReportingList:
        """Read a file that `save` wrote."""
        return cls.from_document(read_json(path), str(path))


def names_channel(document: object) -> bool:
    """Whether this document is a list that names its channel, as all lists do since schema 2."""
    return isinstance(document, dict) and document.get("schema") == CHANNEL_SCHEMA


def _value(name: str, value: object) -> Any:  # noqa: ANN401 (the name of a randomiser, an exact number, or an int)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError
    return value if isinstance(value, int) or value in RANDOMISERS else read_exact(value, name)


def _bounded(value: int, field: str) -> int:
    number = at_least_one(value, field)
    if number > LARGEST:
        raise ParameterError(field, f"is above {LARGEST:,}", "Use a smaller value")
    return number
