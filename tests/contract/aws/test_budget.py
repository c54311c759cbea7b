"""The counters of the deployment behind the ledgers of all accounts."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.budget import LEAST_SHARD, DynamoBudget, DynamoSpending
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.guard import acting_for
from memorybox.adapters.aws.session import Session
from memorybox.clock import Clock
from memorybox.deadline import Deadline
from memorybox.search.budget import BudgetSpent, DeploymentBudgetSpent, Spending, month_of
from tests.fakes.clock import FakeClock


def a_budget(
    clients: Clients,
    account: AccountId,
    *,
    account_cap: int = 10**15,
    deployment_cap: int = 10**15,
    clock: Clock,
) -> DynamoBudget:
    deadline = Deadline.after(60, clock)
    session = Session(clients.dynamodb, aws.MEMORY_TABLE, account, deadline)
    return DynamoBudget(session, account_cap=account_cap, deployment_cap=deployment_cap)


def granted(budget: DynamoBudget, tokens: int) -> bool:
    try:
        budget.reserve(tokens)
    except BudgetSpent:
        return False
    return True


@pytest.mark.promise("P-071", "P-209")
def test_the_cap_of_the_deployment_holds_for_all_accounts_together(
    clients: Clients, account: AccountId
) -> None:
    cap, tokens = 8 * LEAST_SHARD, LEAST_SHARD // 3
    clock = FakeClock(datetime(2031, 1, 1, tzinfo=UTC))  # a month that no other test spends

    def ask(number: int) -> bool:
        other = AccountId(f"{account}-{number}")
        return granted(a_budget(clients, other, deployment_cap=cap, clock=clock), tokens)

    with ThreadPoolExecutor(8) as callers:
        outcomes = list(callers.map(ask, range(30)))

    assert outcomes.count(True) == 8 * 3
    with pytest.raises(DeploymentBudgetSpent):
        a_budget(clients, account, deployment_cap=cap, clock=clock).reserve(tokens)


def test_what_the_deployment_could_not_grant_is_not_taken_from_the_account(
    clients: Clients, account: AccountId
) -> None:
    clock = FakeClock(datetime(2031, 2, 1, tzinfo=UTC))
    with pytest.raises(DeploymentBudgetSpent):
        a_budget(clients, account, account_cap=100, deployment_cap=99, clock=clock).reserve(100)

    a_budget(clients, account, account_cap=100, clock=clock).reserve(100)


def test_what_the_deployment_spends_is_the_sum_of_all_accounts(
    clients: Clients, account: AccountId
) -> None:
    clock = FakeClock(datetime(2032, 1, 1, tzinfo=UTC))
    spending = DynamoSpending(clients.dynamodb, aws.MEMORY_TABLE, clock)
    before = spending.of(month_of(clock.now()))

    for number in range(20):
        a_budget(clients, AccountId(f"{account}-{number}"), clock=clock).reserve(7)

    assert (before, spending.of(month_of(clock.now()))) == (0, 140)


def test_the_counter_of_a_month_goes_a_day_after_it(clients: Clients, account: AccountId) -> None:
    clock = FakeClock(datetime(2031, 12, 31, 23, 59, tzinfo=UTC))
    budget = a_budget(clients, account, clock=clock)

    reservation = budget.reserve(10)
    budget.settle(Spending(reservation, used=4))

    with acting_for(account):
        found = clients.dynamodb.get_item(
            TableName=aws.MEMORY_TABLE,
            Key={"pk": {"S": keys.spending_of(account)}, "sk": {"S": "budget#2031-12"}},
        )
    assert found["Item"]["spent"] == {"N": "4"}
    day_after = datetime(2032, 1, 2, tzinfo=UTC)
    assert found["Item"]["expires_at"] == {"N": str(int(day_after.timestamp()))}
