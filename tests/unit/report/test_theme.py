from __future__ import annotations

from base64 import b64decode
from importlib.resources import files

from blender_dp.report import colours, theme


def test_a_chart_on_a_page_uses_variables_and_leaves_other_colours_and_text_alone():
    svg = f'<path fill="{colours.BLUE}" stroke="{colours.LINE}"/><path fill="#123456"/><text>{colours.BLUE}</text>'
    assert theme.on_page(svg) == (
        f'<path fill="var(--blue)" stroke="var(--line)"/><path fill="#123456"/><text>{colours.BLUE}</text>'
    )


def test_both_themes_define_every_variable():
    light, _, dark = theme.variables().partition("prefers-color-scheme: dark")
    for name, (one, other) in colours.THEMES.items():
        assert f"--{name}: {one}" in light
        assert f"--{name}: {other}" in dark


def test_a_chart_has_exactly_the_given_size():
    chart = theme.styled({"mark": "bar"}, width=400, height=300, padding={"left": 50, "right": 10, "bottom": 40})
    assert (chart["width"], chart["height"]) == (340, 260)
    assert chart["autosize"] == {"type": "none"}


def test_a_page_contains_its_fonts():
    rules = theme.fonts().splitlines()
    assert len(rules) == 2
    for rule, name in zip(rules, ("regular", "bold"), strict=True):
        content = rule.partition("base64,")[2].partition(")")[0]
        assert b64decode(content) == files("blender_dp.report").joinpath("fonts", f"{name}.woff2").read_bytes()
        assert b64decode(content).startswith(b"wOF2")
