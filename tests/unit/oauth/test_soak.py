"""Thirty days of many clients: whatever happens on our side, nobody has to sign in again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

import pytest

from memorybox.accounts.rates import DAY, Gate, LocalBuckets, Rate
from memorybox.clock import Clock
from memorybox.errors import Unavailable
from memorybox.oauth.clients import Clients
from memorybox.oauth.errors import OAuthError, Unauthorized
from memorybox.oauth.tokens import Tokens
from tests.fakes.oauth import InMemoryClientDocuments
from tests.unit.oauth.server import CLIENT, ISSUER, Server, form

DAYS = 30
STEP = timedelta(minutes=10)
CLIENTS = 24
MOST_SKEW = 45.0
"""Seconds by which the clocks of two machines may differ."""


class Skewed:
    """The clock of one machine."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._skew = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return self._clock.now() + self._skew

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


@dataclass
class Fleet:
    """The machines that serve at the moment, over the stores that outlive them."""

    server: Server
    random: Random
    deploys: int = 0
    machines: list[Tokens] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.deploy()

    def deploy(self) -> None:
        """New machines, with other clocks, and nothing in memory."""
        self.deploys += 1
        self.machines = [self._machine() for _ in range(3)]

    def any(self) -> Tokens:
        return self.random.choice(self.machines)

    def _machine(self) -> Tokens:
        server = self.server
        clock = Skewed(server.clock, self.random.uniform(-MOST_SKEW, MOST_SKEW))
        clients = Clients(
            configured={},
            store=server.client_store,
            documents=InMemoryClientDocuments(),
            clock=clock,
            random=server.random,
            registrations=Gate(LocalBuckets(clock), "registrations", Rate(1, DAY), "Too many."),
        )
        return Tokens(
            issuer=ISSUER,
            clients=clients,
            codes=server.codes,
            grants=server.grants,
            accounts=server.accounts,
            clock=clock,
            random=server.random,
            access_life=timedelta(hours=8),
        )


@dataclass
class Client:
    """A program that several processes of one person share: each has its own copy of a pair."""

    fleet: Fleet
    random: Random
    pairs: list[Mapping[str, object]]
    sign_ins: int = 0
    refreshes: int = 0

    def use(self) -> None:
        """One process makes a call, and gets itself a new pair if it has to."""
        process = self.random.randrange(len(self.pairs))
        access = f"Bearer {self.pairs[process]['access_token']}"
        try:
            self.fleet.any().check(access)
        except Unauthorized:
            self._refresh(process)
        except Unavailable:
            return  # the call is made again some time

    def _refresh(self, process: int) -> None:
        """All processes that come at once bring the same token; an answer may be lost."""
        self.refreshes += 1
        token = self.pairs[process]["refresh_token"]
        is_race, is_lost = self.random.random() < 0.2, self.random.random() < 0.1
        answers = [self._answer(token) for _ in range(2 if is_race else 1)]
        if is_lost:
            self.fleet.server.clock.sleep(self.random.uniform(1, 30))
            answers = [self._answer(token)]
        if answers[-1] is not None:
            self.pairs[:] = [answers[-1]] * len(self.pairs)

    def _answer(self, token: object) -> Mapping[str, object] | None:
        try:
            return self.fleet.any().issue(
                form(grant_type="refresh_token", client_id=CLIENT.id, refresh_token=str(token)),
                None,
            )
        except Unavailable:
            return None  # tried again at the next use, with the same token
        except OAuthError:
            self.sign_ins += 1
            raise


@pytest.mark.requirement("A9", "A14")
@pytest.mark.parametrize("seed", range(4))
def test_in_thirty_days_nobody_is_made_to_sign_in_again(seed: int) -> None:
    random, server = Random(seed), Server()
    fleet = Fleet(server, random)
    clients = [
        Client(fleet, random, [server.exchange(server.code())] * random.randint(1, 3))
        for _ in range(CLIENTS)
    ]
    began = server.clock.now()

    while server.clock.now() - began < timedelta(days=DAYS):
        server.clock.sleep(STEP.total_seconds())
        if random.random() < 0.01:
            fleet.deploy()
        server.outage.is_on = random.random() < 0.02
        for client in clients:
            if random.random() < 0.1:
                client.use()

    assert [client.sign_ins for client in clients] == [0] * CLIENTS
    assert fleet.deploys > 20
    assert sum(client.refreshes for client in clients) > DAYS * CLIENTS
