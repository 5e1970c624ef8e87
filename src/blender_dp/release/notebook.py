"""A release in a notebook: one line of text, or a small HTML table without script, in the notebook's own colours."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from blender_dp.brief import brief
from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import seeded_warning

if TYPE_CHECKING:
    from blender_dp.release.estimates import QueryEstimate
    from blender_dp.release.release import Release

_TOP = 10
# Only inherited colours, and shades of them: readable on a light and on a dark background.
_TABLE = (
    "border-collapse: collapse; font-size: inherit; font-variant-numeric: tabular-nums; color: inherit; background: none"
)
_CELL = "padding: 2px 12px 2px 0; border: 0; vertical-align: baseline; background: none; text-align: "
_BAR = "display: inline-block; height: .6em; background: currentColor; opacity: .35"
_BAR_EM = 8


def line(release: Release) -> str:
    """The release in one line."""
    return f"Release({_listed(release)}, {_promise(release)}, {_groups(release)}{_seeded(release)})"


def html(release: Release) -> str:
    """The top of the list as HTML; queries come from people, so everything is escaped."""
    top = release.trends(_TOP)
    widest = max((row.share for row in top), default=0.0)
    rows = "".join(_row(rank, row, widest) for rank, row in enumerate(top, 1))
    heads = zip(("", "query", "share", "95 % interval", ""), ("right", "left", "right", "left", "left"), strict=True)
    head = "".join(f'<th style="{_CELL}{side}">{escape(name)}</th>' for name, side in heads)
    warning = f"<p><strong>Not private.</strong> {escape(seeded_warning())}</p>" if release.manifest.is_seeded else ""
    summary = f"<strong>{escape(_listed(release))}</strong> · {escape(_promise(release))} · {escape(_groups(release))}"
    return (
        f'<div style="overflow-x: auto"><p>{summary}</p>'
        f'{warning}<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(rank: int, row: QueryEstimate, widest: float) -> str:
    width = _BAR_EM * max(row.share, 0.0) / widest if widest > 0 else 0.0
    query = row.query or ""
    title = "" if query == brief(query) else f' title="{escape(query)}"'
    named = f'<td style="{_CELL}left"{title}>{escape(brief(query))}</td>'
    text = f'<td style="{_CELL}right">{rank}</td>{named}<td style="{_CELL}right">{row.share:z.4f}</td>'
    interval = f'<td style="{_CELL}left; white-space: nowrap">{row.low:z.4f} to {row.high:z.4f}</td>'
    return f'<tr>{text}{interval}<td style="{_CELL}left"><span style="{_BAR}; width: {width:.2f}em"></span></td></tr>'


def _listed(release: Release) -> str:
    urls = sum(1 for _, url in release.head_list.records() if url is not None)
    return f"{len(release.head_list)} queries" + (f" with {urls} URLs" if urls else "")


def _promise(release: Release) -> str:
    settings = release.manifest.settings
    return f"ε = {readable(settings.epsilon)}, δ = {readable(settings.delta)}"


def _groups(release: Release) -> str:
    return ", ".join(f"{group.users:,} {group.group}" for group in release.manifest.groups)


def _seeded(release: Release) -> str:
    return ", seeded: not private" if release.manifest.is_seeded else ""
