"""Test vectors for clients in any language, written to spec/vectors by tools/generate.py.

What must come out is stated by hand wherever it can be; tests replay every vector with the Python device.
"""
