"""The settings of a collector."""
