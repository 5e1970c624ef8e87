"""A program that has only the device's package: uploads, reports, or searches in a live round. Run by test_device_wheel."""

import json
import sys
from importlib.metadata import distributions
from pathlib import Path

from blender_dp_device import Agent, CollectorClient


def main() -> None:
    """Perform one step, with settings passed as JSON."""
    step, settings = sys.argv[1], json.loads(sys.argv[2])
    collector = CollectorClient(settings["url"])

    def agent(name: str) -> Agent:
        pinned = {"key": settings["key"], "campaign": settings["campaign"]}
        return Agent(Path(name), collector, **pinned, epsilon="4", delta="1e-6", lifetime_epsilon="4")

    if step == "installed":
        result = sorted(one.name for one in distributions())
    elif step == "upload":
        devices = [(agent(f"opt-in {i}"), token, record) for i, (token, record) in enumerate(settings["records"])]
        result = [device.upload(token, *record).receipt for device, token, record in devices]
    elif step == "withdraw":
        result = agent("opt-in 0").withdraw()
    elif step == "report":
        devices = [(agent(f"client {i}"), record) for i, record in enumerate(settings["records"])]
        result = [device.take_part(*record).arrived for device, record in devices]
    else:
        device = agent("client 0")
        device.refresh_bundle()
        result = [row["query"] for row in device.search("query")]
        if result != [row["query"] for row in device.index().words("query")]:
            raise SystemExit("the index disagrees")
    collector.close()
    print(json.dumps(result))


main()
