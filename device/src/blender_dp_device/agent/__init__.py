"""A device that takes part in a campaign: it verifies, randomises, keeps account, sends and searches."""

from blender_dp_device.agent.account import Sent, Uploaded
from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.http import CollectorClient
from blender_dp_device.agent.search_index import SearchIndex

__all__ = ["Agent", "CollectorClient", "SearchIndex", "Sent", "Uploaded"]
