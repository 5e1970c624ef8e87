"""The profiles: named choices of one part for each stage that has alternatives."""

from __future__ import annotations

PROFILES = {
    "tight": {"discovery": "geometric", "randomiser": "subset", "estimator": "likelihood"},
    "paper": {"discovery": "laplace", "randomiser": "two-stage", "estimator": "average"},
}
"""The part of each kind that a profile uses."""

PARTS = {kind: tuple(parts[kind] for parts in PROFILES.values()) for kind in PROFILES["tight"]}
"""The available parts of each kind. Parts of different profiles can be combined."""
