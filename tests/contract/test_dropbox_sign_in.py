"""What every DropboxSignIn promises; then what can go wrong between us and Dropbox."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from local.dropbox.accounts import Account
from local.dropbox.faults import Effect, Fault, oauth_error, server_error, too_many_requests
from local.dropbox.server import DropboxEmulator
from local.dropbox.wire import Response
from memorybox.accounts.model import DROPBOX_SCOPES, AccountId
from memorybox.accounts.ports import DropboxSignIn
from memorybox.adapters.dropbox.session import new_session
from memorybox.adapters.dropbox.signin import DropboxOAuth
from memorybox.errors import SignInEnded, Unavailable
from memorybox.files.errors import DropboxSilent
from tests.contract.conftest import REDIRECT_URI
from tests.fakes.accounts import FakeDropbox
from tests.fakes.clock import FakeClock

VERIFIER = "v" * 43
CHALLENGE = (
    urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")  # RFC 7636
)
TOKEN = "oauth2/token"


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with a Dropbox, before whom a sign-in is put."""

    sign_in: DropboxSignIn
    account_id: AccountId
    name: str
    agree: Callable[[], str]
    remove_app: Callable[[], None]
    clock: FakeClock


@dataclass(frozen=True, slots=True)
class Emulated:
    dropbox: DropboxEmulator
    account: Account
    sign_in: DropboxOAuth

    def agree(self) -> str:
        """Follow the link in a browser and press Allow: the code that comes back."""
        self.dropbox.auto_approve = self.account.account_id
        url = self.sign_in.authorize_url(state="the state", challenge=CHALLENGE)
        answer = requests.get(url, allow_redirects=False, timeout=5)
        back = urlsplit(answer.headers["Location"])
        assert f"{back.scheme}://{back.netloc}{back.path}" == REDIRECT_URI
        assert parse_qs(back.query)["state"] == ["the state"]
        return parse_qs(back.query)["code"][0]

    def calls(self, route: str) -> int:
        return self.dropbox.log.count(route)


@pytest.fixture
def emulated(dropbox: DropboxEmulator) -> Iterator[Emulated]:
    dropbox.log.clear()
    with new_session(dropbox.base_url) as session:
        sign_in = DropboxOAuth(
            session=session,
            app_key=dropbox.app.key,
            app_secret=dropbox.app.secret,
            redirect_uri=REDIRECT_URI,
            clock=FakeClock(),
            web=dropbox.base_url,
        )
        yield Emulated(dropbox, dropbox.add_account(), sign_in)


@pytest.fixture(params=["memory", "emulator"])
def person(request: pytest.FixtureRequest) -> Person:
    clock = FakeClock()
    if request.param == "memory":
        fake = FakeDropbox(clock)
        agree = lambda: fake.agree(CHALLENGE)  # noqa: E731
        return Person(fake, fake.account_id, fake.name, agree, fake.remove_app, clock)
    emulated: Emulated = request.getfixturevalue("emulated")
    account_id = AccountId(emulated.account.account_id)
    return Person(
        replace(emulated.sign_in, clock=clock),
        account_id,
        "Ann Example",
        emulated.agree,
        lambda: emulated.dropbox.grants.unlink(account_id),
        clock,
    )


def test_a_code_buys_the_grant_that_the_person_gave(person: Person) -> None:
    grant = person.sign_in.redeem(code=person.agree(), verifier=VERIFIER)

    assert (grant.account_id, grant.name) == (person.account_id, person.name)
    assert grant.scopes == DROPBOX_SCOPES
    assert grant.access.expires_at == person.clock.now() + timedelta(hours=4)
    assert grant.refresh_token


def test_a_code_is_good_once(person: Person) -> None:
    code = person.agree()
    person.sign_in.redeem(code=code, verifier=VERIFIER)

    with pytest.raises(SignInEnded):
        person.sign_in.redeem(code=code, verifier=VERIFIER)


@pytest.mark.parametrize("verifier", ["w" * 43, CHALLENGE])
def test_a_code_is_worth_nothing_without_its_verifier(person: Person, verifier: str) -> None:
    with pytest.raises(SignInEnded):
        person.sign_in.redeem(code=person.agree(), verifier=verifier)


def test_a_refresh_gives_a_new_access_token_and_may_be_repeated(person: Person) -> None:
    grant = person.sign_in.redeem(code=person.agree(), verifier=VERIFIER)
    person.clock.sleep(3600)

    access = [person.sign_in.refresh(grant.refresh_token or "") for _ in range(2)]

    assert len({grant.access.secret, *(token.secret for token in access)}) == 3
    assert {token.expires_at for token in access} == {person.clock.now() + timedelta(hours=4)}


def test_a_person_who_removed_us_has_ended_the_sign_in(person: Person) -> None:
    grant = person.sign_in.redeem(code=person.agree(), verifier=VERIFIER)
    person.remove_app()

    with pytest.raises(SignInEnded):
        person.sign_in.refresh(grant.refresh_token or "")


def test_revoking_ends_the_refresh_token_too_and_twice_is_no_error(person: Person) -> None:
    grant = person.sign_in.redeem(code=person.agree(), verifier=VERIFIER)

    person.sign_in.revoke(grant.access.secret)
    person.sign_in.revoke(grant.access.secret)

    with pytest.raises(SignInEnded):
        person.sign_in.refresh(grant.refresh_token or "")


@pytest.mark.requirement("C5")
def test_the_link_asks_for_offline_access_to_exactly_what_we_need(emulated: Emulated) -> None:
    sign_in = replace(emulated.sign_in, web="https://www.dropbox.com")

    url = urlsplit(sign_in.authorize_url(state="a state", challenge=CHALLENGE))

    assert (url.scheme, url.netloc, url.path) == ("https", "www.dropbox.com", "/oauth2/authorize")
    assert parse_qs(url.query) == {
        "client_id": [emulated.dropbox.app.key],
        "response_type": ["code"],
        "redirect_uri": [REDIRECT_URI],
        "state": ["a state"],
        "token_access_type": ["offline"],
        "scope": ["account_info.read files.content.read files.content.write files.metadata.read"],
        "code_challenge": [CHALLENGE],
        "code_challenge_method": ["S256"],
    }


def test_the_verifier_goes_alone_where_dropbox_does_not_take_both_proofs(
    emulated: Emulated,
) -> None:
    refusal = oauth_error("invalid_request", "client_secret and code_verifier are both given")
    emulated.dropbox.faults.add(Fault(TOKEN, Effect.ANSWER, answer=refusal))

    grant = emulated.sign_in.redeem(code=emulated.agree(), verifier=VERIFIER)

    assert (grant.account_id, emulated.calls(TOKEN)) == (emulated.account.account_id, 2)


def test_a_name_that_dropbox_does_not_tell_is_empty(emulated: Emulated) -> None:
    route = "users/get_current_account"
    emulated.dropbox.faults.add(
        Fault(route, Effect.ANSWER, times=None, answer=server_error()),
    )

    grant = emulated.sign_in.redeem(code=emulated.agree(), verifier=VERIFIER)

    assert (grant.name, emulated.calls(route)) == ("", 2)


NO_ANSWERS = {
    "500": Fault(TOKEN, Effect.ANSWER, answer=server_error()),
    "lost answer": Fault(TOKEN, Effect.LOST_RESPONSE),
    "half an answer": Fault(TOKEN, Effect.HALF_ANSWER),
}


@pytest.mark.parametrize("fault", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_a_refresh_without_an_answer_is_asked_for_again(emulated: Emulated, fault: Fault) -> None:
    refresh_token = emulated.dropbox.grants.issue(emulated.account.account_id)[1]
    emulated.dropbox.faults.add(fault)

    assert emulated.sign_in.refresh(refresh_token).secret
    assert emulated.calls(TOKEN) == 2


@pytest.mark.parametrize("fault", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_a_code_without_an_answer_is_not_spent_again(emulated: Emulated, fault: Fault) -> None:
    emulated.dropbox.faults.add(fault)

    with pytest.raises(DropboxSilent):
        emulated.sign_in.redeem(code=emulated.agree(), verifier=VERIFIER)
    assert emulated.calls(TOKEN) == 1


USELESS = {
    "429": too_many_requests(1),
    "wrong secret": oauth_error("invalid_client"),
    "no JSON": Response(200, b"<html>", "text/html"),
    "no object": Response(200, b"[]", "text/javascript"),
    "nothing in it": Response(200, b"{}", "text/javascript"),
    "no expiry": Response(200, b'{"access_token": "t"}', "text/javascript"),
    "a redirect": Response(302, headers={"Location": "https://elsewhere.example/"}),
}


@pytest.mark.parametrize("answer", USELESS.values(), ids=USELESS)
def test_no_other_answer_ends_the_sign_in(emulated: Emulated, answer: Response) -> None:
    emulated.dropbox.faults.add(Fault(TOKEN, Effect.ANSWER, times=None, answer=answer))
    refresh_token = emulated.dropbox.grants.issue(emulated.account.account_id)[1]

    with pytest.raises(Unavailable):
        emulated.sign_in.refresh(refresh_token)
    with pytest.raises(Unavailable):
        emulated.sign_in.redeem(code=emulated.agree(), verifier=VERIFIER)


def test_a_grant_for_nobody_is_none(emulated: Emulated) -> None:
    answer = Response(
        200, b'{"access_token": "t", "expires_in": 14400, "scope": ""}', "text/javascript"
    )
    emulated.dropbox.faults.add(Fault(TOKEN, Effect.ANSWER, answer=answer))

    with pytest.raises(Unavailable):
        emulated.sign_in.redeem(code="code", verifier=VERIFIER)


def test_a_revocation_without_an_answer_is_unavailable(emulated: Emulated) -> None:
    access = emulated.dropbox.token(emulated.account)
    emulated.dropbox.faults.add(
        Fault("auth/token/revoke", Effect.ANSWER, times=None, answer=server_error())
    )

    with pytest.raises(Unavailable):
        emulated.sign_in.revoke(access)


def test_secrets_have_no_repr(emulated: Emulated) -> None:
    assert emulated.dropbox.app.secret not in repr(emulated.sign_in)
