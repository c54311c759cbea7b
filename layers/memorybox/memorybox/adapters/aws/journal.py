"""The journal of writes on DynamoDB: a ring of items, each put when its writer's turn ends."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.leases import DynamoLeases
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import put
from memorybox.adapters.aws.values import moment, seconds, stamp
from memorybox.files.journal import Written
from memorybox.files.model import FileEntry

TURNS: Final = 64
"""How many turns of the account's writers the ring holds, those that wrote nothing among them."""

KEPT: Final = timedelta(days=30)


class DynamoJournal:
    """The port Journal. A note rides with the release of the writer's lease."""

    def __init__(self, session: Session, leases: DynamoLeases, client_id: str) -> None:
        self._session = session
        self._leases = leases
        self._client_id = client_id

    def note(self, entry: FileEntry, *, is_new: bool) -> None:
        now, turn = self._session.now(), self._leases.turn
        sk = keys.written(turn % TURNS)
        item = {
            **self._session.key(sk),
            "turn": turn,
            "path": entry.path_display,
            "rev": entry.rev,
            "client": self._client_id,
            "is_new": is_new,
            "at": stamp(now),
            "expires_at": seconds(now + KEPT),
        }
        self._session.ride(sk, put(item))


def written(session: Session) -> Sequence[Written]:
    """All that was written in the latest TURNS turns, the newest first."""
    items = list(session.query("begins_with(sk, :written)", written=keys.WRITTEN))
    newest = max((item["turn"] for item in items), default=0)
    since = stamp(session.now() - KEPT)
    return [
        Written(item["path"], item["rev"], item["client"], item["is_new"], moment(item["at"]))
        for item in sorted(items, key=lambda item: -item["turn"])
        if item["turn"] > newest - TURNS and item["at"] > since
    ]
