"""The digest by which Dropbox tells contents apart.

https://www.dropbox.com/developers/reference/content-hash
"""

from hashlib import sha256

BLOCK = 4 * 1024 * 1024


def content_hash(data: bytes) -> str:
    """Hex SHA-256 over the SHA-256 digests of the 4 MiB blocks of `data`."""
    digests = (sha256(data[at : at + BLOCK]).digest() for at in range(0, len(data), BLOCK))
    return sha256(b"".join(digests)).hexdigest()
