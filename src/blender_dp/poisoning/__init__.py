"""What forged reports could do to a release: predicted, and measured by forging them."""
