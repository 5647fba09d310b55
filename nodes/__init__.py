"""One step of a method, one file; its prompt is a constant in it."""
