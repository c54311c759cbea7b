"""Opaque values: random, known in clear to their holder alone, kept by us as SHA-256."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable

Random = Callable[[int], bytes]
"""So many bytes that nobody can guess."""

SECRET_LENGTH = 43

_ID = re.compile(r"[0-9a-f]{24}")


def new_secret(random: Random) -> str:
    """256 bits as 43 characters that need no escaping anywhere."""
    return _base64url(random(32))


def new_id(random: Random) -> str:
    """A name for something, not a secret: 24 hex characters."""
    return random(12).hex()


def is_id(text: str) -> bool:
    """Whether `new_id` may have made it. No store is asked for anything else."""
    return _ID.fullmatch(text) is not None


def digest(secret: str) -> str:
    """The form in which a secret is kept and looked up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def challenge_of(verifier: str) -> str:
    """The S256 code challenge of a verifier (RFC 7636, section 4.2)."""
    return _base64url(hashlib.sha256(verifier.encode("ascii")).digest())


def same(one: str, other: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
