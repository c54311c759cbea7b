"""What goes wrong in the authorization server: exact in the log, generic on the wire.

OAuthError     an error answer of /token, /register or /revoke (RFC 6749, section 5.2)
Unauthorized   a request to a resource without a good token (RFC 6750, section 3)
Forbidden      a step of a sign-in that another browser began
"""

from memorybox.errors import MemoryBoxError, Refused


class OAuthError(MemoryBoxError):
    """`code` is for the client; `reason` is for the log, and no secret is in it."""

    def __init__(self, code: str, reason: str, *, status: int = 400, retry_after: int = 5) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason
        self.status = status
        self.retry_after = retry_after


class Unauthorized(MemoryBoxError):
    """`presented` says whether any token came. `reason` is for the log."""

    def __init__(self, reason: str, *, presented: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.presented = presented


class Forbidden(Refused):
    """This browser may not take this step. Answered with HTTP 403."""
