"""Names for people: a query may have thousands of characters, and then only its beginning is shown."""

from __future__ import annotations

LONGEST = 60


def brief(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning and an ellipsis. For people only: files and JSON always have the whole text."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
