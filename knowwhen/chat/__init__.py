"""The chat in a terminal: `knowwhen chat`. Loaded by that command alone."""
