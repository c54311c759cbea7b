"""The stores of the authorization server, in memory, and a web of client documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Lock

from memorybox.accounts.model import AccountId
from memorybox.errors import Unavailable
from memorybox.oauth.documents import DocumentUnavailable, FetchedDocument
from memorybox.oauth.model import AuthorizationCode, Client, Grant, Transaction, Visit

LONGEST_KEY = 2_048
"""Bytes of a partition key in DynamoDB."""


def _no_step() -> None:
    """Nothing waits for a turn."""


class InMemoryClientStore:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self.records: dict[str, Client] = {}
        self._step = step

    def get(self, client_id: str) -> Client | None:
        self._step()
        return self.records.get(client_id)

    def save(self, client: Client) -> None:
        self._step()
        self.records[client.id] = client


class InMemoryTransactionStore:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self.records: dict[str, Transaction] = {}
        self._taken: dict[str, str] = {}
        self._lock = Lock()
        self._step = step

    def add(self, transaction: Transaction) -> None:
        self._step()
        self.records[transaction.key] = transaction

    def get(self, key: str) -> Transaction | None:
        self._step()
        return None if key in self._taken else self.records.get(key)

    def take(self, key: str, *, request_id: str) -> bool:
        self._step()
        with self._lock:
            return key in self.records and self._taken.setdefault(key, request_id) == request_id


class InMemoryCodeStore:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self.records: dict[str, AuthorizationCode] = {}
        self._lock = Lock()
        self._step = step

    def add(self, code: AuthorizationCode) -> None:
        self._step()
        self.records[code.key] = code

    def get(self, key: str) -> AuthorizationCode | None:
        self._step()
        return self.records.get(key)

    def use(self, key: str, *, request_id: str) -> bool:
        self._step()
        with self._lock:
            code = self.records.get(key)
            if code is None:
                return False
            if code.used_by is None:
                code = self.records[key] = replace(code, used_by=request_id)
            return code.used_by == request_id

    def forget(self, account_id: AccountId) -> None:
        self._step()
        for code in [code for code in self.records.values() if code.account_id == account_id]:
            del self.records[code.key]


class InMemoryGrantStore:
    """Breaks on an id that is too long for a key, as a table does."""

    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self.records: dict[str, Grant] = {}
        self._ended: set[str] = set()
        self._lock = Lock()
        self._step = step

    def get(self, grant_id: str) -> Grant | None:
        self._step()
        if len(grant_id.encode()) > LONGEST_KEY:
            raise ValueError("the key is too long")
        return self.records.get(grant_id)

    def add(self, grant: Grant) -> bool:
        self._step()
        with self._lock:
            if grant.id in self._ended:
                return False
            return self.records.setdefault(grant.id, grant).written_by == grant.written_by

    def replace(self, grant: Grant) -> bool:
        self._step()
        with self._lock:
            stored = self.records.get(grant.id)
            if stored is not None and stored.version == grant.version - 1:
                stored = self.records[grant.id] = grant
            return stored is not None and (stored.version, stored.written_by) == (
                grant.version,
                grant.written_by,
            )

    def end(self, grant_id: str) -> None:
        self._step()
        with self._lock:
            self._ended.add(grant_id)
            self.records.pop(grant_id, None)

    def of_account(self, account_id: AccountId) -> Sequence[Grant]:
        self._step()
        grants = [grant for grant in self.records.values() if grant.account_id == account_id]
        return sorted(grants, key=lambda grant: grant.created_at)


class InMemoryVisitStore:
    def __init__(self, step: Callable[[], None] = _no_step) -> None:
        self.records: dict[str, Visit] = {}
        self._step = step

    def add(self, visit: Visit) -> None:
        self._step()
        self.records[visit.key] = visit

    def get(self, key: str) -> Visit | None:
        self._step()
        return self.records.get(key)

    def end(self, key: str) -> None:
        self._step()
        self.records.pop(key, None)

    def forget(self, account_id: AccountId) -> None:
        self._step()
        for visit in [visit for visit in self.records.values() if visit.account_id == account_id]:
            del self.records[visit.key]


class InMemoryClientDocuments:
    """Serves the pages it was given, and counts how often it was asked."""

    def __init__(
        self, pages: Mapping[str, bytes] | None = None, fresh_for: timedelta = timedelta(hours=1)
    ) -> None:
        self._pages = dict(pages or {})
        self._fresh_for = fresh_for
        self.fetches = 0

    def fetch(self, url: str) -> FetchedDocument:
        self.fetches += 1
        if url not in self._pages:
            raise DocumentUnavailable("status 403")
        return FetchedDocument(self._pages[url], self._fresh_for)


class Outage:
    """A step that fails while `is_on`."""

    is_on = False

    def __call__(self) -> None:
        if self.is_on:
            raise Unavailable("The store did not answer.")
