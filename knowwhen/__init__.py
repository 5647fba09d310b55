"""knowwhen: look up what the language model does not know, and only that."""
