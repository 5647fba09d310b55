"""Published runs as records."""
