"""A device in a campaign: it verifies, randomises, keeps account, sends and searches."""
