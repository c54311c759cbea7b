"""The clients of the AWS services: one of each in a process, made when it is first needed."""

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
from botocore.config import Config

from memorybox.adapters.aws.guard import Guard
from memorybox.adapters.aws.timeouts import LONG_SECONDS, READ_TIMEOUT, Exchanges
from memorybox.adapters.aws.whole import WholeExchanges, refuse_empty

if TYPE_CHECKING:
    from botocore.client import BaseClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient

C = TypeVar("C", bound="BaseClient")

_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 2},
    response_checksum_validation="when_required",  # packs have a checksum of their own
)


class Clients:
    """Guarded clients. Region, credentials and endpoint are found by boto3, or given by name."""

    def __init__(self, guard: Guard, **connection: Any) -> None:
        self._guard = guard
        self._connection = connection
        self._short, self._long = WholeExchanges(READ_TIMEOUT), Exchanges(LONG_SECONDS)
        # At DEBUG it logs whole requests and answers: keys, tokens, names.
        logging.getLogger("botocore").setLevel(logging.INFO)

    @cached_property
    def dynamodb(self) -> "DynamoDBClient":
        client = self._small(boto3.client("dynamodb", config=_CONFIG, **self._connection))
        self._guard.watch_dynamodb(client)
        return client

    @cached_property
    def s3(self) -> "S3Client":
        client = boto3.client("s3", config=_CONFIG, **self._connection)
        self._guard.watch_s3(client)
        self._long.watch(client)
        for listing in ("ListObjectsV2", "ListObjectVersions"):
            client.meta.events.register(f"after-call.s3.{listing}", refuse_empty)
        return client

    @cached_property
    def sqs(self) -> "SQSClient":
        return self._small(boto3.client("sqs", config=_CONFIG, **self._connection))

    @cached_property
    def kms(self) -> "KMSClient":
        return self._small(boto3.client("kms", config=_CONFIG, **self._connection))

    @cached_property
    def ssm(self) -> "SSMClient":
        return self._small(boto3.client("ssm", config=_CONFIG, **self._connection))

    def _small(self, client: C) -> C:
        """A client of a JSON service that does not take half an answer for a whole one."""
        self._short.watch(client)
        return client
