"""All that the Memory table and the bucket hold of one account."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from memorybox.accounts.model import AccountId
from memorybox.accounts.ports import Removed
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.directory import DynamoDirectory
from memorybox.adapters.aws.errors import StorageSilent, aws_errors
from memorybox.adapters.aws.guard import acting_for
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import ConditionFailed, delete

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_TOGETHER = 100  # writes of one transaction


class AwsBelongings:
    """The port Belongings."""

    def __init__(
        self, session: Session, directory: DynamoDirectory, client: "S3Client", bucket: str
    ) -> None:
        self._session = session
        self._directory = directory
        self._client = client
        self._bucket = bucket

    def remove(self) -> Removed:
        """The account's own record goes first: then nobody begins anything for it any more."""
        account, records = self._session.key(keys.ACCOUNT), 1
        try:
            self._session.apply(
                delete(account, "attribute_exists(pk) AND attribute_not_exists(refresh_token)")
            )
        except ConditionFailed as failed:
            if failed.item:
                return Removed(0, 0)
            records = 0
        self._directory.remove(self._session.account)
        files = self._remove_files()
        return Removed(records + self._remove_records(), files)

    def _remove_records(self) -> int:
        found = self._session.query("sk >= :first", first=" ")
        count = 0
        while sks := [item["sk"] for item in islice(found, _TOGETHER)]:
            self._check_time()
            large = [sk for sk in sks if sk.startswith(keys.PIECES)]
            small = [self._session.key(sk) for sk in sks if sk not in large]
            for sk in large:  # a transaction has at most 4 MB
                self._session.apply(delete(self._session.key(sk)))
            if small:
                self._session.transact(*map(delete, small))
            count += len(sks)
        return count

    def _remove_files(self) -> int:
        count = 0
        with _calls(self._session.account):
            for version in self._versions():
                self._check_time()
                self._client.delete_object(Bucket=self._bucket, **version)
                count += 1
        return count

    def _check_time(self) -> None:
        if self._session.deadline.has_passed:
            raise StorageSilent

    def _versions(self) -> Iterator[Any]:
        """Every version of every object, and the marks of those that were deleted before."""
        params: dict[str, Any] = {
            "Bucket": self._bucket,
            "Prefix": keys.packs_of(self._session.account),
        }
        while True:
            page = self._client.list_object_versions(**params)
            for found in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                yield {"Key": found["Key"], "VersionId": found["VersionId"]}
            if not page.get("IsTruncated"):
                return
            params["KeyMarker"] = page["NextKeyMarker"]
            params["VersionIdMarker"] = page["NextVersionIdMarker"]


@contextmanager
def _calls(account: AccountId) -> Iterator[None]:
    with acting_for(account), aws_errors():
        yield
