"""/token, /revoke and /register on the wire."""

import json

import pytest

from tests.unit.web.site import CALLBACK, FORM, Browser, Site, exchange


@pytest.mark.requirement("R4")
def test_registration_answers_201_twice_for_the_same_program() -> None:
    site = Site()

    first, second = site.register(), site.register()

    assert first["client_id"] != second["client_id"]


@pytest.mark.parametrize("body", ["", "[]", "{", json.dumps({"redirect_uris": []}), "x" * 9000])
def test_a_bad_registration_is_400_with_a_code(body: str) -> None:
    reply = Site().call("POST", "/register", headers={"origin": "https://a.example"}, body=body)

    assert reply.status == 400
    assert list(reply.json()) == ["error"]
    assert reply.headers["access-control-allow-origin"] == "*"
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "application/json",
        "application/json, application/x-www-form-urlencoded",
        "application/x-www-form-urlencoded, application/json",
        "application/x-www-form-urlencoded; charset=utf-8",
        "multipart/form-data",
        "multipart/form-data; boundary=\x00",
        "text/plain",
        ";",
    ],
)
@pytest.mark.parametrize("path", ["/token", "/revoke"])
def test_only_a_form_is_taken(path: str, content_type: str) -> None:
    reply = Site().call("POST", path, headers={"content-type": content_type}, body="a=b")

    assert (reply.status, reply.json()) == (400, {"error": "invalid_request"})


@pytest.mark.requirement("A12")
@pytest.mark.parametrize(
    "body",
    [
        "grant_type=refresh_token&grant_type=refresh_token",
        "client_id=a&client_id=b",
        "grant_type=%ff",
        "a=" + "x" * 16_384,
        "&".join(f"a{n}=1" for n in range(65)),
    ],
)
def test_a_form_that_is_ambiguous_or_too_large_is_refused(body: str) -> None:
    reply = Site().call("POST", "/token", headers=FORM, body=body)

    assert (reply.status, reply.json()) == (400, {"error": "invalid_request"})


@pytest.mark.requirement("A15")
def test_an_unknown_client_is_401_and_is_told_nothing_more() -> None:
    site = Site()

    reply = site.post("/token", exchange("nobody", "x"))
    basic = site.post("/token", {"grant_type": "refresh_token"}, authorization="Basic eDp5")

    assert (reply.status, reply.json()) == (401, {"error": "invalid_client"})
    assert "www-authenticate" not in reply.headers
    assert (basic.status, basic.headers["www-authenticate"]) == (401, 'Basic realm="memorybox"')


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
def test_a_client_with_a_secret_gets_tokens_and_without_it_none(method: str) -> None:
    site = Site()
    client = site.register(token_endpoint_auth_method=method)
    client_id = str(client["client_id"])
    code = Browser(site).sign_in(client_id)
    form = exchange(client_id, code)

    assert site.post("/token", form).status == 401
    assert site.post("/token", form | {"client_secret": str(client["client_secret"])}).status == 200


@pytest.mark.requirement("A14")
def test_trouble_of_a_store_is_503_and_the_token_stays_good() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    tokens = site.sign_in(client_id)
    form = {
        "grant_type": "refresh_token",
        "client_id": client_id,
        "refresh_token": tokens["refresh_token"],
    }

    site.outage.is_on = True
    down = site.post("/token", form)
    site.outage.is_on = False

    assert (down.status, down.json()) == (503, {"error": "temporarily_unavailable"})
    assert down.headers["retry-after"] == "5"
    assert site.post("/token", form).status == 200


@pytest.mark.requirement("A8")
def test_a_revoked_token_is_refused_by_the_next_call() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    tokens = site.sign_in(client_id)

    reply = site.post("/revoke", {"client_id": client_id, "token": tokens["refresh_token"]})

    assert (reply.status, reply.body) == (200, "")
    assert site.mcp(tokens["access_token"]).status == 401


def test_revoking_an_unknown_token_is_200() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])

    assert site.post("/revoke", {"client_id": client_id, "token": "x"}).status == 200


@pytest.mark.requirement("A2")
def test_no_answer_to_a_client_reads_or_sets_a_cookie() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    code = Browser(site).sign_in(client_id)

    reply = site.post("/token", exchange(client_id, code), cookie="__Host-memorybox-form=x")

    assert (reply.status, reply.cookies) == (200, [])


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke", "/consent"])
def test_what_is_posted_to_cannot_be_got(path: str) -> None:
    assert Site().call("GET", path).status == 405


def test_a_registered_redirect_comes_back_as_it_was_sent() -> None:
    assert Site().register()["redirect_uris"] == [CALLBACK]
