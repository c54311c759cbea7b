"""Which redirect URIs may be registered, and which one is the registered one."""

import pytest

from memorybox.oauth.redirects import (
    destination,
    is_allowed,
    is_on_the_web,
    is_registered,
    with_answer,
)

LOOPBACK = "http://127.0.0.1/callback"
CLAUDE = "https://claude.ai/api/mcp/auth_callback"


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(
    ("uri", "registered"),
    [
        (LOOPBACK, LOOPBACK),
        ("http://127.0.0.1:51004/callback", LOOPBACK),
        ("http://127.0.0.1:1/callback", "http://127.0.0.1:2/callback"),
        ("http://127.0.0.1:65535/callback", LOOPBACK),
        (CLAUDE, CLAUDE),
        ("http://localhost:3118/cb", "http://localhost/cb"),
        ("http://[::1]:7/cb", "http://[::1]/cb"),
        ("http://localhost:3118/cb?a=b", "http://localhost/cb?a=b"),
    ],
)
def test_a_redirect_is_the_registered_string_and_only_a_loopback_port_is_free(
    uri: str, registered: str
) -> None:
    assert is_registered(uri, ["https://other.example/", registered])


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:51004/callback/../x",
        "http://127.0.0.1/callback?x=1",
        "http://127.0.0.1:80@evil.com/callback",
        "http://127.0.0.1.evil.com/callback",
        "http://localhost:5/callback",
        "https://127.0.0.1:5/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:65536/callback",
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:0x50/callback",
        "http://127.0.0.1:/callback",
        "http://127.0.0.1:\u0665/callback",
        "http://127.0.0.1/callback#f",
        "http://127.0.0.1:5\\@evil/callback",
        "http://127.1:5/callback",
        "http://2130706433/callback",
        "http://127.0.0.1:5/callback\n",
        "http://127.0.0.1:5/Callback",
        "javascript:alert(1)",
        "",
    ],
)
def test_nothing_else_is_a_registered_loopback_redirect(uri: str) -> None:
    assert not is_registered(uri, [LOOPBACK])


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(
    "uri",
    [
        f"{CLAUDE}/",
        f"{CLAUDE}?a=b",
        "https://claude.ai:443/api/mcp/auth_callback",
        "https://CLAUDE.ai/api/mcp/auth_callback",
        f"{CLAUDE}%00",
        "https://claude.ai.evil.com/api/mcp/auth_callback",
        "https://claude.ai@evil.com/api/mcp/auth_callback",
        "https://claude.ai/api/mcp/%61uth_callback",
        f"{CLAUDE}\n",
        "http://claude.ai/api/mcp/auth_callback",
        "https://claude.ai/api/mcp/",
    ],
)
def test_nothing_else_is_a_registered_web_redirect(uri: str) -> None:
    assert not is_registered(uri, [CLAUDE])


@pytest.mark.requirement("A4")
@pytest.mark.parametrize(
    "uri",
    [
        CLAUDE,
        LOOPBACK,
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "https://example.com",
        "https://example.com:8443/cb?a=b",
        "http://localhost/callback",
        "http://localhost:3118",
        "http://[::1]:7/cb",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "vscode-insiders://vscode.github-authentication/did-authenticate",
        "https://e.example/" + "a" * 494,
    ],
)
def test_web_loopback_and_known_private_schemes_may_be_registered(uri: str) -> None:
    assert is_allowed(uri)


@pytest.mark.requirement("A4")
@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "JaVaScript:alert(1)",
        "\tjavascript:alert(1)",
        "java\nscript:alert(1)",
        "javascript://claude.ai/%0aalert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://claude.ai/1",
        "other://host/cb",
        "Cursor://host/cb",
        "cursor:host",
        "http://evil.example/cb",
        "http://localhost.evil.example/cb",
        "https://../cb",
        "https://-/cb",
        "https://a..b/cb",
        "https://.example.com/cb",
        "https://a-.example.com/cb",
        "https://0x7f.1/cb",
        "https://2130706433/cb",
        "https://0177.0.0.1/cb",
        "cursor://../cb",
        "https://user@example.com/cb",
        "https://user:word@example.com/cb",
        "https://example.com/cb#fragment",
        "https://example.com/c b",
        "https://example.com/c\x00b",
        "https://example.com/c\x7fb",
        "https://example.com\\@evil.example/cb",
        "https://example.com/caf\u00e9",
        "https://example.com:99999/cb",
        "https://",
        "https:example.com",
        "//example.com/cb",
        "https://e.example/" + "a" * 495,
    ],
)
def test_every_other_redirect_may_not_be_registered(uri: str) -> None:
    assert not is_allowed(uri)


def test_an_answer_joins_the_query_that_is_there() -> None:
    assert with_answer("https://a.example/cb?x=%20y&z", {"state": "a b", "iss": "https://m"}) == (
        "https://a.example/cb?x=%20y&z&state=a+b&iss=https%3A%2F%2Fm"
    )


@pytest.mark.requirement("A11")
def test_an_answer_is_there_once_even_if_the_redirect_has_such_a_parameter() -> None:
    uri = "https://a.example/cb?iss=https://evil&code=x&keep=1&iss"
    assert with_answer(uri, {"code": "c", "iss": "i"}) == (
        "https://a.example/cb?keep=1&code=c&iss=i"
    )


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("uri", "shown", "web"),
    [
        (CLAUDE, "claude.ai", True),
        ("https://example.com:8443?x", "example.com:8443", True),
        ("https://192.0.2.1/cb", "192.0.2.1", True),
        ("https://127.0.0.1:8443/cb", "127.0.0.1:8443", False),
        ("https://127.9.9.9/cb", "127.9.9.9", False),
        ("https://0.0.0.0/cb", "0.0.0.0", False),  # noqa: S104 - nothing listens there
        ("https://[::1]/cb", "[::1]", False),
        ("https://LocalHost/cb", "LocalHost", False),
        ("https://app.localhost/cb", "app.localhost", False),
        ("http://127.0.0.1:51004/callback", "127.0.0.1:51004", False),
        ("cursor://anysphere.cursor-mcp/oauth", "cursor://anysphere.cursor-mcp", False),
    ],
)
def test_a_person_sees_the_whole_host_of_a_redirect(uri: str, shown: str, web: bool) -> None:
    assert (destination(uri), is_on_the_web(uri)) == (shown, web)
