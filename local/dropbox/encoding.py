"""Base64url without padding, the alphabet of ids, tokens and cursors."""

from base64 import urlsafe_b64decode, urlsafe_b64encode


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes:
    """Raises ValueError when `text` is none."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
