"""The randomisers: a record goes in, randomised cells come out. Standard library only."""

from blender_dp_device.channel.device import Device, Report
from blender_dp_device.channel.two_stage import Channel

__all__ = ["Channel", "Device", "Report"]
