"""What `audit` prints: a loss is rounded up, for people and for programs."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from typer.testing import CliRunner

from blender_dp.cli.app import app


def test_a_printed_loss_is_never_below_the_computed_one():
    arguments = ("audit", "--epsilon", "7/3", "--delta", "1e-5", "--max-queries", "3", "--f-c", "0.85", "--subset-size", "1")
    findings = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)["findings"]
    printed = [Decimal(one) for one in re.findall(r" 7/3 +([0-9.]+) ", CliRunner().invoke(app, arguments).stdout)]
    exact = [Decimal(str(one["worst_epsilon"])) for one in findings]
    assert len(printed) == len(exact) == 3
    assert all(0 <= shown - computed < Decimal("1e-9") for shown, computed in zip(printed, exact, strict=True))
    assert any(shown > computed for shown, computed in zip(printed, exact, strict=True))  # 2.333333333334
