"""The authorization server without its pages."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import count

import pytest

from memorybox.accounts.model import Account, AccountId, SealedAccess, SignedIn
from memorybox.accounts.rates import DAY, Gate, LocalBuckets, Rate
from memorybox.oauth.clients import Clients
from memorybox.oauth.errors import OAuthError
from memorybox.oauth.metadata import Issuer
from memorybox.oauth.model import (
    ALL_SCOPES,
    AuthorizationCode,
    AuthorizationRequest,
    Client,
    Origin,
    Scopes,
)
from memorybox.oauth.opaque import challenge_of, digest, new_id, new_secret
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.tokens import Tokens
from tests.fakes.accounts import InMemoryAccounts
from tests.fakes.clock import FakeClock
from tests.fakes.oauth import (
    InMemoryClientDocuments,
    InMemoryClientStore,
    InMemoryCodeStore,
    InMemoryGrantStore,
    Outage,
)

ISSUER = Issuer("https://memory.example")
CALLBACK = "https://claude.ai/api/mcp/auth_callback"
VERIFIER = "v" * 64
ALICE = AccountId("dbid:alice")
CLIENT = Client("client_1", "Claude", (CALLBACK,), Origin.REGISTERED)
OTHER = Client("client_2", "Other", (CALLBACK,), Origin.REGISTERED)


class Server:
    """`CLIENT` and `OTHER` are known, and codes can be had without a browser."""

    def __init__(
        self,
        documents: InMemoryClientDocuments | None = None,
        *,
        tokens: type[Tokens] = Tokens,
        outage: Outage | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.outage = outage or Outage()
        self.client_store = InMemoryClientStore(self.outage)
        self.codes = InMemoryCodeStore(self.outage)
        self.grants = InMemoryGrantStore(self.outage)
        self.accounts = InMemoryAccounts(self.outage)
        self.random = counted()
        self.clients = Clients(
            configured={},
            store=self.client_store,
            documents=documents or InMemoryClientDocuments(),
            clock=self.clock,
            random=self.random,
            registrations=Gate(
                LocalBuckets(self.clock),
                "registrations",
                Rate(2_000, DAY),
                "Too many programs have registered today.",
            ),
        )
        self.tokens = tokens(
            issuer=ISSUER,
            clients=self.clients,
            codes=self.codes,
            grants=self.grants,
            accounts=self.accounts,
            clock=self.clock,
            random=self.random,
            access_life=timedelta(hours=8),
        )
        for client in (CLIENT, OTHER):
            self.client_store.save(client)
        self.account = self.sign_in()

    def sign_in(self) -> Account:
        """Alice signs in with Dropbox."""
        access = SealedAccess(b"access", self.clock.now())
        return self.accounts.link(SignedIn(ALICE, "Alice", b"refresh", access, b"key"))

    def code(self, client: Client = CLIENT, scopes: Scopes = ALL_SCOPES) -> str:
        """A code that a person has just agreed to."""
        code, now = new_secret(self.random), self.clock.now()
        request = AuthorizationRequest(
            client_id=client.id,
            redirect_uri=CALLBACK,
            state=None,
            challenge=challenge_of(VERIFIER),
            resource=ISSUER.resource,
            scopes=scopes,
        )
        self.codes.add(
            AuthorizationCode(
                key=digest(code),
                grant_id=new_id(self.random),
                account_id=ALICE,
                link=self.account.link,
                request=request,
                expires_at=now + timedelta(seconds=60),
                forget_at=now + timedelta(minutes=10),
            )
        )
        return code

    def exchange(self, code: str, **changed: str) -> Mapping[str, object]:
        return self.issue(grant_type="authorization_code", code=code, **_EXCHANGE | changed)

    def refresh(self, token: object, **changed: str) -> Mapping[str, object]:
        fields = {"client_id": CLIENT.id} | changed
        return self.issue(grant_type="refresh_token", refresh_token=str(token), **fields)

    def issue(self, **fields: str) -> Mapping[str, object]:
        """A POST to /token. A parameter with no value is not sent."""
        return self.tokens.issue(form(**fields), None)

    def revoke(self, token: object, **changed: str) -> None:
        fields = {"client_id": CLIENT.id} | changed
        self.tokens.revoke(form(token=str(token), **fields), None)

    def works(self, answer: Mapping[str, object]) -> bool:
        """Whether both tokens of an answer are good; the refresh token is not used."""
        grant = self.grants.get(str(answer["refresh_token"])[7:31])
        return (
            grant is not None
            and digest(str(answer["access_token"])) in grant.access
            and digest(str(answer["refresh_token"])) in grant.refresh
        )


_EXCHANGE = {"client_id": CLIENT.id, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}


def form(**fields: str) -> Parameters:
    return Parameters({name: value for name, value in fields.items() if value}, frozenset())


def refused(call: Callable[[], object]) -> str:
    """The error code that `call` is answered with."""
    with pytest.raises(OAuthError) as caught:
        call()
    return caught.value.code


def counted() -> Callable[[int], bytes]:
    """Bytes that never repeat."""
    numbers = count(1)
    return lambda size: next(numbers).to_bytes(size, "big")
