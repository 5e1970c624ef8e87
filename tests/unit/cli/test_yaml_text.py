from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.cli.yaml_text import yaml_text

SCALARS = st.one_of(
    st.text("ab: -#'\"\\\n\tε|>&*!%@`{}[],?~0"),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
)
ENTRIES = st.dictionaries(st.sampled_from(["name", "a_b", "url"]), SCALARS, min_size=1)


@settings(max_examples=50)
@given(ENTRIES, st.lists(ENTRIES, min_size=1), st.lists(SCALARS, min_size=1))
def test_what_is_written_can_be_read(entry, entries, values):
    value = {**entry, "inner": {"entries": entries, "deeper": entry}, "values": values}
    assert yaml.safe_load(yaml_text(value)) == value


@pytest.mark.parametrize("text", [" first\nsecond", "one\n  two", "one\n\ntwo\n", "bell\x07\nnext\x85line", "\n", "|\n>"])
def test_unusual_lines_survive(text):
    assert yaml.safe_load(yaml_text({"a": text, "b": [text]})) == {"a": text, "b": [text]}


def test_several_lines_are_a_block_and_small_numbers_are_numbers():
    assert yaml_text({"a": {"b": "- one\n- two"}, "c": [{"d": 1, "e": 1e-05}]}) == (
        "a:\n  b: |-\n    - one\n    - two\nc:\n  - d: 1\n    e: 1.0e-05\n"
    )
