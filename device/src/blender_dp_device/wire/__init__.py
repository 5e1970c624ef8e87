"""What goes over the wire: messages, signed documents, digests, cells and suggestions, the same on both sides."""
