"""What Dropbox says to the webhook: a challenge once, then which accounts have changed.

https://www.dropbox.com/developers/reference/webhooks
"""

import hmac
import json
from collections.abc import Sequence

from memorybox.accounts.model import AccountId

LONGEST_CHALLENGE = 1_000


def challenge(text: str | None) -> str | None:
    """What to answer to the challenge of a GET, as text/plain with nosniff; None for none.

    Anyone can send one, so it is echoed only as what Dropbox sends: a short line of letters.
    """
    if not text or len(text) > LONGEST_CHALLENGE:
        return None
    return text if text.isascii() and text.isprintable() else None


def is_signed(body: bytes, signature: str | None, secrets: Sequence[str]) -> bool:
    """Whether X-Dropbox-Signature is that of the raw body under one of the app secrets."""
    given = (signature or "").encode(errors="replace")  # compare_digest takes no text beyond ASCII
    return any(hmac.compare_digest(given, _signature(body, secret)) for secret in secrets)


def account_ids(body: bytes) -> tuple[AccountId, ...]:
    """The accounts that a notification names, each once. It does not say what changed."""
    try:
        accounts = json.loads(body)["list_folder"]["accounts"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ()
    if not isinstance(accounts, list):
        return ()
    return tuple(dict.fromkeys(AccountId(name) for name in accounts if isinstance(name, str)))


def _signature(body: bytes, secret: str) -> bytes:
    return hmac.new(secret.encode(), body, "sha256").hexdigest().encode()
