"""Signing in with Dropbox, and the access token from then on."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import pytest

from memorybox.accounts.model import DROPBOX_SCOPES, Account, AccountId
from memorybox.accounts.rates import DAY, Gate, LocalBuckets, Rate
from memorybox.accounts.service import Connections
from memorybox.errors import Refused, SignInEnded, Unavailable
from memorybox.oauth.opaque import challenge_of
from tests.fakes.accounts import ALICE, FakeDropbox, InMemoryAccounts, InMemoryVault
from tests.fakes.clock import FakeClock

VERIFIER = "v" * 43


class Deployment:
    """Instances that share the stores, as Lambda runs them."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.accounts = InMemoryAccounts()
        self.dropbox = FakeDropbox(self.clock)
        self.sign_ups = Gate(
            LocalBuckets(self.clock),
            "sign-ups",
            Rate(2, DAY),
            "Too many people are new here today.",
        )
        self._numbers = count(1)

    def instance(self) -> Connections:
        return Connections(
            self.accounts,
            self.dropbox,
            InMemoryVault(),
            self.clock,
            lambda size: next(self._numbers).to_bytes(size, "big"),
            self.sign_ups,
        )

    def sign_in(self, connections: Connections) -> Account:
        code = self.dropbox.agree(challenge_of(VERIFIER))
        return connections.sign_in(code=code, verifier=VERIFIER)


def test_a_sign_in_makes_an_account_with_sealed_tokens() -> None:
    deployment = Deployment()

    account = deployment.sign_in(deployment.instance())

    assert deployment.accounts.get(ALICE) == account
    assert (account.id, account.name, account.link, account.is_linked) == (ALICE, "Alice", 1, True)
    assert len(account.term_key) == 16
    stored = [account.refresh_token or b"", account.access.sealed if account.access else b""]
    assert [made for made in deployment.dropbox.made if made.encode() in b"".join(stored)] == []


def test_a_second_sign_in_keeps_the_term_key() -> None:
    deployment = Deployment()
    first = deployment.sign_in(deployment.instance())

    second = deployment.sign_in(deployment.instance())

    assert (second.term_key, second.link) == (first.term_key, 2)


@pytest.mark.requirement("C5")
def test_a_sign_in_without_a_refresh_token_keeps_the_old_one() -> None:
    deployment = Deployment()
    first = deployment.sign_in(deployment.instance())
    deployment.dropbox.gives_refresh_token = False

    second = deployment.sign_in(deployment.instance())

    assert second.refresh_token == first.refresh_token
    deployment.clock.sleep(4 * 3600)
    assert deployment.instance().access_token(ALICE) == deployment.dropbox.made[-1]


def test_a_first_sign_in_without_a_refresh_token_is_refused() -> None:
    deployment = Deployment()
    deployment.dropbox.gives_refresh_token = False

    with pytest.raises(Refused):
        deployment.sign_in(deployment.instance())

    assert deployment.accounts.get(ALICE) is None


@pytest.mark.requirement("C5")
@pytest.mark.parametrize("missing", sorted(DROPBOX_SCOPES))
def test_a_sign_in_that_allows_less_than_is_needed_is_refused(missing: str) -> None:
    deployment = Deployment()
    deployment.dropbox.scopes = DROPBOX_SCOPES - {missing}

    with pytest.raises(Refused, match=missing):
        deployment.sign_in(deployment.instance())

    assert deployment.accounts.get(ALICE) is None


def test_an_access_token_is_used_until_five_minutes_before_it_expires() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)
    first = connections.access_token(ALICE)

    deployment.clock.sleep(4 * 3600 - 301)
    assert connections.access_token(ALICE) == first
    deployment.clock.sleep(1)
    second = connections.access_token(ALICE)

    assert second != first
    assert deployment.instance().access_token(ALICE) == second
    assert deployment.dropbox.refreshes == 1


def test_another_instance_uses_the_stored_access_token() -> None:
    deployment = Deployment()
    first = deployment.instance()
    deployment.sign_in(first)

    assert deployment.instance().access_token(ALICE) == first.access_token(ALICE)
    assert deployment.dropbox.refreshes == 0


def test_a_refused_access_token_is_not_given_again() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)
    refused = connections.access_token(ALICE)

    fresh = connections.access_token(ALICE, refused=refused)

    assert fresh != refused
    assert connections.access_token(ALICE) == fresh
    assert connections.access_token(ALICE, refused=refused) == fresh
    assert deployment.dropbox.refreshes == 1


def test_while_dropbox_is_down_a_token_is_used_to_its_last_second() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)
    token = connections.access_token(ALICE)
    deployment.dropbox.is_down = True

    deployment.clock.sleep(4 * 3600 - 1)
    assert connections.access_token(ALICE) == token
    with pytest.raises(Unavailable):
        connections.access_token(ALICE, refused=token)
    deployment.clock.sleep(1)
    with pytest.raises(Unavailable):
        connections.access_token(ALICE)


def _linked(deployment: Deployment) -> bool:
    account = deployment.accounts.get(ALICE)
    return account is not None and account.is_linked


def test_when_dropbox_ends_the_access_the_account_is_marked() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)
    token = connections.access_token(ALICE)
    deployment.dropbox.remove_app()

    with pytest.raises(SignInEnded):
        connections.access_token(ALICE, refused=token)

    assert not _linked(deployment)
    with pytest.raises(SignInEnded):
        connections.access_token(ALICE)


def test_a_stranger_has_no_access_token() -> None:
    with pytest.raises(SignInEnded):
        Deployment().instance().access_token(AccountId("dbid:nobody"))


def test_a_refused_token_of_an_earlier_link_does_not_end_a_later_one() -> None:
    deployment = Deployment()
    slow = deployment.instance()
    deployment.sign_in(slow)
    stale = slow.access_token(ALICE)
    deployment.dropbox.remove_app()
    deployment.sign_in(deployment.instance())

    slow.ended(ALICE, stale)

    assert _linked(deployment)
    assert slow.access_token(ALICE) not in (stale, None)


def test_a_sign_in_during_a_failing_refresh_wins() -> None:
    deployment = Deployment()
    deployment.sign_in(deployment.instance())
    deployment.clock.sleep(4 * 3600)
    deployment.dropbox.remove_app()
    meanwhile: list[Callable[[], object]] = [lambda: deployment.sign_in(deployment.instance())]

    class SlowAccounts(InMemoryAccounts):
        def unlink(self, account: Account, *, at: datetime) -> None:
            if meanwhile:
                meanwhile.pop()()
            deployment.accounts.unlink(account, at=at)

        def get(self, account_id: AccountId) -> Account | None:
            return deployment.accounts.get(account_id)

    racing = Connections(
        SlowAccounts(),
        deployment.dropbox,
        InMemoryVault(),
        deployment.clock,
        bytes,
        deployment.sign_ups,
    )

    assert racing.access_token(ALICE) == deployment.dropbox.made[-1]
    assert _linked(deployment)


def test_a_token_that_dropbox_refuses_twice_ends_the_link() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)

    connections.ended(ALICE, connections.access_token(ALICE))

    assert not _linked(deployment)


def test_a_disconnected_account_has_no_access_any_more() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)

    connections.disconnect(ALICE)
    connections.disconnect(ALICE)

    assert not _linked(deployment)
    with pytest.raises(SignInEnded):
        connections.access_token(ALICE)


def test_a_disconnected_account_is_so_although_the_last_sign_in_was_elsewhere() -> None:
    deployment = Deployment()
    connections = deployment.instance()
    deployment.sign_in(connections)
    elsewhere = deployment.instance()
    deployment.sign_in(elsewhere)

    connections.disconnect(ALICE)

    assert not _linked(deployment)
    with pytest.raises(SignInEnded):
        elsewhere.check(ALICE)


def test_a_refresh_that_comes_too_late_does_not_touch_a_newer_link() -> None:
    deployment = Deployment()
    old = deployment.sign_in(deployment.instance())
    new = deployment.sign_in(deployment.instance())
    assert old.access is not None

    deployment.accounts.keep_access(old, old.access)
    deployment.accounts.unlink(old, at=deployment.clock.now())

    assert deployment.accounts.get(ALICE) == new


def test_the_vault_opens_for_the_same_account_and_purpose_alone() -> None:
    vault = InMemoryVault()
    sealed = vault.seal("x", account_id=ALICE, purpose="a")

    assert vault.open(sealed, account_id=ALICE, purpose="a") == "x"
    for account_id, purpose in ((ALICE, "b"), (AccountId("dbid:bob"), "a")):
        with pytest.raises(ValueError, match="another"):
            vault.open(sealed, account_id=account_id, purpose=purpose)


def test_a_token_keeps_its_expiry_when_it_is_stored() -> None:
    deployment = Deployment()

    account = deployment.sign_in(deployment.instance())

    assert account.access is not None
    assert account.access.expires_at == deployment.clock.now() + timedelta(hours=4)


@pytest.mark.requirement("D5", "D6")
def test_a_token_held_in_memory_does_not_outlive_the_record() -> None:
    deployment = Deployment()
    indexer = deployment.instance()
    deployment.sign_in(deployment.instance())
    indexer.access_token(ALICE)
    indexer.check(ALICE)
    deployment.accounts.unlink(_stored(deployment), at=deployment.clock.now())

    with pytest.raises(SignInEnded):
        indexer.check(ALICE)


def test_after_a_new_sign_in_the_token_of_the_earlier_one_is_not_used() -> None:
    deployment = Deployment()
    indexer = deployment.instance()
    deployment.sign_in(deployment.instance())
    before = indexer.access_token(ALICE)
    another = deployment.instance()
    deployment.sign_in(another)

    indexer.check(ALICE)

    assert indexer.access_token(ALICE) == another.access_token(ALICE) != before


def test_a_new_sign_in_ends_the_access_of_the_earlier_one_at_dropbox() -> None:
    deployment = Deployment()
    deployment.sign_in(deployment.instance())
    [first] = deployment.dropbox.refresh_tokens

    connections = deployment.instance()
    deployment.sign_in(connections)

    [second] = deployment.dropbox.refresh_tokens
    assert second != first
    deployment.clock.sleep(timedelta(hours=4).total_seconds())
    connections.access_token(ALICE)
    assert _linked(deployment)


def test_a_sign_in_is_done_though_the_access_of_the_earlier_one_cannot_be_ended() -> None:
    class Deaf(FakeDropbox):
        def revoke(self, access_token: str) -> None:
            raise Unavailable("Dropbox did not answer.")

    deployment = Deployment()
    deployment.dropbox = Deaf(deployment.clock)
    deployment.sign_in(deployment.instance())

    assert deployment.sign_in(deployment.instance()).link == 2
    assert _linked(deployment)


def test_a_sign_in_after_the_app_was_removed_at_dropbox_has_nothing_to_end() -> None:
    deployment = Deployment()
    deployment.sign_in(deployment.instance())
    deployment.dropbox.remove_app()

    deployment.sign_in(deployment.instance())

    assert list(deployment.dropbox.refresh_tokens.values()) == [ALICE]


def test_a_call_under_way_goes_on_with_the_access_of_a_new_sign_in() -> None:
    deployment = Deployment()
    calling, signing_in = deployment.instance(), deployment.instance()
    deployment.sign_in(calling)
    refused = calling.access_token(ALICE)
    deployment.sign_in(signing_in)

    assert calling.access_token(ALICE, refused=refused) == signing_in.access_token(ALICE)
    assert _linked(deployment)


def _stored(deployment: Deployment) -> Account:
    account = deployment.accounts.get(ALICE)
    assert account is not None
    return account
