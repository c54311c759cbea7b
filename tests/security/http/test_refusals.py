"""What must not work, asked over HTTP."""

import json
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode, urlsplit

import pytest
import requests

from tests.security.http.clients import BY_DATE, SECONDS, FieldClient

PUBLIC = BY_DATE[1]
FORM = {"content-type": "application/x-www-form-urlencoded"}


def ask(base_url: str, method: str, path: str, headers: dict[str, str], body: str = "") -> int:
    """The status of a request whose every header is as given."""
    connection = HTTPConnection(urlsplit(base_url).netloc, timeout=SECONDS)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.putheader("content-length", str(len(body.encode())))
    connection.endheaders(body.encode())
    answer: HTTPResponse = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def registered(base_url: str) -> FieldClient:
    client = FieldClient(PUBLIC, base_url)
    client.register()
    return client


@pytest.mark.requirement("A2")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:80",
        "127.0.0.1@evil.example",
        "@127.0.0.1",
        "127.0.0.1/mcp?",
        "a:b:c",
        "127.0.0.1:80:80",
        "127.0.0.1:port",
        "[::1",
        "127.0.0.1 evil.example",
        "2130706433",
        "0x7f.1",
        "127.1",
        "localhost.",
        "",
    ],
)
def test_a_request_for_another_host_is_refused(base_url: str, host: str) -> None:
    assert ask(base_url, "GET", "/", {"host": host}) in (400, 421)


@pytest.mark.requirement("A2", "M10")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"]
)
@pytest.mark.parametrize("path", ["/mcp", "/consent", "/account/sign-in", "/account/delete"])
def test_a_post_from_a_page_of_another_site_is_refused(
    base_url: str, path: str, origin: str
) -> None:
    answer = requests.post(base_url + path, headers={"origin": origin}, timeout=SECONDS)

    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.requirement("A4", "R4")
@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "JaVaScript:alert(1)",
        "\tjavascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://a.example/1",
        "http://app.example/cb",
        "https://app.example/cb#f",
        "https://user@app.example/cb",
        "https://app.example\\@evil.example/cb",
        "myapp://cb",
        "",
    ],
)
def test_a_redirect_that_may_not_be_is_not_registered(base_url: str, uri: str) -> None:
    answer = requests.post(f"{base_url}/register", json={"redirect_uris": [uri]}, timeout=SECONDS)

    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_redirect_uri"})


@pytest.mark.requirement("A3", "A5")
@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:51004/callback/../x",
        "http://127.0.0.1:51004/callback?x=1",
        "http://127.0.0.1:80@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "http://localhost:5/callback",
        "https://127.0.0.1:5/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:0x50/callback",
        "http://127.0.0.1:/callback",
        "http://127.0.0.1:5/callback#f",
        "http://127.0.0.1:5\\@evil/callback",
        "http://127.1:5/callback",
        "http://2130706433/callback",
        "javascript:alert(1)",
    ],
)
def test_another_redirect_leads_to_a_page_of_ours_and_nowhere_else(base_url: str, uri: str) -> None:
    answer = registered(base_url).refused(redirect_uri=uri)

    assert isinstance(answer, requests.Response)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "text/html" in answer.headers["content-type"]


@pytest.mark.requirement("A5", "A6", "A10", "A11")
@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": ""}, "unsupported_response_type"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"scope": "memory:read admin"}, "invalid_scope"),
    ],
)
def test_a_bad_request_goes_back_to_its_client_with_state_and_issuer(
    base_url: str, changed: dict[str, str], error: str
) -> None:
    client = registered(base_url)

    assert client.refused(**changed) == {
        "error": error,
        "state": client.state,
        "iss": base_url,
    }


@pytest.mark.requirement("A7")
def test_a_wrong_try_leaves_a_code_good_and_a_replay_ends_what_came_of_it(
    personal_url: str,
) -> None:
    client = registered(personal_url)
    code = client.authorize()["code"]

    wrong = client.redeem(code, code_verifier="w" * 43)
    right = client.redeem(code)
    works = client.call(right.json()["access_token"]).status_code
    replayed = client.redeem(code)

    assert (wrong.status_code, wrong.json()) == (400, {"error": "invalid_grant"})
    assert (right.status_code, works) == (200, 200)
    assert replayed.json() == {"error": "invalid_grant"}
    assert client.call(right.json()["access_token"]).status_code == 401


@pytest.mark.requirement("A7")
def test_of_many_at_once_at_most_one_gets_tokens_for_a_code(personal_url: str) -> None:
    client = registered(personal_url)
    code = client.authorize()["code"]

    with ThreadPoolExecutor(8) as places:
        answers = list(places.map(lambda _: client.redeem(code).status_code, range(8)))

    assert answers.count(200) <= 1


@pytest.mark.requirement("A9", "A10")
def test_a_refresh_for_another_resource_uses_nothing_up(personal_url: str) -> None:
    client = FieldClient(PUBLIC, personal_url)
    token = client.sign_in()["refresh_token"]

    refused = client.refresh(token, resource="https://other.example/mcp")

    assert refused.json() == {"error": "invalid_target"}
    assert client.refresh(token).status_code == 200


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("path", ["/token", "/revoke"])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", json.dumps({"grant_type": "refresh_token"})),
        ("application/json, application/x-www-form-urlencoded", "grant_type=refresh_token"),
        ("multipart/form-data; boundary=x", "--x--"),
        ("", "grant_type=refresh_token"),
        (FORM["content-type"], "a=1&a=1"),
        (FORM["content-type"], "a=" + "x" * 16_384),
        (FORM["content-type"], "&".join(f"a{n}=1" for n in range(65))),
        (FORM["content-type"], "a=%ff"),
    ],
)
def test_what_is_no_plain_form_is_refused(
    base_url: str, path: str, content_type: str, body: str
) -> None:
    headers = {"host": urlsplit(base_url).netloc, "content-type": content_type}

    assert ask(base_url, "POST", path, headers, body) == 400


@pytest.mark.requirement("A12")
def test_nobody_ends_the_grant_of_another_client(personal_url: str) -> None:
    owner, other = FieldClient(PUBLIC, personal_url), registered(personal_url)
    granted = owner.sign_in()

    assert other.revoke(granted["refresh_token"]).status_code == 200
    assert owner.call(granted["access_token"]).status_code == 200


@pytest.mark.requirement("A13")
@pytest.mark.parametrize(
    "path", ["/mcp/", "/token/", "/register/", "/revoke/", "/consent/", "/account/", "//mcp"]
)
def test_a_post_is_never_redirected_as_a_post(base_url: str, path: str) -> None:
    answer = requests.post(base_url + path, allow_redirects=False, timeout=SECONDS)

    assert answer.status_code in (401, 403, 404, 405)


@pytest.mark.requirement("M1")
def test_a_token_elsewhere_than_in_its_header_is_not_read(base_url: str, access_token: str) -> None:
    url = f"{base_url}/mcp?{urlencode({'access_token': access_token})}"

    answer = requests.post(
        url,
        json={},
        cookies={"access_token": access_token, "authorization": access_token},
        timeout=SECONDS,
    )

    assert answer.status_code == 401


@pytest.mark.requirement("M12")
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_mcp_takes_nothing_but_a_post(base_url: str, access_token: str, method: str) -> None:
    headers = {"authorization": f"Bearer {access_token}"}

    answer = requests.request(method, f"{base_url}/mcp", headers=headers, timeout=SECONDS)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.requirement("M7", "M12")
@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '{"a":' * 40 + "1" + "}" * 41,
        '{"jsonrpc":"2.0","id":' + "9" * 5_000 + ',"method":"ping"}',
        '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        "",
    ],
)
def test_json_that_cannot_be_a_request_is_400(base_url: str, access_token: str, body: str) -> None:
    headers = {"authorization": f"Bearer {access_token}", "content-type": "application/json"}

    answer = requests.post(f"{base_url}/mcp", data=body, headers=headers, timeout=SECONDS)

    assert answer.status_code == 400


@pytest.mark.requirement("C7")
@pytest.mark.parametrize("path", ["/", "/tools", "/account", "/privacy", "/security"])
def test_a_page_cannot_be_framed_and_loads_nothing(base_url: str, path: str) -> None:
    headers = requests.get(base_url + path, timeout=SECONDS).headers

    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("img-src 'self'; base-uri 'none'; frame-ancestors 'none'")
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "set-cookie" not in headers
