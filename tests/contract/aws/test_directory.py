"""The directory of linked accounts."""

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.directory import DynamoDirectory
from memorybox.clock import SystemClock


def test_the_directory_names_every_account_that_was_added_and_not_removed(
    clients: Clients, account: AccountId
) -> None:
    directory = DynamoDirectory(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())
    added = [AccountId(f"{account}-{number}") for number in range(40)]
    for account_id in [*added, added[0]]:
        directory.add(account_id)
    for account_id in [added[1], AccountId(f"{account}-stranger")]:
        directory.remove(account_id)

    ours = [
        name for name in directory.accounts() if name.startswith(account)
    ]  # others use the same table
    assert sorted(ours) == sorted([added[0], *added[2:]])


def test_whoever_stopped_at_an_account_goes_on_behind_it_although_it_is_gone(
    clients: Clients, account: AccountId
) -> None:
    directory = DynamoDirectory(clients.dynamodb, aws.MEMORY_TABLE, SystemClock())

    def ours(after: AccountId | None = None) -> list[AccountId]:
        return [name for name in directory.accounts(after) if name.startswith(account)]

    for number in range(12):
        directory.add(AccountId(f"{account}-{number}"))
    everybody = ours()
    for number, last in enumerate(everybody):
        directory.remove(last)
        assert ours(last) == everybody[number + 1 :]
