"""Training the pocket model from scratch on the almanac."""
