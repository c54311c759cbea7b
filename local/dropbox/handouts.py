"""What the service gives away that is good without the account's token, or across accounts."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from local.dropbox.accounts import Account


@dataclass(frozen=True, slots=True)
class TemporaryLink:
    """A way to the bytes of one revision, until `expires`."""

    name: str
    data: bytes = field(repr=False)
    expires: datetime


@dataclass(slots=True)
class UploadLink:
    """A place to POST a file's bytes to, once."""

    accept: Callable[[bytes], None]
    expires: datetime
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class CopyReference:
    account: Account
    path_lower: str


@dataclass(slots=True)
class SharedLink:
    """A public address of a file or folder. It follows the entry, whatever it becomes."""

    url: str
    account: Account
    entry_id: str
    audience: str = "public"
    password: str | None = None
    expires: datetime | None = None
    allow_download: bool = True

    def is_expired(self) -> bool:
        return self.expires is not None and self.account.clock.now() >= self.expires


@dataclass(slots=True)
class Handouts:
    base_url: str
    """Where the emulator listens: links that clients follow by themselves lead there."""
    pause: Callable[[float], Any]
    """Waits some seconds, shorter when the emulator stops."""
    temporary_links: dict[str, TemporaryLink] = field(default_factory=dict)
    upload_links: dict[str, UploadLink] = field(default_factory=dict)
    copy_references: dict[str, CopyReference] = field(default_factory=dict)
    shared_links: dict[str, SharedLink] = field(default_factory=dict)

    def clear(self) -> None:
        for given in (
            self.temporary_links,
            self.upload_links,
            self.copy_references,
            self.shared_links,
        ):
            given.clear()


def secret_key() -> str:
    return secrets.token_urlsafe(24)
