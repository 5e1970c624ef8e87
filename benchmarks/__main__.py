"""Run the benchmarks, print one table each, and write all figures as JSON if asked."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks import collector, discovery, engine, estimator, growth, hostile, machine, reporting, utility
from benchmarks.result import show, show_machine

BENCHMARKS = {
    "reporting": reporting.measure,
    "discovery": discovery.measure,
    "growth": growth.measure,
    "utility": utility.measure,
    "estimator": estimator.measure,
    "engine": engine.measure,
    "collector": collector.measure,
    "hostile": hostile.measure,
}
USUAL = ("reporting", "discovery", "growth", "estimator")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(BENCHMARKS)} (default: {', '.join(USUAL)})"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    description = machine.description()
    show_machine(description)
    results = []
    for name in arguments.names or USUAL:
        results.append(BENCHMARKS[name]())
        show(results[-1])
    if arguments.json:
        document = {"machine": description, "benchmarks": [asdict(result) for result in results]}
        arguments.json.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
