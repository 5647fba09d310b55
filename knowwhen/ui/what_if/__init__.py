"""What if a threshold were another: which routes of a finished run would change, from its recorded scores."""
