"""A device in a campaign: it verifies, randomises, accounts, sends and searches."""
