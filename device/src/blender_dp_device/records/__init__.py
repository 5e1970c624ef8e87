"""Records, their canonical form, and head lists."""
