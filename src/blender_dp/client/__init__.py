"""What runs on a device. Standard library and `records` only: no numpy, no network, no files."""

from blender_dp.client.channel import Channel
from blender_dp.client.device import Device, Report

__all__ = ["Channel", "Device", "Report"]
