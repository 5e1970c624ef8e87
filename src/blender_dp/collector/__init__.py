"""The collector: a service that collects opt-in records and reports, round by round, and publishes signed releases."""
