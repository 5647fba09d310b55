"""How sure is the model: one estimator, one file."""
