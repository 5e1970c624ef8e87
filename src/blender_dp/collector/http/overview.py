"""What an operator watches: rounds, reports, budgets and health, in one response."""

from __future__ import annotations

from collections.abc import Sequence

from blender_dp.collector.http.budget_view import budget_line
from blender_dp.collector.http.messages import RoundAnswer
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.service import Service
from blender_dp.collector.http.view_messages import BudgetLeft, CampaignOverview, Overview, StepShown
from blender_dp.collector.round_states import MEANINGS, in_words, steps_from
from blender_dp.collector.rounds.budget import Budget
from blender_dp.collector.rounds.campaign_budgets import CampaignBudget

MOST_ROUNDS = 1000
"""How far rounds are counted."""


def overview(service: Service) -> Overview:
    """The state of everything."""
    service.see_rounds()
    campaigns = [_campaign(service, one) for one in service.rounds.budgets.of()]
    totals = service.metrics.totals()
    for counts in (service.record_count, service.report_count):
        counts.forget_others({one.round.id for one in campaigns if one.round})
    return Overview(
        now=int(service.rounds.clock.now()),
        health=_health(service),
        free_bytes=service.free_bytes(),
        reports_stored=totals.stored,
        reports_refused=totals.refused,
        campaigns=campaigns[::-1],  # newest first
    )


def _health(service: Service) -> dict[str, str]:
    try:
        service.check_room()
        disk = "ok"
    except ProblemError as error:
        disk = error.detail
    return {"storage": "ok", "disk": disk, "rounds": service.watch.problem() or "ok"}


def _campaign(service: Service, one: CampaignBudget) -> CampaignOverview:
    newest = service.rounds.lookup.current(one.id)
    state = newest.state if newest else None
    left = [budget.rounds_left(MOST_ROUNDS) for budget in one.budgets]
    return CampaignOverview(
        id=one.id,
        name=one.settings.name,
        round=RoundAnswer.of(newest) if newest else None,
        meaning=MEANINGS[state] if state else None,
        opt_in_users=service.record_count.of(newest.id) if newest and state == "open" else None,
        reports=service.report_count.of(newest.id) if newest and state in {"listed", "closed"} else None,
        steps=[StepShown(step=step.event, says=in_words(step, _cost(one.budgets))) for step in steps_from(state)],
        budget=[
            BudgetLeft(**budget_line(budget, one.settings.period_days).model_dump(), rounds_left=rounds)
            for budget, rounds in zip(one.budgets, left, strict=True)
        ],
        rounds_left=min((rounds for rounds in left if rounds is not None), default=None),
    )


def _cost(budgets: Sequence[Budget]) -> str:
    """The largest ε that one person of either group spends in a round."""
    from blender_dp.privacy.rounding import readable  # noqa: PLC0415 (short, but not needed to start)

    return f"ε = {readable(max(budget.next.epsilon for budget in budgets))}"
