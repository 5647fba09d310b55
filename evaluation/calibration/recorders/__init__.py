"""What each method's gate must know of a question, asked of a model once."""
