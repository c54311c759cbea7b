"""Requests of accounts on the emulated AWS."""

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.commands import DynamoCommandLog
from memorybox.adapters.aws.index import DynamoIndexStore
from memorybox.adapters.aws.journal import DynamoJournal
from memorybox.adapters.aws.leases import DynamoLeases
from memorybox.adapters.aws.session import Session
from memorybox.clock import Clock, SystemClock
from memorybox.deadline import Deadline
from tests.contract.aws.world import ACCOUNT_CAP, Request, RequestOf


@pytest.fixture
def request_of(clients: Clients, account: AccountId) -> RequestOf:
    def begin(
        of: AccountId = account, clock: Clock | None = None, client_id: str = "client"
    ) -> Request:
        deadline = Deadline.after(25, clock or SystemClock())
        session = Session(clients.dynamodb, aws.MEMORY_TABLE, of, deadline)
        budget = DynamoBudget(session, account_cap=ACCOUNT_CAP, deployment_cap=10**12)
        index = DynamoIndexStore(session, budget)
        leases = DynamoLeases(session)
        journal = DynamoJournal(session, leases, client_id)
        return Request(session, budget, index, leases, journal, DynamoCommandLog(session))

    return begin
