"""Devices and a real collector."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from blender_dp.collector.storage.schema import records, reports
from blender_dp.errors import StateError
from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient, NoResponseError
from tests.collector_http.conftest import RECORDS, listening
from tests.device.agent.fake_collector import PINNED

pytestmark = pytest.mark.slow  # starts a collector


class Lossy(CollectorClient):
    """Loses responses after they have arrived."""

    lose = False

    def post_bytes(self, *arguments: Any, **more: Any) -> Any:
        response = super().post_bytes(*arguments, **more)
        if self.lose:
            raise NoResponseError("collector", "does not respond (lost)", "Try again")
        return response


def test_a_round_of_a_live_collector(tmp_path):
    with listening(tmp_path / "data") as live:
        listed = live.listed(live.campaign())
        live.opened(live.campaign(name="other"))  # now the newest of all
        collector, pinned = CollectorClient(live.url), {**PINNED, "lifetime_epsilon": 4, "campaign": listed["campaign"]}
        device = Agent(tmp_path / "device", collector, key=live.service.signer.public, **pinned)
        sent = device.take_part(*RECORDS[0])
        assert sent.arrived
        assert device.left == 0
        assert device.take_part(*RECORDS[1]) == sent
        with live.service.rounds.store.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(reports)) == 1
        with live.http() as http:
            http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 200)})
        live.operator("POST", f"/v1/operator/rounds/{listed['id']}/close")
        live.reached(listed["id"], "released")
        device.refresh_bundle()
        collector.close()
    found = device.search("query")  # the collector is gone
    assert found
    assert device.suggestions("query")[1] == [row["query"] for row in found]
    assert device.index().prefix("query") == found


def test_an_upload_to_a_live_collector_and_its_withdrawal(tmp_path):
    with listening(tmp_path / "data") as live:
        campaign = live.campaign()
        live.opened(campaign)
        (token,) = live.enrolled(campaign)
        collector = CollectorClient(live.url)
        device = Agent(tmp_path / "x", collector, key=live.service.signer.public, **{**PINNED, "campaign": campaign})
        assert device.upload(token, *RECORDS[0]).receipt
        assert device.withdraw() == 1
        assert device.upload(token, *RECORDS[0]) is None
        collector.close()


@pytest.mark.parametrize("answered_first", [True, False])
def test_a_record_whose_response_was_lost_can_be_withdrawn(tmp_path, answered_first):
    """A record whose response was lost, first or second, can be withdrawn, even after an opt-out."""

    with listening(tmp_path / "data") as live:
        campaign = live.campaign()
        round_id = live.opened(campaign)
        (token,) = live.enrolled(campaign)
        collector = Lossy(live.url)
        device = Agent(tmp_path / "x", collector, key=live.service.signer.public, **{**PINNED, "campaign": campaign})

        def kept() -> int:
            with live.service.rounds.store.read() as connection:
                return connection.scalar(sa.select(sa.func.count()).select_from(records))

        if answered_first:
            device.upload(token, *RECORDS[0])
        collector.lose = True
        with pytest.raises(StateError, match="does not respond"):
            device.upload(token, *RECORDS[1])
        collector.lose = False
        assert kept() == 1
        if not answered_first:
            device.opt_out()
        assert device.withdraw() == 1
        assert (kept(), [one.withdrawn for one in device.uploaded]) == (0, [True])
        late = {"query": "q", "receipt": device.uploaded[0].receipt}  # a copy that was under way
        with live.http(token) as http:
            assert http.post(f"/v1/rounds/{round_id}/records", json=late).status_code == 409
        assert kept() == 0
        collector.close()


def test_a_live_collector_refuses_a_receipt_of_another_record(tmp_path):
    with listening(tmp_path / "data") as live, live.http() as http:
        campaign = live.campaign()
        path = f"/v1/rounds/{live.opened(campaign)}/records"
        one, other = ({"Authorization": f"Bearer {token}"} for token in live.enrolled(campaign, 2))

        def sent(receipt: object, who: dict[str, str]) -> httpx.Response:
            return http.post(path, json={"query": "query", "receipt": receipt}, headers=who)

        assert sent("ab" * 32, one).json() == {"receipt": "ab" * 32}
        refused = sent("ab" * 32, other)
        assert refused.status_code == 409
        assert "another record" in refused.json()["detail"]
        assert [sent(wrong, one).status_code for wrong in ("AB" * 32, "ab" * 31, 7, "")] == [422] * 4
