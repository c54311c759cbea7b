"""What we tell clients about ourselves."""

import pytest

from memorybox.oauth.metadata import Issuer, scope_text, scopes_of
from memorybox.oauth.model import ALL_SCOPES, READ, WRITE
from tests.unit.oauth.server import refused

ISSUER = Issuer("https://memory.example")


@pytest.mark.requirement("A1")
def test_the_resource_document() -> None:
    assert ISSUER.resource_document() == {
        "resource": "https://memory.example/mcp",
        "authorization_servers": ["https://memory.example"],
        "scopes_supported": ["memory:read", "memory:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Memory Box",
    }


@pytest.mark.requirement("A1")
def test_the_server_document() -> None:
    assert ISSUER.server_document() == {
        "issuer": "https://memory.example",
        "authorization_endpoint": "https://memory.example/authorize",
        "token_endpoint": "https://memory.example/token",
        "registration_endpoint": "https://memory.example/register",
        "revocation_endpoint": "https://memory.example/revoke",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "scopes_supported": ["memory:read", "memory:write", "offline_access"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }


@pytest.mark.parametrize(
    ("resource", "is_ours"),
    [
        ("https://memory.example/mcp", True),
        ("https://memory.example/mcp/", True),
        ("https://memory.example", True),
        ("https://memory.example/", True),
        ("https://memory.example/mcp//", False),
        ("https://memory.example/mcp/x", False),
        ("https://memory.example/mcp?x", False),
        ("http://memory.example/mcp", False),
        ("https://memory.example.evil/mcp", False),
        ("https://other.example/mcp", False),
        ("", False),
    ],
)
def test_a_resource_is_ours_in_four_spellings(resource: str, *, is_ours: bool) -> None:
    assert ISSUER.owns(resource) is is_ours


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (None, ALL_SCOPES),
        ("", ALL_SCOPES),
        (" ", ALL_SCOPES),
        (" offline_access", ALL_SCOPES),
        ("memory:read", {READ}),
        ("memory:read offline_access", {READ}),
        ("memory:write", {READ, WRITE}),
        ("memory:write memory:read", ALL_SCOPES),
    ],
)
def test_no_scope_means_all_and_write_means_read_too(asked: str | None, given: set[str]) -> None:
    assert scopes_of(asked) == given


@pytest.mark.parametrize("asked", ["memory:admin", "memory:read openid", "Memory:read"])
def test_an_unknown_scope_is_refused(asked: str) -> None:
    assert refused(lambda: scopes_of(asked)) == "invalid_scope"


def test_scopes_are_written_in_one_order() -> None:
    assert (scope_text(ALL_SCOPES), scope_text(frozenset({READ}))) == (
        "memory:read memory:write",
        "memory:read",
    )
