"""What AWS answers, as our errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
)
from botocore.parsers import ResponseParserError

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
        if is_silence(error.response):
            raise StorageSilent from error
        raise
    except (ConnectionError, HTTPClientError, IncompleteReadError, ResponseParserError) as error:
        raise StorageSilent from error


def is_silence(answer: Mapping[str, Any]) -> bool:
    """Whether an answer, as botocore reads it, is a failure of AWS, or asks to wait."""
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    code = answer.get("Error", {}).get("Code")
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _THROTTLED


def code_of(error: ClientError) -> str:
    return error.response["Error"]["Code"]
