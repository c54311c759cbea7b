"""What can go wrong, by what the caller can do about it.

MemoryBoxError
├── Refused        the caller should change something; the text says what
├── Unavailable    the same request may work later; the text says when
└── SignInEnded    the user took our access to their Dropbox away; sign in again
"""

from typing import ClassVar


class MemoryBoxError(Exception):
    """Anything this package raises on purpose. `str(error)` is the sentence for the caller."""

    says_nothing_was_written: ClassVar[bool] = True
    """Whether a tool that writes adds "Nothing was written." to the sentence."""


class Refused(MemoryBoxError):
    """The call cannot be done as it was asked. Nothing was changed."""


class Unavailable(MemoryBoxError):
    """Something outside did not answer or asks to wait. The same call may work later."""


class SignInEnded(MemoryBoxError):
    """Dropbox no longer takes our grant for this account. Answered with HTTP 401."""
