"""The clients of four spec dates, and those of the field, sign in and stay signed in."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.security.http.clients import BY_DATE, IN_THE_FIELD, SECONDS, FieldClient, Profile

EVERYONE = pytest.mark.parametrize("profile", [*BY_DATE, *IN_THE_FIELD], ids=str)


@EVERYONE
@pytest.mark.requirement("A1", "A8", "A10", "A11", "R1", "R4")
def test_a_client_signs_in_and_lists_the_tools(personal_url: str, profile: Profile) -> None:
    client = FieldClient(profile, personal_url)
    client.register()

    answer = client.authorize()
    granted = client.redeem(answer["code"])

    assert (answer["state"], answer["iss"]) == (client.state, personal_url)
    assert granted.status_code == 200, granted.text
    assert granted.headers["cache-control"] == "no-store"
    body = granted.json()
    assert body.keys() == {
        "access_token",
        "token_type",
        "expires_in",
        "refresh_token",
        "scope",
    }
    assert (body["token_type"], body["scope"]) == ("Bearer", "memory:read memory:write")
    listed = client.call(body["access_token"])
    assert listed.status_code == 200, listed.text
    assert len(listed.json()["result"]["tools"]) == 6


@EVERYONE
@pytest.mark.requirement("A9")
def test_two_refreshes_at_once_from_two_places_both_work(
    personal_url: str, profile: Profile
) -> None:
    client = FieldClient(profile, personal_url)
    refresh_token = client.sign_in()["refresh_token"]

    with ThreadPoolExecutor(2) as places:
        answers = list(places.map(client.refresh, [refresh_token] * 2))

    assert [answer.status_code for answer in answers] == [200, 200]
    for answer in answers:
        assert client.call(answer.json()["access_token"]).status_code == 200
        assert client.refresh(answer.json()["refresh_token"]).status_code == 200


@EVERYONE
@pytest.mark.requirement("A8", "A12")
def test_a_client_that_disconnects_is_refused_on_its_next_call(
    personal_url: str, profile: Profile
) -> None:
    client = FieldClient(profile, personal_url)
    granted = client.sign_in()

    revoked = client.revoke(granted["refresh_token"])

    assert revoked.status_code == 200
    refused = client.call(granted["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert client.refresh(granted["refresh_token"]).json() == {"error": "invalid_grant"}


@pytest.mark.requirement("A15")
def test_a_client_that_is_forgotten_hears_it_registers_again_and_goes_on(
    personal_url: str,
) -> None:
    client = FieldClient(IN_THE_FIELD[0], personal_url)
    client.sign_in()
    client.id = "client_" + "0" * 24

    answer = client.refresh("mem_rt_" + "0" * 24 + "." + "x" * 43)
    again = client.sign_in()

    assert (answer.status_code, answer.json()) == (401, {"error": "invalid_client"})
    assert client.call(again["access_token"]).status_code == 200


@pytest.mark.requirement("C10")
def test_two_installations_of_one_client_live_side_by_side(personal_url: str) -> None:
    one, other = (FieldClient(BY_DATE[3], personal_url) for _ in range(2))
    first, second = one.sign_in(), other.sign_in()

    assert one.revoke(first["refresh_token"]).status_code == 200

    assert other.call(second["access_token"]).status_code == 200


@pytest.mark.requirement("A1")
def test_a_client_finds_everything_from_a_401(base_url: str) -> None:
    refused = requests.post(f"{base_url}/mcp", json={}, timeout=SECONDS)

    challenge = refused.headers["www-authenticate"]
    assert refused.status_code == 401
    assert "error" not in challenge
    where = challenge.partition('resource_metadata="')[2].partition('"')[0]
    resource = requests.get(where, timeout=SECONDS).json()
    assert resource["resource"] == f"{base_url}/mcp"
    [server] = resource["authorization_servers"]
    metadata = requests.get(
        f"{server}/.well-known/oauth-authorization-server", timeout=SECONDS
    ).json()
    assert metadata["issuer"] == server
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["client_id_metadata_document_supported"] is True
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert "none" in metadata["token_endpoint_auth_methods_supported"]
    assert "offline_access" not in resource["scopes_supported"]
