"""Errors a user can act on: each message is one line that says what is wrong and what to do."""


class KnowwhenError(RuntimeError):
    """Anything knowwhen refuses or cannot do; the shell prints it as one line and exits with 1.

    A `RuntimeError`, since a LangGraph server tells its clients the messages of the standard errors alone.
    """


class CapabilityError(KnowwhenError):
    """A model cannot report what is asked of it (log-probabilities, several samples, hidden states)."""


class SettingsError(KnowwhenError, ValueError):
    """A setting, name or argument is out of its range or unknown."""


class ModelError(KnowwhenError):
    """A model could not be loaded, or its server answered with an error that retrying does not mend."""


class RetrievalError(KnowwhenError):
    """A corpus or index is missing, incomplete, damaged or foreign, or a search failed."""
