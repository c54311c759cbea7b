"""What can go wrong, by what the caller can do about it.

MemoryBoxError
├── Refused        the caller should change something; the text says what
├── Unavailable    the same request may work later; the text says when
└── SignInEnded    the user took our access to their Dropbox away; sign in again
"""

from collections.abc import Iterator
from traceback import walk_tb
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


def trace(error: BaseException) -> Iterator[str]:
    """What broke and where, outermost call first; messages are left out, they may quote a note."""
    for link in filter(None, (error, error.__cause__)):
        yield f"{type(link).__module__}.{type(link).__qualname__}"
        for frame, line in walk_tb(link.__traceback__):
            yield f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}"
