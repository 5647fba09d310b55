"""Chat models: which there are, what each can report, and the one door through which methods call them."""
