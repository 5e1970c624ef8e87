"""Devices and the lists they answer, with little to write."""

from __future__ import annotations

from typing import Any

from blender_dp import ChannelSettings, Device, HeadList, ReportingList


def reporting(head_list: HeadList, **channel: Any) -> ReportingList:
    """The list with the papers' f_C and one query per report, unless something else is said."""
    usual = {"delta": "1e-5"} if channel.get("randomiser") == "two-stage" else {"subset_size": 1}
    return ReportingList(head_list, ChannelSettings.of(**{"f_c": "0.85", **usual, **channel}))


def device_for(head_list: HeadList, **channel: Any) -> Device:
    """A device whose own ε, δ and m_c are those of the list."""
    listed = reporting(head_list, **channel)
    return Device(listed, epsilon=listed.channel.epsilon, delta=listed.channel.delta, m_c=listed.channel.m_c)
