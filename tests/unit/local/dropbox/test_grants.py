"""Codes, tokens and what ends them."""

import json
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from local.dropbox.clock import EmulatedClock
from local.dropbox.encoding import base64url
from local.dropbox.grants import App, Grants, OAuthRefusal, Request

APP = App(key="key", secret="secret", redirect_uris=("https://box.example/callback",))
VERIFIER = "v" * 43
CHALLENGE = base64url(sha256(VERIFIER.encode()).digest())
SCOPES = ("account_info.read", "files.content.read")
ASKED = Request("https://box.example/callback", SCOPES, True, CHALLENGE, "S256")


def grants() -> Grants:
    return Grants(APP, EmulatedClock(datetime(2026, 11, 30, tzinfo=UTC)))


def form(code: str, **other: str | None) -> dict[str, str]:
    fields: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": "https://box.example/callback",
        "client_id": "key",
        "code_verifier": VERIFIER,
    }
    return {name: value for name, value in (fields | other).items() if value is not None}


def refused(grants: Grants, asked: dict[str, str]) -> str:
    with pytest.raises(OAuthRefusal) as refusal:
        grants.exchange(asked, None)
    return refusal.value.error


def test_a_code_buys_tokens_once() -> None:
    service = grants()
    code = service.code("dbid:ann", ASKED)
    answer = service.exchange(form(code), None)
    assert {name for name in answer if not name.endswith("_token")} == {
        "token_type",
        "expires_in",
        "scope",
        "account_id",
    }
    assert (answer["scope"], answer["account_id"]) == (" ".join(SCOPES), "dbid:ann")
    assert refused(service, form(code)) == "invalid_grant"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"redirect_uri": "https://box.example/callback/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": None, "client_secret": "secret"}, "invalid_grant"),
        ({"client_id": "other"}, "invalid_client"),
        ({"client_secret": "wrong"}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
def test_a_wrong_exchange_is_refused(wrong: dict[str, str | None], error: str) -> None:
    service = grants()
    assert refused(service, form(service.code("dbid:ann", ASKED), **wrong)) == error


def test_a_code_expires() -> None:
    clock = EmulatedClock(datetime(2026, 11, 30, tzinfo=UTC))
    service = Grants(APP, clock)
    code = service.code("dbid:ann", ASKED)
    clock.advance(600)
    assert refused(service, form(code)) == "invalid_grant"


def test_a_code_without_a_challenge_wants_the_secret() -> None:
    service = grants()
    asked = Request("https://box.example/callback", SCOPES, offline=False)
    code = service.code("dbid:ann", asked)
    assert refused(service, form(code, code_verifier=None)) == "invalid_client"
    code = service.code("dbid:ann", asked)
    answer = service.exchange(form(code, code_verifier=None), ("key", "secret"))
    assert "refresh_token" not in answer


def test_a_refresh_answer_is_an_access_token_alone_and_the_refresh_token_stays() -> None:
    service = grants()
    token = service.exchange(form(service.code("dbid:ann", ASKED)), None)["refresh_token"]
    asked = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "key"}
    first, second = service.exchange(asked, None), service.exchange(asked, None)
    assert first.keys() == {"access_token", "token_type", "expires_in"}
    assert first["access_token"] != second["access_token"]


def test_a_refresh_may_narrow_the_scope_and_not_widen_it() -> None:
    service = grants()
    _, token = service.issue("dbid:ann", SCOPES)
    asked = {
        "grant_type": "refresh_token",
        "refresh_token": token,
        "client_id": "key",
        "client_secret": "secret",
    }
    narrow = service.exchange({**asked, "scope": "files.content.read"}, None)
    access = service.access(narrow["access_token"])
    assert access is not None
    assert access.scopes == ("files.content.read",)
    assert refused(service, {**asked, "scope": "sharing.read"}) == "invalid_scope"


def test_a_user_who_disconnects_the_app_ends_every_token() -> None:
    service = grants()
    access, token = service.issue("dbid:ann")
    other, _ = service.issue("dbid:bob")
    service.unlink("dbid:ann")
    asked = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "key"}
    assert refused(service, asked) == "invalid_grant"
    ended, standing = service.access(access), service.access(other)
    assert ended is not None
    assert standing is not None
    assert (ended.grant.is_revoked, standing.grant.is_revoked) == (True, False)
    assert (service.is_linked("dbid:ann"), service.is_linked("dbid:bob")) == (False, True)


def test_an_access_token_lives_for_four_hours_of_the_services_clock() -> None:
    clock = EmulatedClock(datetime(2026, 11, 30, tzinfo=UTC))
    service = Grants(APP, clock)
    access = service.access(service.issue("dbid:ann")[0])
    assert access is not None
    clock.advance(14_399)
    assert not service.is_expired(access)
    clock.advance(1)
    assert service.is_expired(access)


def test_tokens_are_known_again_after_a_restart() -> None:
    service = grants()
    access, token = service.issue("dbid:ann", SCOPES)
    ended, _ = service.issue("dbid:bob")
    service.unlink("dbid:bob")
    again = grants()
    again.restore(json.loads(json.dumps(service.snapshot())))
    assert again.access(access) == service.access(access)
    assert again.access(ended) is None
    asked = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "key"}
    again.exchange({**asked, "client_secret": "secret"}, None)
