"""A person's own pages."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from html import unescape

import pytest

from memorybox.accounts.model import AccountId
from memorybox.accounts.ports import Removed
from memorybox.files.journal import Written
from memorybox.quoting import visible
from memorybox.search.model import SkipReason
from memorybox.search.overview import Overview, WorkspaceState
from memorybox.search.results import Unindexed
from tests.fakes.accounts import ALICE
from tests.unit.web.site import FORM, Site, Visitor, exchange, field_of, text_of

BOB = AccountId("dbid:bob")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def connected(site: Site) -> dict[str, str]:
    """The tokens of an assistant that Alice has connected."""
    return site.sign_in(str(site.register()["client_id"]))


def test_a_stranger_sees_nothing_but_the_way_in() -> None:
    page = Site().call("GET", "/account")

    assert (page.status, page.cookies) == (200, [])
    assert 'action="/account/sign-in"' in page.body
    assert "Delete" not in page.body


@pytest.mark.requirement("C9")
def test_a_person_sees_their_workspaces_the_index_the_month_and_who_is_connected() -> None:
    site = Site()
    connected(site)
    site.overview = Overview(
        workspaces=(
            WorkspaceState("Garden", 1_200, 1_198, NOON),
            WorkspaceState("<work>", 1, 0, NOON - timedelta(days=40)),
        ),
        unindexed=(
            Unindexed("Garden", "big.md", SkipReason.TOO_LARGE, None),
            Unindexed("Garden", "late.md", SkipReason.OVER_BUDGET, date(2026, 12, 1)),
        ),
        waiting=1,
        is_current=True,
    )
    site.spent = 8_474_576

    shown = text_of(Visitor(site).sign_in_here())

    for words in (
        "Signed in with Dropbox as Alice.",
        "Compared with your Dropbox just now. 1 note not indexed yet",
        "Garden1,2001,19830 Nov 2026",
        "<work>1021 Oct 2026",
        "Garden/big.md has over 1,000,000 bytes.",
        "Garden/late.md did not fit in the tokens of the month.",
        "8.5 million of 84.7 million embedding tokens, 10.0 %, about $0.10.",
        "begins anew on 1 December",
        "Claude may read and write · connected on 30 Nov 2026 · in use on 30 Nov 2026",
    ):
        assert words in shown


def test_the_page_says_who_wrote_what_lately_and_leads_to_each_note_and_its_versions() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    site.written = (
        Written("/Garden/Beds & more/50%.md", "2", client_id, is_new=False, at=NOON),
        Written("/Garden/<b>.md", "1", "forgotten", is_new=True, at=NOON - timedelta(days=1)),
    )

    page = Visitor(site).sign_in_here()

    shown = text_of(page)
    assert "Garden/Beds & more/50%.mdchanged by Claude, 30 Nov 2026, 12:00 UTC · Versions" in shown
    assert (
        "Garden/<b>.mdmade by A program without a name, 29 Nov 2026, 12:00 UTC · Versions" in shown
    )
    links = [unescape(url) for url in re.findall(r'href="(https://www[^"]*)"', page.body)]
    assert links == [
        "https://www.dropbox.com/home/Apps/My%20Box/Garden/Beds%20%26%20more?preview=50%25.md",
        "https://www.dropbox.com/history/Apps/My%20Box/Garden/Beds%20%26%20more/50%25.md",
        "https://www.dropbox.com/home/Apps/My%20Box/Garden?preview=%3Cb%3E.md",
        "https://www.dropbox.com/history/Apps/My%20Box/Garden/%3Cb%3E.md",
    ]


def test_no_name_on_the_page_can_hide_characters_or_turn_the_text_beside_it() -> None:
    site = Site()
    site.sign_in(str(site.register(client_name="\u05d0\u202eedualC")["client_id"]))
    [grant] = site.grants.records.values()
    site.grants.records[grant.id] = replace(grant, workspaces=("gar\u200dden", "\u05d1"))
    site.overview = Overview(
        workspaces=(WorkspaceState("gar\u200dden", 1, 0, NOON),),
        unindexed=(Unindexed("gar\u200dden", "\u202edm.gib", SkipReason.TOO_LARGE, None),),
        waiting=0,
        is_current=True,
    )
    site.written = (
        Written("/gar\u200dden/\u202edm.exe.md", "1", grant.client_id, is_new=True, at=NOON),
    )

    page = Visitor(site).sign_in_here()

    assert re.findall(r"<bdi>(.*?)</bdi>", page.body) == [
        "Alice",
        r"gar\u200dden",
        r"gar\u200dden/\u202edm.gib",
        "\u05d0edualC",
        "may read and write in gar\\u200dden, \u05d1",
        r"gar\u200dden/\u202edm.exe.md",
        "\u05d0edualC",
    ]
    assert r'aria-label="Versions of gar\u200dden/\u202edm.exe.md"' in page.body
    assert visible(page.body.replace("\n", "")) == page.body.replace("\n", "")


def test_no_more_than_twenty_writes_are_shown() -> None:
    site = Site()
    site.written = [Written(f"/g/{n}.md", "1", "x", is_new=True, at=NOON) for n in range(30)]

    shown = text_of(Visitor(site).sign_in_here())

    assert "g/19.md" in shown
    assert "g/20.md" not in shown


def test_the_page_says_when_dropbox_did_not_answer() -> None:
    site = Site()
    site.overview = Overview((), (), 0, is_current=False)

    assert "as of the last look" in text_of(Visitor(site).sign_in_here())


def test_the_last_use_is_told_from_the_renewal_of_tokens_without_a_write_of_its_own() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    tokens = site.sign_in(client_id)
    site.clock.sleep(timedelta(days=3).total_seconds())
    site.post(
        "/token",
        {
            "grant_type": "refresh_token",
            "client_id": client_id,
            "refresh_token": tokens["refresh_token"],
        },
    )

    shown = text_of(Visitor(site).sign_in_here())

    assert "connected on 30 Nov 2026 · in use on 3 Dec 2026" in shown


@pytest.mark.requirement("C9")
def test_a_client_that_is_disconnected_is_refused_on_its_next_call() -> None:
    site = Site()
    token = connected(site)["access_token"]
    alice = Visitor(site)
    before = site.mcp(token).status

    answer = alice.change("disconnect", alice.sign_in_here())

    assert (before, site.mcp(token).status) == (200, 401)
    assert (answer.status, answer.headers["location"]) == (303, "/account")
    assert "None." in text_of(alice.get("/account"))


@pytest.mark.requirement("C8")
def test_a_client_that_is_limited_reads_on_and_may_not_write() -> None:
    site = Site()
    token = connected(site)["access_token"]
    alice = Visitor(site)

    page = alice.sign_in_here()
    alice.change("limit", page)

    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    read = site.mcp(token, call | {"params": {"name": "read", "arguments": {}}})
    write = site.mcp(token, call | {"params": {"name": "write", "arguments": {}}})
    assert (read.status, write.status) == (200, 403)
    assert "may only read" in text_of(alice.get("/account"))


def test_a_client_of_somebody_else_is_not_found() -> None:
    site = Site()
    token = connected(site)["access_token"]
    [grant_id] = site.grants.records
    site.dropbox.account_id = BOB
    bob = Visitor(site)
    bob.sign_in_here()
    own_token = field_of("token", bob.get("/account/delete"))
    form = {"token": own_token, "client": grant_id, "change": "disconnect"}

    answer = bob.post("/account/clients", **form)

    assert answer.status == 400
    assert "has ended already" in text_of(answer)
    assert site.mcp(token).status == 200


@pytest.mark.parametrize("change", ["disconnect", "limit"])
@pytest.mark.parametrize("client", ["", "x" * 3_500, "é" * 2_000, "\0\n\u202e", "0" * 24 + "\n"])
def test_a_client_that_no_id_can_name_has_ended_already(client: str, change: str) -> None:
    site = Site()
    connected(site)
    before = dict(site.grants.records)
    alice = Visitor(site)
    token = field_of("token", alice.sign_in_here())

    answer = alice.post("/account/clients", token=token, client=client, change=change)
    unknown = alice.post("/account/clients", token=token, client="0" * 24, change=change)

    assert answer.status == 400
    assert "This connection has ended already." in text_of(answer)
    assert (answer.status, answer.body) == (unknown.status, unknown.body)
    assert site.grants.records == before


@pytest.mark.requirement("D5")
def test_who_deletes_their_data_gets_a_receipt_and_nothing_is_left() -> None:
    site = Site()
    token = connected(site)["access_token"]
    site.belongings.kept[ALICE] = Removed(records=213, files=1)
    alice = Visitor(site)
    alice.sign_in_here()
    asked = alice.get("/account/delete")

    receipt = alice.post("/account/delete", token=field_of("token", asked))

    shown = text_of(receipt)
    for words in (
        "When30 Nov 2026, 12:00 UTC",
        "Assistants disconnected1 connection",
        "214 records deleted",
        "1 index file deleted",
        "Your notes are untouched",
    ):
        assert words in shown
    assert site.mcp(token).status == 401
    assert (site.grants.records, site.belongings.kept, site.visits.records) == ({}, {}, {})
    assert site.dropbox.refresh_tokens == {}
    assert site.looked_after == [ALICE]
    assert "Sign in with Dropbox" in alice.get("/account").body


@pytest.mark.requirement("D5")
def test_nothing_that_was_begun_before_a_deletion_opens_anything_after_it() -> None:
    site = Site()
    client_id = str(site.register()["client_id"])
    code = Visitor(site).sign_in(client_id)
    elsewhere, alice = Visitor(site), Visitor(site)
    for browser in (elsewhere, alice):
        browser.sign_in_here()
    [left, _] = site.visits.records.values()
    asked = alice.get("/account/delete")

    alice.post("/account/delete", token=field_of("token", asked))

    assert (site.codes.records, site.grants.records, site.visits.records) == ({}, {}, {})
    connected(site)
    site.visits.add(left)  # as one that the index of the account did not show yet
    assert site.post("/token", exchange(client_id, code)).json() == {"error": "invalid_grant"}
    assert "Sign in with Dropbox" in elsewhere.get("/account").body
    assert "Sign in with Dropbox" in elsewhere.get("/account/delete").body


@pytest.mark.requirement("D5")
def test_what_a_call_under_way_stored_after_a_deletion_goes_when_it_is_looked_for() -> None:
    site = Site()
    site.belongings.kept[BOB] = Removed(records=2, files=0)

    site.services.deletion().forget(BOB)

    assert site.belongings.kept == {}


@pytest.mark.requirement("D5")
def test_a_deletion_that_was_cut_short_can_be_done_again() -> None:
    site = Site()
    connected(site)
    alice = Visitor(site)
    alice.sign_in_here()
    asked = alice.get("/account/delete")
    site.belongings.is_down = True

    first = alice.post("/account/delete", token=field_of("token", asked))
    site.belongings.is_down = False
    second = alice.post("/account/delete", token=field_of("token", asked))

    assert (first.status, second.status) == (503, 200)


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("path", ["/account/clients", "/account/delete"])
def test_a_form_without_the_token_of_the_page_changes_nothing(path: str) -> None:
    site = Site()
    token = connected(site)["access_token"]
    [grant_id] = site.grants.records
    alice = Visitor(site)
    alice.sign_in_here()

    answer = alice.post(path, token="x" * 43, client=grant_id, change="disconnect")

    assert answer.status == 403
    assert site.mcp(token).status == 200


@pytest.mark.requirement("A2", "C3")
@pytest.mark.parametrize("action", ["sign-in", "sign-out", "clients", "delete"])
def test_a_form_of_another_site_is_refused(action: str) -> None:
    site = Site()
    headers = {**FORM, "origin": "https://evil.example"}

    assert site.call("POST", f"/account/{action}", headers=headers).status == 403


@pytest.mark.requirement("C4")
def test_a_sign_in_that_another_browser_began_shows_nothing() -> None:
    site = Site()
    sent = Visitor(site).post("/account/sign-in").query()
    code = site.dropbox.agree(sent["code_challenge"][0])

    answer = Visitor(site).get("/dropbox/callback", {"state": sent["state"][0], "code": code})

    assert (answer.status, answer.cookies, site.visits.records) == (403, [], {})


def test_the_cookie_of_a_visit_is_for_our_host_alone_and_ends_after_an_hour() -> None:
    site = Site()
    alice = Visitor(site)
    alice.sign_in_here()
    [(name, _)] = [item for item in alice.cookies.items() if "visit" in item[0]]

    site.clock.sleep(3_600)

    assert name == "__Host-memorybox-visit"
    assert "Sign in with Dropbox" in alice.get("/account").body


def test_who_signs_out_is_out_also_with_the_old_cookie() -> None:
    site = Site()
    alice = Visitor(site)
    alice.sign_in_here()
    cookies = dict(alice.cookies)

    alice.post("/account/sign-out")

    assert "Sign in with Dropbox" in Visitor(site, cookies).get("/account").body


def test_who_denies_at_dropbox_reads_what_to_do() -> None:
    alice = Visitor(Site())
    state = alice.post("/account/sign-in").query()["state"][0]

    answer = alice.get("/dropbox/callback", {"state": state, "error": "access_denied"})

    assert answer.status == 400
    assert "Sign in again." in text_of(answer)


@pytest.mark.requirement("B2")
def test_who_is_one_too_many_today_reads_when_to_come_again_and_nothing_is_kept() -> None:
    site = Site(sign_ups_a_day=1)
    connected(site)
    site.dropbox.account_id = BOB
    bob = Visitor(site)
    sent = bob.post("/account/sign-in").query()
    code = site.dropbox.agree(sent["code_challenge"][0])

    answer = bob.get("/dropbox/callback", {"state": sent["state"][0], "code": code})

    assert (answer.status, answer.headers["retry-after"]) == (429, "86400")
    assert "Try again in 24 hours." in text_of(answer)
    assert site.accounts.get(BOB) is None
    assert list(site.dropbox.refresh_tokens.values()) == [ALICE]


@pytest.mark.requirement("D6")
def test_what_is_kept_of_an_account_without_access_to_dropbox_goes_after_thirty_days() -> None:
    site = Site()
    connected(site)
    site.belongings.kept[ALICE] = Removed(records=5, files=1)
    deletion = site.services.deletion()
    site.connections.ended(ALICE, site.connections.access_token(ALICE))

    deletion.forget(ALICE)
    site.clock.sleep(timedelta(days=30).total_seconds())
    deletion.forget(ALICE)
    kept = dict(site.belongings.kept)
    site.clock.sleep(1)
    deletion.forget(ALICE)

    assert (kept, site.belongings.kept) == ({ALICE: Removed(5, 1)}, {})


@pytest.mark.requirement("D6")
def test_an_account_that_is_linked_keeps_everything() -> None:
    site = Site()
    connected(site)
    site.belongings.kept[ALICE] = Removed(records=5, files=1)
    site.clock.sleep(timedelta(days=300).total_seconds())

    site.services.deletion().forget(ALICE)

    assert site.belongings.kept == {ALICE: Removed(5, 1)}
