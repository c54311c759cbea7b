"""What every BudgetLedger promises: in memory and on DynamoDB."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.session import Session
from memorybox.deadline import Deadline
from memorybox.search.budget import (
    BudgetLedger,
    BudgetSpent,
    DeploymentBudgetSpent,
    Month,
    Reservation,
    Spending,
)
from tests.fakes.clock import FakeClock
from tests.fakes.search import InMemoryBudgetLedger

CAP = 1_000
LAST_SECOND = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
NOVEMBER, DECEMBER = Month("2026-11"), Month("2026-12")

Opened = Callable[[FakeClock], BudgetLedger]


@pytest.fixture(params=["memory", "dynamodb"])
def ledger_at(request: pytest.FixtureRequest, account: AccountId) -> Opened:
    if request.param == "memory":
        return lambda clock: InMemoryBudgetLedger(clock, cap=CAP)
    clients: Clients = request.getfixturevalue("clients")

    def opened(clock: FakeClock) -> BudgetLedger:
        session = Session(
            clients.dynamodb, aws.MEMORY_TABLE, account, Deadline.after(10_000, clock)
        )
        return DynamoBudget(session, account_cap=CAP, deployment_cap=10**12)

    return opened


def test_tokens_up_to_the_cap_are_granted_and_not_one_more(ledger_at: Opened) -> None:
    ledger = ledger_at(FakeClock())

    granted = ledger.reserve(CAP)
    with pytest.raises(BudgetSpent) as refused:
        ledger.reserve(1)

    assert granted == Reservation(NOVEMBER, CAP)
    assert refused.value.month == NOVEMBER
    assert not isinstance(refused.value, DeploymentBudgetSpent)


def test_a_refused_reservation_holds_nothing_back(ledger_at: Opened) -> None:
    ledger = ledger_at(FakeClock())
    ledger.reserve(400)

    with pytest.raises(BudgetSpent):
        ledger.reserve(601)

    assert ledger.reserve(600).tokens == 600


def test_what_was_not_used_is_given_back(ledger_at: Opened) -> None:
    ledger = ledger_at(FakeClock())
    reservation = ledger.reserve(CAP)

    ledger.settle(Spending(reservation, used=250))

    assert ledger.reserve(750).tokens == 750
    with pytest.raises(BudgetSpent):
        ledger.reserve(1)


def test_more_than_was_reserved_gives_nothing_back(ledger_at: Opened) -> None:
    ledger = ledger_at(FakeClock())

    ledger.settle(Spending(ledger.reserve(500), used=501))

    assert ledger.reserve(500).tokens == 500


@pytest.mark.promise("P-070")
def test_a_month_that_ended_is_settled_in_its_own_counter(ledger_at: Opened) -> None:
    clock = FakeClock(LAST_SECOND)
    ledger = ledger_at(clock)
    old = ledger.reserve(CAP)
    clock.sleep(2)
    new = ledger.reserve(CAP)

    ledger.settle(Spending(old, used=0))

    assert (old.month, new.month) == (NOVEMBER, DECEMBER)
    with pytest.raises(BudgetSpent):
        ledger.reserve(1)


def test_a_text_larger_than_the_cap_is_refused_at_once(ledger_at: Opened) -> None:
    with pytest.raises(BudgetSpent):
        ledger_at(FakeClock()).reserve(CAP + 1)


@pytest.mark.promise("P-070", "P-209")
@pytest.mark.promise("P-070")
def test_the_cap_holds_however_many_ask_at_once(ledger_at: Opened) -> None:
    ledger = ledger_at(FakeClock())

    def ask(_: int) -> int:
        try:
            return ledger.reserve(70).tokens
        except BudgetSpent:
            return 0

    with ThreadPoolExecutor(8) as askers:
        granted = sum(askers.map(ask, range(24)))

    assert granted == 980
