"""Budgets as the API shows them: decimal numbers, rounded against the campaign."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from blender_dp.collector.http.messages import BudgetLine, CampaignBudget
from blender_dp.collector.rounds import campaign_budgets
from blender_dp.collector.rounds.budget import Budget, rounded


def budgets_shown(budgets: Iterable[campaign_budgets.CampaignBudget]) -> list[CampaignBudget]:
    """The budgets of some campaigns."""
    return [
        CampaignBudget(
            id=one.id,
            name=one.settings.name,
            epsilon=one.settings.epsilon,
            delta=one.settings.delta,
            budget=[budget_line(budget, one.settings.period_days) for budget in one.budgets],
        )
        for one in budgets
    ]


def budget_line(one: Budget, days: int | None) -> BudgetLine:
    """One limit of a campaign for one group; `days` is the campaign's period."""
    return BudgetLine(
        group=one.group,
        limit=one.limit,
        days=days if one.limit == "period_epsilon" else None,
        next_round=rounded(one.next.delta if one.limit == "max_delta" else one.next.epsilon, up=True),
        spent=rounded(one.spent, up=True),
        after=rounded(one.after, up=True),
        most=None if one.most is None else rounded(one.most, up=False),
        remaining=None if one.most is None else rounded(max(one.most - one.spent, Fraction(0)), up=False),
    )
