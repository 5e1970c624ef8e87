"""A collection from its parameters to its release, and the audit of its promises."""
