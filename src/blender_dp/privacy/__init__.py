"""Declared privacy: the unit, the loss, exact divergences and what an audit finds."""
