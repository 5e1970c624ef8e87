"""What the command prints never controls the terminal."""

from __future__ import annotations

import json

import pytest

from blender_dp.cli.output import fail, note, print_json, print_table, say, warn

HOSTILE = "a\x1b[2J\x9b1m\r\b\u202eb\u2066 [red]\tc\u200cd é 😀"
SHOWN = "a�[2J�1m���b� [red]"


@pytest.mark.parametrize("show", [say, note, warn, fail, lambda text: print_table(text, {"query": False}, [[text]])])
def test_control_characters_are_replaced_and_other_text_is_kept(show, capsys):
    """A release from elsewhere may contain anything; `[red]` is no markup, and joiners belong to words."""
    try:
        show(HOSTILE)
    except SystemExit as stopped:
        assert stopped.code == 2  # noqa: PT017 (only `fail` stops)
    printed = "".join(capsys.readouterr())
    assert SHOWN in printed
    assert "c\u200cd é 😀" in printed
    assert not set(printed) & set("\x1b\x9b\r\b\u202e\u2066")


def test_a_line_break_does_not_break_a_row(capsys):
    print_table("", {"query": False, "share": True}, [["one\ntwo", "0.1"]])
    assert capsys.readouterr().out.splitlines()[1] == "one\\ntwo    0.1"


def test_json_escapes_them_without_a_loss(capsys):
    print_json({HOSTILE: [HOSTILE]})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {HOSTILE: [HOSTILE]}
    assert not set(printed) & set("\x1b\x9b\r\b\u202e\u2066")
