"""Checks that several tests share."""

from __future__ import annotations

import httpx

from blender_dp_device.wire.problems import PREFIX, PROBLEMS


def is_problem(answer: httpx.Response, status: int, name: str) -> bool:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert name in PROBLEMS
    assert {"type", "title", "status", "detail"} <= set(body)
    assert (answer.status_code, body["status"], body["type"]) == (status, status, PREFIX + name), answer.text
    return True


REPORT = {"id": "0" * 32, "head_list": "0" * 64, "cells": [1]}
