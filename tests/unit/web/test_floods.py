"""What strangers can do in numbers: register, make us fetch, sign up."""

import json
from collections import Counter

import pytest

from tests.fakes.oauth import InMemoryClientDocuments
from tests.unit.web.site import CALLBACK, Browser, Site, request

HEADERS = {"content-type": "application/json"}


@pytest.mark.requirement("R4")
def test_of_a_flood_of_registrations_a_bounded_number_is_stored() -> None:
    site = Site(registrations_a_day=20)
    body = json.dumps({"redirect_uris": [CALLBACK]})

    replies = [site.call("POST", "/register", headers=HEADERS, body=body) for _ in range(100)]

    assert Counter(reply.status for reply in replies) == {201: 20, 429: 80}
    assert len(site.client_store.records) == 20
    assert replies[-1].json() == {"error": "temporarily_unavailable"}
    assert replies[-1].headers["retry-after"] == "4320"


@pytest.mark.requirement("R4")
def test_two_registrations_a_second_apart_both_succeed() -> None:
    site = Site()

    first = site.register()
    site.clock.sleep(1)

    assert first["client_id"] != site.register()["client_id"]


@pytest.mark.requirement("R4")
def test_what_cannot_be_registered_uses_up_nothing() -> None:
    site = Site(registrations_a_day=1)
    for _ in range(5):
        site.call("POST", "/register", headers=HEADERS, body='{"redirect_uris": []}')

    assert site.register()["client_id"]


@pytest.mark.requirement("R3")
def test_a_thousand_document_urls_make_no_more_fetches_than_the_pace_allows() -> None:
    documents = InMemoryClientDocuments()
    site = Site(documents=documents)
    browser = Browser(site)

    for number in range(1_000):
        browser.authorize(f"https://host{number}.example/client.json")
    in_all = documents.fetches
    site.clock.sleep(60)
    for number in range(1_000):
        browser.authorize(f"https://one.example/{number}.json")

    assert (in_all, documents.fetches - in_all) == (60, 10)


@pytest.mark.requirement("R3")
def test_no_document_is_fetched_for_an_answer_that_nobody_may_get() -> None:
    documents = InMemoryClientDocuments()
    query = request("https://app.example/client.json", redirect_uri="javascript:alert(1)")

    reply = Browser(Site(documents=documents)).get("/authorize", query)

    assert (reply.status, documents.fetches) == (400, 0)


@pytest.mark.requirement("R5")
@pytest.mark.parametrize(
    ("uri", "status"),
    [
        ("https://claude.ai/api/mcp/auth_callback", 201),
        ("http://localhost/callback", 201),
        ("http://localhost:1234/callback", 201),
        ("http://127.0.0.1:1234/callback", 400),
        ("https://claude.ai.evil.example/cb", 400),
        ("https://evil.example/claude.ai", 400),
    ],
)
def test_an_operator_may_say_to_which_hosts_registered_clients_answer(
    uri: str, status: int
) -> None:
    site = Site(redirect_hosts=frozenset({"claude.ai", "localhost"}))
    body = json.dumps({"redirect_uris": [uri]})

    assert site.call("POST", "/register", headers=HEADERS, body=body).status == status
