"""The processes that serve, and the connections they accept."""
