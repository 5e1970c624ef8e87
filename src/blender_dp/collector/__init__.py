"""The collector: a service that collects opt-in records and reports, round by round, and publishes signed releases."""

from blender_dp.extras import needs

needs("collector")
