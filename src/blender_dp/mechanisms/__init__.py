"""The private mechanisms. Each folder holds the code, its exact audit and the proof."""
