"""Half an answer of AWS counts as none.

botocore does not compare the length of a body with the one announced, and takes what it cannot
parse, or a body that is missing, for an answer with nothing in it: there is no such item.
"""

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ConnectionClosedError

from memorybox.adapters.aws.timeouts import Exchanges

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSRequest, AWSResponse


class WholeExchanges(Exchanges):
    """Exchanges with services that speak JSON. An answer that is none is one that got lost."""

    def send(self, request: "AWSRequest | AWSPreparedRequest") -> "AWSResponse":
        response = super().send(request)
        if not _is_object(response.content):
            raise ConnectionClosedError(endpoint_url=response.url)
        return response


def refuse_empty(http_response: "AWSResponse", **_: object) -> None:
    """Take a listing without a body, not even that of an empty one, for a lost one."""
    if not http_response.content:
        raise ConnectionClosedError(endpoint_url=http_response.url)


def _is_object(body: bytes) -> bool:
    """Whether it is a JSON object, of which no beginning is one."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return False
    return isinstance(value, dict)
