"""Leases on DynamoDB: an item says who holds one, and until when."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.errors import StorageSilent
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import ConditionFailed, update
from memorybox.adapters.aws.values import stamp
from memorybox.deadline import Deadline
from memorybox.files.leases import LAST_TURN, TurnNeverCame

_LONGEST_PAUSE = 0.4  # seconds between two tries


class DynamoLeases:
    """The ports Leases and IndexLeases.

    An ended lease is given back with the request's next transaction, or when its session closes.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._fences: dict[str, int] = {}

    @property
    def turn(self) -> int:
        """The number of the turn that this request has, or had last, to write to the account."""
        return self._fences[keys.WRITER_LEASE]

    @contextmanager
    def writer(self) -> Iterator[None]:
        if not self._wait(keys.WRITER_LEASE, self._session.deadline.earlier(LAST_TURN)):
            raise TurnNeverCame
        try:
            yield
        finally:
            self._give_back(keys.WRITER_LEASE)

    @contextmanager
    def indexer(self, deadline: Deadline) -> Iterator[bool]:
        if not self._wait(keys.INDEX_LEASE, deadline):
            yield False
            return
        try:
            yield True
        finally:
            self._give_back(keys.INDEX_LEASE)

    def _wait(self, sk: str, deadline: Deadline) -> bool:
        pause = 0.025
        while not self._take(sk):
            if deadline.has_passed:
                return False
            jitter = 0.5 + secrets.randbelow(500) / 1_000
            self._session.deadline.clock.sleep(min(pause * jitter, deadline.remaining()))
            pause = min(2 * pause, _LONGEST_PAUSE)
        return True

    def _take(self, sk: str) -> bool:
        self._session.recall(sk)
        try:
            held = self._session.apply(
                update(
                    self._session.key(sk),
                    "SET holder = :me, ends = :ends, fence = if_not_exists(fence, :zero) + :one",
                    "attribute_not_exists(holder) OR ends <= :now OR holder = :me",
                    me=self._session.id,
                    ends=stamp(self._session.ends(self._session.deadline)),
                    now=stamp(self._session.now()),
                    zero=0,
                    one=1,
                )
            )
        except ConditionFailed:
            return False
        except StorageSilent:
            self._give_back(sk)  # it may be ours all the same
            raise
        self._fences[sk] = held["fence"]
        return True

    def _give_back(self, sk: str) -> None:
        release = update(
            self._session.key(sk), "REMOVE holder, ends", "holder = :me", me=self._session.id
        )
        self._session.ride(sk, release)
