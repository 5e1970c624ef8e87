"""What an operator sets for a campaign: some parameters of a collection, and the campaign's own settings with defaults.

They are defined here, not in the collector, because the command line shows them without loading the collector.
"""

from __future__ import annotations

from typing import NamedTuple

from blender_dp.parameters.parameters import definitions

CAMPAIGN_PARAMETERS = tuple(name for name, one in definitions().items() if one.in_campaign)
"""The parameters of a collection that every round of a campaign uses."""


class CampaignDefaults(NamedTuple):
    """The defaults of a campaign's own settings."""

    expected_clients: int = 100_000
    min_opt_in: int = 1000
    min_reports: int = 10_000
    list_days: int = 30
    keep_reports_days: int = 0


DEFAULTS = CampaignDefaults()
