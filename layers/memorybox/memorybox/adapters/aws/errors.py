"""What AWS answers, as our errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
)

from memorybox.errors import Unavailable

_THROTTLED = frozenset(
    {
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)


class StorageSilent(Unavailable):
    """An AWS service did not answer, or asks to wait."""

    def __init__(self) -> None:
        super().__init__("Memory Box cannot reach its own storage. Try again in a minute.")


@contextmanager
def aws_errors() -> Iterator[None]:
    """Turn silence, failures and throttling into StorageSilent. Other answers pass as they are."""
    try:
        yield
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or code_of(error) in _THROTTLED:
            raise StorageSilent from error
        raise
    except (ConnectionError, HTTPClientError, IncompleteReadError) as error:
        raise StorageSilent from error


def code_of(error: ClientError) -> str:
    return error.response["Error"]["Code"]
