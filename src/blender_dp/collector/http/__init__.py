"""The HTTP service: routes, limits, problems and their description."""
