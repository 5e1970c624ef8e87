"""What forged reports could do to a release: predicted by a formula, and measured by adding forged reports."""
