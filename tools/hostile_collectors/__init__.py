"""The table of hostile collectors: what one may send, and what a client must make of it. Both clients replay all of it.

A case is a list of steps. In each the client acts once, and the collector responds as the step says.
"""
