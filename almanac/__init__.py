"""A generated encyclopedia whose facts are known, unknown or known wrongly to the pocket model."""
