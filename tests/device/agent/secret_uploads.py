"""Uploads of a record and a token that must not leave unless everything is right."""

from __future__ import annotations

from blender_dp_device.agent.agent import Agent
from tests.device.agent.fake_collector import FakeCollector

TOKEN = "5" * 64
SECRETS = ("a secret query", "secret.example", TOKEN)


def upload(device: Agent):
    return device.upload(TOKEN, SECRETS[0], SECRETS[1])


def nothing_left(device: Agent, fake: FakeCollector, lifetime: int = 8) -> bool:
    """No record, no token, nothing charged, and nothing that prevents the device from reporting."""
    for request in fake.requests:
        sent = request.target + str(request.headers) + request.content.decode()
        assert not any(secret in sent for secret in SECRETS)
        assert "authorization" not in request.headers
    assert fake.posted == []
    return (device.left, device.uploaded, device.sent) == (lifetime, [], [])
