"""Campaigns and rounds: what happens to them, what they spend, and what is deleted."""
