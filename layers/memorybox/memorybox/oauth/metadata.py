"""Who we are to a client: addresses, metadata documents and challenges.

Everything public is made from one configured base URL, never from a request.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from memorybox.oauth.errors import OAuthError
from memorybox.oauth.model import ALL_SCOPES, READ, WRITE, AuthMethod, Scopes

OFFLINE_ACCESS = "offline_access"
"""Asked for by clients that want a refresh token, which everyone gets."""


@dataclass(frozen=True, slots=True)
class Issuer:
    """The authorization server at `url`, which guards the resource at `url`/mcp."""

    url: str

    @property
    def resource(self) -> str:
        return f"{self.url}/mcp"

    @property
    def resource_metadata(self) -> str:
        return f"{self.url}/.well-known/oauth-protected-resource/mcp"

    def owns(self, resource: str) -> bool:
        """Whether a resource indicator (RFC 8707) means us; some clients name the bare host."""
        return resource.removesuffix("/") in (self.url, self.resource)

    def resource_document(self) -> Mapping[str, object]:
        """Protected resource metadata (RFC 9728)."""
        return {
            "resource": self.resource,
            "authorization_servers": [self.url],
            "scopes_supported": [READ, WRITE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Memory Box",
        }

    def server_document(self) -> Mapping[str, object]:
        """Authorization server metadata (RFC 8414)."""
        methods = list(AuthMethod)
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": methods,
            "revocation_endpoint_auth_methods_supported": methods,
            "scopes_supported": [READ, WRITE, OFFLINE_ACCESS],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }

    def challenge(self, error: str | None = None) -> str:
        """The value of WWW-Authenticate (RFC 6750, section 3; RFC 9728, section 5.1)."""
        parts = [
            f'resource_metadata="{self.resource_metadata}"',
            f'scope="{scope_text(ALL_SCOPES)}"',
            *([f'error="{error}"'] if error else []),
        ]
        return f"Bearer {', '.join(parts)}"

    def challenge_body(self, error: str) -> Mapping[str, str]:
        """The same in a body, for where a gateway renames the header."""
        return {
            "error": error,
            "resource_metadata": self.resource_metadata,
            "scope": scope_text(ALL_SCOPES),
        }


def scope_text(scopes: Scopes) -> str:
    return " ".join(scope for scope in (READ, WRITE) if scope in scopes)


def scopes_of(text: str | None) -> Scopes:
    """The scopes that a request asks for: all of them if it names none. Raises OAuthError."""
    named = frozenset((text or "").split()) - {OFFLINE_ACCESS}
    if not named <= ALL_SCOPES:
        raise OAuthError("invalid_scope", "unknown scope")
    return ALL_SCOPES if WRITE in named or not named else named
