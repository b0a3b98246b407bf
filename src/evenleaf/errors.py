"""What can go wrong, in the words of whoever called.

Every message names the column or option it is about and says what to do.
"""


class InputError(ValueError):
    """What the caller gave cannot be used; the message says why and how to mend it."""


class MissingExtraError(ImportError):
    """An optional package is needed; the message names the command that installs it."""


class DisagreementError(RuntimeError):
    """A solver's claim and the re-evaluation of its tree differ: a bug, never shrugged off."""
