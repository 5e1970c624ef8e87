"""What a device holds and compares: records, their canonical form, and head lists."""
