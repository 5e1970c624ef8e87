"""The private mechanisms. Each folder contains the code, its exact audit and the proof."""
