"""Thresholds for the model at hand: recorded outcomes, replayed at every threshold, the best one chosen."""
