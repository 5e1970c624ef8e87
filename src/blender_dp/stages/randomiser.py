"""How clients randomise: the channels to choose from for a list, and the loss that each of them guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from blender_dp.mechanisms.subset_response.best_size import best_size
from blender_dp.parameters import Parameters
from blender_dp.privacy.loss import Loss
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings

_PAPERS_SHARE = Fraction(85, 100)
_SHARES = tuple(Fraction(percent, 100) for percent in (98, 95, 92, 90, 88, 85))


@dataclass(frozen=True)
class Design:
    """What a device needs to know besides the list and its own budget. It is public, and any value is safe."""

    f_c: Fraction
    size: int = 1


class Randomiser(Protocol):
    """Creates channels."""

    def designs(self, parameters: Parameters, head_list: HeadList) -> Sequence[Design]:
        """The designs worth considering; only one if the parameters leave no choice."""
        ...

    def settings(self, parameters: Parameters, design: Design) -> ChannelSettings:
        """What a published list says about the channel of one design."""
        ...

    def loss(self, parameters: Parameters) -> Loss:
        """The privacy loss of a client over all of its reports."""
        ...


class TwoStage:
    """The papers' LocalAlg: the query and the URL each have their own part of ε and δ."""

    def designs(self, parameters: Parameters, head_list: HeadList) -> Sequence[Design]:
        """Every share; with the papers' estimator only theirs."""
        if parameters.estimator == "average" and parameters.f_c is None:
            return [Design(_PAPERS_SHARE)]
        return [Design(share) for share in _shares(parameters, head_list)]

    def settings(self, parameters: Parameters, design: Design) -> ChannelSettings:
        """LocalAlg, with δ."""
        p = parameters
        return ChannelSettings.of(randomiser="two-stage", epsilon=p.epsilon, delta=p.delta, f_c=design.f_c, m_c=p.m_c)

    def loss(self, parameters: Parameters) -> Loss:
        """ε and δ."""
        return Loss(parameters.epsilon, parameters.delta)


class Subset:
    """Subset selection with attached URLs, without slack in ε and without δ."""

    def designs(self, parameters: Parameters, head_list: HeadList) -> Sequence[Design]:
        """Every share, each with reports of one query and with reports of the best number of queries."""
        p, queries = parameters, len(head_list) + 1
        designs = []
        for share in _shares(p, head_list):
            for_query = float(p.epsilon / p.m_c) * (float(share) if head_list.levels == 2 else 1.0)
            largest = max(1, queries - 1)  # as in `slack_free`: a report cannot contain more
            sizes = {min(p.subset_size, largest)} if p.subset_size else {1, best_size(queries, for_query)}
            designs += [Design(share, size) for size in sorted(sizes)]
        return designs

    def settings(self, parameters: Parameters, design: Design) -> ChannelSettings:
        """Subset selection, without δ."""
        p = parameters
        return ChannelSettings.of(epsilon=p.epsilon, f_c=design.f_c, subset_size=design.size, m_c=p.m_c)

    def loss(self, parameters: Parameters) -> Loss:
        """ε, with a δ of 0."""
        return Loss(parameters.epsilon, Fraction(0))


def _shares(parameters: Parameters, head_list: HeadList) -> Sequence[Fraction]:
    """The shares of the budget that may go to the query. With single items there is no choice."""
    if parameters.f_c:
        return [parameters.f_c]
    return _SHARES if head_list.levels == 2 else [_PAPERS_SHARE]
