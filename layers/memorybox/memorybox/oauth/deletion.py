"""Leaving: all that is kept of a person goes, but the folder in their Dropbox, which is theirs."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memorybox.accounts.model import AccountId
from memorybox.accounts.ports import Belongings
from memorybox.accounts.service import Connections
from memorybox.clock import Clock
from memorybox.oauth.store import CodeStore, GrantStore, VisitStore

UNLINKED_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was removed, and when."""

    at: datetime
    connections: int
    records: int
    files: int


@dataclass(frozen=True, slots=True)
class Deletion:
    """In the order in which nothing that was removed can come back.

    A call that is under way may still store something. So `look_later` has `forget` called a while
    after: whatever is there by then, without an account, goes too.
    """

    grants: GrantStore
    codes: CodeStore
    visits: VisitStore
    connections: Connections
    belongings: Callable[[AccountId], Belongings]
    look_later: Callable[[AccountId], None]
    clock: Clock

    def delete(self, account: AccountId) -> Receipt:
        """Remove everything. Raises Unavailable when it could not be finished: do it again."""
        self.connections.disconnect(account)
        found = self.grants.of_account(account)
        for grant in found:
            self.grants.end(grant.id)
        self.codes.forget(account)
        removed = self.belongings(account).remove()
        self.look_later(account)
        self.visits.forget(account)  # last: what was not finished can be done again
        return Receipt(self.clock.now(), len(found), removed.records, removed.files)

    def forget(self, account: AccountId) -> None:
        """Remove what is kept of a stranger, or of somebody who took our access away long ago.

        The grants of the latter end with their next use.
        """
        stored = self.connections.accounts.get(account)
        since = stored.unlinked_at if stored else None
        if stored is None or (since and self.clock.now() - since > UNLINKED_LIFE):
            self.belongings(account).remove()
