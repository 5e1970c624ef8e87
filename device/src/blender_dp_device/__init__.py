"""Everything that runs on a device: it verifies, randomises, keeps account, sends and searches."""
