"""A campaign's budget as tables: what is spent, what remains and what the next round will spend."""

from __future__ import annotations

from typing import Any

from blender_dp.cli.output import err, print_table

_LIMITS = {"max_epsilon": "ε", "max_delta": "δ", "period_epsilon": "ε in {days} days"}


def print_remaining(campaigns: list[dict[str, Any]]) -> None:
    """Print what remains, per campaign, group and limit."""
    columns = {"campaign": False, "group": False, "budget": False, "spent": True, "limit": True, "remaining": True}
    rows = [
        [one["name"], line["group"], _name(line), line["spent"], *_limit(line, line["remaining"])]
        for one in campaigns
        for line in one["budget"]
    ]
    print_table("Budget", columns, rows)


def print_next_round(campaign: dict[str, Any], number: int) -> None:
    """Print on standard error what a campaign's next round will spend, and what remains after it."""
    columns = {"group": False, "budget": False, "this round": True, "so far": True, "with it": True, "limit": True}
    rows = [
        [line["group"], _name(line), line["next_round"], line["spent"], line["after"], _limit(line, None)[0]]
        for line in campaign["budget"]
    ]
    print_table(f"Making the list of round {number} of {campaign['name']} permanently spends", columns, rows, console=err)


def _name(line: dict[str, Any]) -> str:
    return _LIMITS[line["limit"]].format(days=line["days"])


def _limit(line: dict[str, Any], remaining: str | None) -> tuple[str, str]:
    return ("unlimited", "unlimited") if line["most"] is None else (line["most"], remaining or "")
