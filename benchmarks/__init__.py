"""Speed as ratios: to a limit or to a peer, measured in the same run on the same machine. Linux only.

`python -m benchmarks` runs all of them, `python -m benchmarks reporting` runs one.
"""
