"""Where the authorization server keeps its records.

Every method is one read or one conditional write of one item, and may raise `Unavailable`. Reads
are consistent. Records past their expiry may still be returned: the rules compare the times.

A `request_id` is random, and new for each request that we serve. A store may repeat a write whose
answer was lost; it then finds its own `request_id` in the item, and reports the success that
nobody heard of.
"""

from collections.abc import Sequence
from typing import Protocol

from memorybox.accounts.model import AccountId
from memorybox.oauth.model import AuthorizationCode, Client, Grant, Transaction, Visit


class ClientStore(Protocol):
    """Clients by id; ids are up to 2,048 characters."""

    def get(self, client_id: str) -> Client | None:
        """The client, or None."""

    def save(self, client: Client) -> None:
        """Store it in the place of any client with this id."""


class TransactionStore(Protocol):
    """Authorizations under way, by key. Each can be taken once."""

    def add(self, transaction: Transaction) -> None:
        """Store it; its key is random and new."""

    def get(self, key: str) -> Transaction | None:
        """The transaction while nobody has taken it, or None."""

    def take(self, key: str, *, request_id: str) -> bool:
        """True for the one request that takes it, False for all others and for a missing one."""


class CodeStore(Protocol):
    """Authorization codes, by key. Each can be used once."""

    def add(self, code: AuthorizationCode) -> None:
        """Store it; its key is random and new."""

    def get(self, key: str) -> AuthorizationCode | None:
        """The code, used or not, or None. Remembered until `forget_at`."""

    def use(self, key: str, *, request_id: str) -> bool:
        """Set `used_by` if it is absent: True if it is `request_id` now, False otherwise."""

    def forget(self, account_id: AccountId) -> None:
        """Remove those of an account, used or not. May miss those of the last moments."""


class GrantStore(Protocol):
    """Grants, by id."""

    def get(self, grant_id: str) -> Grant | None:
        """The grant, or None if there is none or it has ended."""

    def add(self, grant: Grant) -> bool:
        """Store a new grant. False, and nothing written, if its id was ended before it came."""

    def replace(self, grant: Grant) -> bool:
        """Store `grant` if the stored version is the one before its own (compare-and-set).

        False, and nothing written, if it is another version or the grant has ended. True if what
        is stored already is this version written by this very request (`written_by`).
        """

    def end(self, grant_id: str) -> None:
        """From now on there is no such grant, and none can be added with this id.

        A missing one is no error: the replay of a code may be seen before its grant is stored.
        What is kept of an ended grant is its id, for a day.
        """

    def of_account(self, account_id: AccountId) -> Sequence[Grant]:
        """The grants of an account, oldest first. May miss those of the last moments."""


class VisitStore(Protocol):
    """Visits, by key."""

    def add(self, visit: Visit) -> None:
        """Store it; its key is random and new."""

    def get(self, key: str) -> Visit | None:
        """The visit, or None if there is none or it has ended."""

    def end(self, key: str) -> None:
        """From now on there is no such visit. A missing one is no error."""

    def forget(self, account_id: AccountId) -> None:
        """Remove those of an account. May miss those of the last moments."""
