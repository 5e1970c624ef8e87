"""Every mechanism has a proof, and every function that a proof covers exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import blender_dp
import blender_dp_device

FOLDERS = [p for p in (Path(blender_dp.__path__[0]) / "mechanisms").iterdir() if (p / "mechanism.py").exists()]
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for package in (blender_dp, blender_dp_device)
    for path in Path(package.__path__[0]).rglob("*.py")
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_the_proof_states_its_claim_and_the_code_it_covers(folder):
    proof = (folder / "proof.md").read_text(encoding="utf-8")
    for part in ("**Claim.**", "**Neighbours.**", "**Assumptions.**", "**Covers**", "∎"):
        assert part in proof
    covered = proof.split("**Covers**")[1].split("\n\n")[0]
    names = re.findall(r"`([A-Za-z_.]+)`", covered)
    assert names
    for name in names:
        *owner, function = name.split(".")
        assert re.search(rf"def {function}\b", SOURCE), name
        assert not owner or re.search(rf"class {owner[0]}\b", SOURCE), name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_the_docstring_states_citation_privacy_utility_and_cost(folder):
    text = (folder / "mechanism.py").read_text(encoding="utf-8")
    assert all(f"    {word}: " in text for word in ("Citation", "Privacy", "Utility", "Cost"))
