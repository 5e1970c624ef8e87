"""The wire format, the same on both sides: messages, signed documents, problem types, cells and suggestions."""
