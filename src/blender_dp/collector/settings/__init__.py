"""How a collector is run."""
