"""What else could a user pick? Other libraries and simple baselines on the same users, with the same promise."""
