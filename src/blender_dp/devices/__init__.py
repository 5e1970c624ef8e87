"""A device that takes part in campaigns: it verifies, randomises, keeps account, and sends."""

from blender_dp.devices.agent import Agent, Sent
from blender_dp.devices.collector import CollectorClient

__all__ = ["Agent", "CollectorClient", "Sent"]
