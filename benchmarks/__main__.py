"""Run benchmarks, print a table for each and, with --json, write all figures to a file."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks import (
    collector,
    discovery,
    engine,
    estimator,
    growth,
    hostile,
    machine,
    plan,
    questions,
    reporting,
    retention,
    startup,
    traffic,
    trends,
    utility,
)
from benchmarks.result import show, show_machine
from benchmarks.rivals import comparison

BENCHMARKS = {
    "reporting": reporting.measure,
    "discovery": discovery.measure,
    "growth": growth.measure,
    "utility": utility.measure,
    "estimator": estimator.measure,
    "engine": engine.measure,
    "collector": collector.measure,
    "hostile": hostile.measure,
    "retention": retention.measure,
    "startup": startup.measure,
    "traffic": traffic.measure,
    "trends": trends.measure,
    "rivals": comparison.measure,
    "plan": plan.measure,
    "questions": questions.measure,
}
DEFAULTS = ("reporting", "discovery", "growth", "estimator", "startup")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"benchmarks to run: {', '.join(BENCHMARKS)} (default: {', '.join(DEFAULTS)})",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}. Choose from {', '.join(BENCHMARKS)}.")
    description = machine.description()
    show_machine(description)
    results = []
    for name in arguments.names or DEFAULTS:
        results.append(BENCHMARKS[name]())
        show(results[-1])
    if arguments.json:
        document = {"machine": description, "benchmarks": [asdict(result) for result in results]}
        arguments.json.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
