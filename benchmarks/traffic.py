"""The bytes of a device's requests in one round, headers included, before TLS. Nothing here is a time."""

from __future__ import annotations

import httpx

from benchmarks.collector import scratch_folder
from benchmarks.result import Cell, Result
from benchmarks.served import Listed, Served, served
from blender_dp_device.agent.outgoing import report_body

ENCODING, JSON = {"Accept-Encoding": "gzip"}, {"Content-Type": "application/json"}


def measure() -> Result:
    with scratch_folder() as place, served(place / "data") as server:
        listed = server.listed("traffic")
        rows = list(map(_row, *zip(*exchanges(server, listed).items(), strict=True)))
    totals: dict[str, Cell] = {key: sum(int(row[key]) for row in rows) for key in ("sent", "received")}
    return Result(
        "traffic",
        "bytes of one device in one round",
        f"A list of {len(listed.content['head_list']['queries'])} queries, a report of {len(listed.cells(1)[0])} cells; "
        "HTTP/1.1 with headers, gzip, without TLS.",
        [*rows, {"request": "a round", **totals}],
        [],
    )


def exchanges(server: Served, listed: Listed) -> dict[str, httpx.Response]:
    """What a device asks for, and what it gets."""
    body = report_body(listed.head_list, listed.cells(1)[0], listed.device.reporting_list.head_list.cell_count)
    with httpx.Client(base_url=server.url, headers=ENCODING) as http:
        return {
            "current round": http.get("/v1/rounds/current", params={"campaign": listed.campaign}),
            "head list": http.get(f"/v1/head-lists/{listed.head_list}"),
            "report": http.post(
                f"/v1/rounds/{listed.id}/reports", content=body, headers={"Content-Type": "application/json"}
            ),
        }


def _row(name: str, response: httpx.Response) -> dict[str, Cell]:
    response.raise_for_status()
    request = response.request
    line = f"{request.method} {request.url.raw_path.decode()} HTTP/1.1\r\n"
    sent = len(line) + _length(request.headers) + len(request.content)
    received = len("HTTP/1.1 200 OK\r\n") + _length(response.headers) + response.num_bytes_downloaded
    return {"request": name, "sent": sent, "received": received}


def _length(headers: httpx.Headers) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.raw) + 2
