"""No call to AWS outlasts the request that it is made for.

botocore's own timeouts are for each packet and fixed when a client is made. Here each try of a call
has an end, which is that of the request if it comes first; and the first that fails near the end is
the last.
"""

from typing import TYPE_CHECKING, Any

from botocore.httpsession import URLLib3Session

from memorybox.adapters import sockets
from memorybox.adapters.aws.errors import StorageSilent, is_silence
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline, current, lasting

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse

CONNECT_TIMEOUT = 1.0
READ_TIMEOUT = 3.0
"""Seconds for a whole answer, or for each packet of one that is long."""

LONG_SECONDS = 60.0
"""For the whole of a long one, if nobody waits for it."""

SHORTEST = 0.2
"""Seconds that a call gets even at the very end: what is said last may still be heard."""

MOST_CONNECTIONS = 16  # as many as there may be threads in one process

_LONGEST_PAUSE = 1.0
"""Seconds that botocore may wait before its second try."""


class Exchanges(URLLib3Session):
    """Sends what botocore has signed. Each exchange with AWS takes at most `seconds`."""

    def __init__(self, seconds: float) -> None:
        timeouts: Any = (CONNECT_TIMEOUT, READ_TIMEOUT)  # a pair is not in the stubs
        super().__init__(timeout=timeouts, max_pool_connections=MOST_CONNECTIONS)
        sockets.bind(self._manager)  # type: ignore[attr-defined]  # nor is this
        self._seconds = seconds

    def watch(self, client: Any) -> None:
        """Send whatever this client sends."""
        service = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register(f"before-send.{service}", self._sent)
        client.meta.events.register_first(f"needs-retry.{service}", _give_up)

    def _sent(self, request: "AWSPreparedRequest", **_: object) -> "AWSResponse":
        seconds = self._seconds
        if deadline := current():
            seconds = min(seconds, max(SHORTEST, deadline.remaining()))
        with lasting(Deadline.after(seconds, SystemClock())):
            return self.send(request)


def _give_up(response: Any, caught_exception: Exception | None, **_: object) -> None:
    """Raises StorageSilent where botocore would wait and try once more, and no time is left."""
    deadline = current()
    if deadline is None or deadline.remaining() > _LONGEST_PAUSE:
        return
    if response is None or is_silence(response[1]):
        raise StorageSilent from caught_exception
