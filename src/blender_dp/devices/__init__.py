"""A device that takes part in campaigns: it verifies, randomises, keeps account, and sends (extra `collector`)."""

from blender_dp.extras import needs

needs("collector")

from blender_dp.devices.account import Sent, Uploaded
from blender_dp.devices.agent import Agent
from blender_dp.devices.collector import CollectorClient
from blender_dp.devices.index import SearchIndex

__all__ = ["Agent", "CollectorClient", "SearchIndex", "Sent", "Uploaded"]
