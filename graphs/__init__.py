"""One method, one file, one compiled graph."""
