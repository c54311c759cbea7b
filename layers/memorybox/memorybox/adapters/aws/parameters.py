"""The secrets of the deployment, from the parameter store of Systems Manager."""

from datetime import timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from memorybox.adapters.aws.errors import aws_errors, code_of
from memorybox.adapters.aws.threads import side_by_side
from memorybox.clock import Clock
from memorybox.settings import Secrets

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

NAMES = (
    "clients",
    "dropbox-app-key",
    "dropbox-app-secret",
    "dropbox-app-secret-before",
    "openai-api-key",
)

FRESH_FOR = timedelta(minutes=15)


class SsmSecrets:
    """The secrets as they were at most FRESH_FOR ago, so that a changed one is soon in use."""

    def __init__(self, client: "SSMClient", prefix: str, clock: Clock) -> None:
        self._client = client
        self._prefix = prefix
        self._clock = clock
        self._kept: Secrets | None = None
        self._stale_at = clock.now()

    def get(self) -> Secrets:
        """Raises KeyError if a secret that is needed was never put."""
        if self._kept is None or self._clock.now() >= self._stale_at:
            values = zip(NAMES, side_by_side(self._read, NAMES, len(NAMES)), strict=True)
            found = {name: value for name, value in values if value is not None}
            self._kept = Secrets.from_parameters(found)
            self._stale_at = self._clock.now() + FRESH_FOR
        return self._kept

    def _read(self, name: str) -> str | None:
        try:
            with aws_errors():
                answer = self._client.get_parameter(
                    Name=f"{self._prefix}/{name}", WithDecryption=True
                )
        except ClientError as error:
            if code_of(error) == "ParameterNotFound":
                return None
            raise
        return answer["Parameter"]["Value"]
