"""Reading a body of reports: what is accepted and what is refused; one report does not affect the others."""

from __future__ import annotations

import json

import pytest
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.report_body import read_reports
from blender_dp_device.wire.messages import ReportMessage

GOOD = {"id": "0" * 32, "head_list": "0" * 64, "cells": [1, 2]}
BAD = [
    *({**GOOD, "id": one} for one in ("", "0" * 31, "0" * 33, "0" * 31 + "g", "0" * 32 + "\n", "A" * 32, 0, None)),
    *({**GOOD, "head_list": one} for one in ("", "0" * 65, "0" * 64 + "\n", "é" * 64, [])),
    *({**GOOD, "cells": one} for one in ([], [-1], [1 << 32], [1.0], [True], ["1"], [None], [[1]], {}, "1", [0] * 10_001)),
    {**GOOD, "more": 1}, {**GOOD, "}": "{["}, {"id": "0" * 32}, {}, [], [GOOD], None, 1, "", "}{", {"a": {"b": [{}]}},
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
REPORT = st.fixed_dictionaries(
    {"id": st.sampled_from(["0" * 32, "0"]), "head_list": st.just("0" * 64), "cells": st.lists(st.integers(-1, 1 << 32))}
)


def read(reports: object, most: int = 100, **more: object) -> list[dict[str, object] | None]:
    found = read_reports(json.dumps({"reports": reports, **more}).encode(), most)
    return [one and {"id": one.id, "head_list": one.head_list, "cells": one.cells} for one in found]


@pytest.mark.parametrize("bad", BAD)
def test_a_malformed_report_does_not_affect_the_others(bad: object) -> None:
    assert read([bad, GOOD, bad]) == [None, GOOD, None]
    with pytest.raises(RequestValidationError):
        read([bad])


@pytest.mark.parametrize("bad", [b'{"id": "\xff"}', b'{"\xff": 1}', b'{"id": "\xc0\xaf", "cells": [1]}', b'"\xff"'])
def test_invalid_utf_8_in_a_report_does_not_affect_the_others(bad: bytes) -> None:
    good = json.dumps(GOOD).encode()
    assert [one is not None for one in read_reports(b'{"reports": [' + bad + b", " + good + b"]}", 100)] == [False, True]
    with pytest.raises(RequestValidationError):
        read_reports(b'{"reports": [' + bad + b"]}", 100)


@pytest.mark.parametrize("body", [b'{"\xff": 1, "reports": []}', b'{"version": "\xff", "reports": []}', b"\xff", b'"\xff"'])
def test_a_body_that_is_not_utf_8_is_invalid(body: bytes) -> None:
    with pytest.raises(RequestValidationError):
        read_reports(body, 100)


@given(st.lists(REPORT | JSON, min_size=1, max_size=5))
def test_it_agrees_with_the_published_schema(reports: list[object]) -> None:
    def is_valid(one: object) -> bool:
        try:
            TypeAdapter(ReportMessage).validate_json(json.dumps(one))
        except ValidationError:
            return False
        return True

    valid = [is_valid(one) for one in reports]
    if any(valid):
        assert [one is not None for one in read(reports)] == valid
    else:
        with pytest.raises(RequestValidationError):
            read(reports)


@pytest.mark.parametrize("one", [GOOD, None, "{", {"id": "{{{{"}])
def test_the_number_of_reports(one: object) -> None:
    assert len(read([GOOD, *[one] * 4], most=5)) == 5
    with pytest.raises(ProblemError, match="the maximum is 5 reports per request"):
        read([GOOD, *[one] * 5], most=5)


def test_a_body_of_many_values() -> None:
    wide, bad = {**GOOD, "cells": [1] * 10_000}, {**GOOD, "cells": [1] * 9_999 + ["x"]}
    assert read([wide] * 30) == [wide] * 30
    assert read([*[wide] * 30, bad, wide]) == [*[wide] * 30, None, wide]
    with pytest.raises(RequestValidationError):  # so many values that each might be a report
        read([*[wide] * 30, None])
    with pytest.raises(ProblemError, match="the maximum is 5 reports per request"):
        read([wide] * 30, most=5)


@pytest.mark.parametrize("version", [0, 2, -1, 10**30])
def test_another_version(version: int) -> None:
    for reports in ([GOOD], [{}], [GOOD, {}], 1, [GOOD] * 200):
        with pytest.raises(RequestValidationError) as refused:
            read(reports, version=version, most=1000)
        assert [(one["type"], one["loc"]) for one in refused.value.errors()] == [("literal_error", ("body", "version"))]


@pytest.mark.parametrize("version", [True, 1.0, "1", None, [], {"a": 1}])
def test_a_version_that_is_not_a_number(version: object) -> None:
    with pytest.raises(RequestValidationError):
        read([GOOD], version=version)


def test_a_short_mistake_is_explained_and_a_long_one_is_not() -> None:
    with pytest.raises(RequestValidationError) as refused:
        read([{**GOOD, "cells": ["x"]}])
    assert refused.value.errors()[0]["loc"] == ("body", "reports", 0, "cells", 0)
    with pytest.raises(RequestValidationError) as refused:
        read([{**GOOD, "cells": ["x"] * 10_000}])
    assert refused.value.errors() == [{"type": "malformed", "loc": ("body",), "msg": ""}]
