"""The clients that a person has connected, as the person sees and ends them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memorybox.accounts.model import AccountId
from memorybox.clock import Clock
from memorybox.errors import Refused, Unavailable
from memorybox.oauth import grants
from memorybox.oauth.clients import Clients
from memorybox.oauth.model import READ, WRITE, Grant
from memorybox.oauth.opaque import Random, is_id, new_id
from memorybox.oauth.store import GrantStore

_MAX_TRIES = 8


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """One grant, in words. A client that is in use renews its token every few hours."""

    grant_id: str
    name: str
    may_write: bool
    workspaces: tuple[str, ...]
    since: datetime
    renewed_at: datetime


@dataclass(frozen=True, slots=True)
class ConnectedClients:
    """Every method takes the account from a visit: a grant of another one is not found."""

    grants: GrantStore
    clients: Clients
    clock: Clock
    random: Random

    def of(self, account: AccountId) -> Sequence[ConnectedClient]:
        """Those that may still call, the latest in use first."""
        now = self.clock.now()
        found = [
            ConnectedClient(
                grant_id=grant.id,
                name=self.clients.name_of(grant.client_id),
                may_write=WRITE in grant.scopes,
                workspaces=grant.workspaces,
                since=grant.created_at,
                renewed_at=grants.renewed_at(grant),
            )
            for grant in self.grants.of_account(account)
            if grant.expires_at > now
        ]
        return sorted(found, key=lambda client: client.renewed_at, reverse=True)

    def disconnect(self, account: AccountId, grant_id: str) -> None:
        """From its next call on, the client has to sign in again."""
        self.grants.end(self._own(account, grant_id).id)

    def limit(self, account: AccountId, grant_id: str) -> None:
        """From its next call on, the client can read only. To write, it has to sign in again."""
        for _ in range(_MAX_TRIES):
            grant = self._own(account, grant_id)
            limited = grants.limited(grant, frozenset({READ}), request_id=new_id(self.random))
            if self.grants.replace(limited):
                return
        raise Unavailable("Too many changes of one grant at once.")

    def _own(self, account: AccountId, grant_id: str) -> Grant:
        grant = self.grants.get(grant_id) if is_id(grant_id) else None
        if grant is None or grant.account_id != account:
            raise Refused("This connection has ended already.")
        return grant
