"""The packs on S3, with copies in memory and in the temporary folder of the machine."""

import secrets
from collections import OrderedDict
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.errors import aws_errors, code_of
from memorybox.adapters.aws.guard import acting_for, check_object
from memorybox.search.model import PackPointer
from memorybox.search.pack import Pack
from memorybox.search.sections import PackDamaged, PackUnknown, aligned

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

RANGE = 8 * 1024 * 1024
READERS = 4
"""Ranges that are read at once."""

_PUTS = 3


class PackCache:
    """Packs by the key of their object, for a whole process; an object never changes.

    What was not used for longest goes first, in memory and in `folder` alike.
    """

    def __init__(self, folder: Path, *, memory_bytes: int, folder_bytes: int) -> None:
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._folder_bytes = folder_bytes
        self._packs: OrderedDict[str, tuple[Pack, int]] = OrderedDict()

    def get(self, key: str) -> Pack | None:
        if key in self._packs:
            self._packs.move_to_end(key)
            return self._packs[key][0]
        file = self._file(key)
        try:
            with file.open("rb") as copy:
                buffer = aligned(file.stat().st_size)
                copy.readinto(buffer)
            file.touch()
            return self._remember(key, buffer)
        except (OSError, PackDamaged, PackUnknown):
            return None  # the object itself may be better than the copy

    def add(self, key: str, buffer: memoryview) -> Pack:
        """Open the bytes of a pack, and keep them if they are one."""
        pack = self._remember(key, buffer)
        self._save(key, buffer)
        return pack

    def _remember(self, key: str, buffer: memoryview) -> Pack:
        pack = Pack.open(buffer)
        self._packs[key] = pack, buffer.nbytes
        held = sum(size for _, size in self._packs.values())
        while held > self._memory_bytes and len(self._packs) > 1:
            _, (_, size) = self._packs.popitem(last=False)
            held -= size
        return pack

    def _save(self, key: str, buffer: memoryview) -> None:
        """The folder is a help only: a full disk costs no more than the copy."""
        if buffer.nbytes > self._folder_bytes:
            return
        unfinished = self._folder / secrets.token_hex(8)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._make_room(buffer.nbytes)
            unfinished.write_bytes(buffer)
            unfinished.replace(self._file(key))
        except OSError:
            unfinished.unlink(missing_ok=True)

    def _make_room(self, size: int) -> None:
        files = sorted((file.stat().st_mtime, file) for file in self._folder.iterdir())
        held = size + sum(file.stat().st_size for _, file in files)
        for _, file in files:
            if held <= self._folder_bytes:
                return
            held -= file.stat().st_size
            file.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / sha256(key.encode()).hexdigest()


class S3PackStore:
    """The port PackStore."""

    def __init__(
        self, client: "S3Client", bucket: str, account: AccountId, cache: PackCache
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._account = account
        self._cache = cache

    def open(self, pointer: PackPointer) -> Pack:
        with self._calls():
            check_object(pointer.key)  # the cache holds packs of other accounts too
            kept = self._cache.get(pointer.key)
            return self._fetch(pointer.key) if kept is None else kept

    def add(self, workspace: str, generation: int, data: bytes) -> str:
        key = keys.pack_object(self._account, workspace, generation, secrets.token_hex(8))
        with self._calls():
            for attempt in range(_PUTS):
                try:
                    self._client.put_object(
                        Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*"
                    )
                except ClientError as error:
                    status = _status(error)
                    if status == HTTPStatus.PRECONDITION_FAILED:
                        break  # nobody else knows the key: our own answer was lost
                    if status != HTTPStatus.CONFLICT or attempt == _PUTS - 1:
                        raise
                else:
                    break
        return key

    def remove(self, key: str) -> None:
        with self._calls():
            self._client.delete_object(Bucket=self._bucket, Key=key)

    def prune(self, named: Collection[str], *, before: datetime) -> None:
        with self._calls():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=keys.packs_of(self._account)
            )
            for found in chain.from_iterable(page.get("Contents", []) for page in pages):
                if found["Key"] not in named and found["LastModified"] < before:
                    self._client.delete_object(Bucket=self._bucket, Key=found["Key"])

    def _fetch(self, key: str) -> Pack:
        try:
            first = self._get(key, 0)
            buffer = aligned(_size(first))
            _read(first, buffer[:RANGE])
            with ThreadPoolExecutor(READERS) as readers:
                rest = range(RANGE, len(buffer), RANGE)
                list(readers.map(lambda start: self._fill(key, buffer, start), rest))
        except ClientError as error:
            if code_of(error) in ("NoSuchKey", "InvalidRange"):
                raise PackDamaged("the pack is missing or empty") from None
            raise
        return self._cache.add(key, buffer)

    def _fill(self, key: str, buffer: memoryview, start: int) -> None:
        with self._calls():  # once more: a thread has a context of its own
            _read(self._get(key, start), buffer[start : start + RANGE])

    def _get(self, key: str, start: int) -> "GetObjectOutputTypeDef":
        span = f"bytes={start}-{start + RANGE - 1}"
        return self._client.get_object(Bucket=self._bucket, Key=key, Range=span)

    @contextmanager
    def _calls(self) -> Iterator[None]:
        with acting_for(self._account), aws_errors():
            yield


def _size(answer: "GetObjectOutputTypeDef") -> int:
    """The size of the whole object, from `bytes 0-99/1234`."""
    return int(answer["ContentRange"].rpartition("/")[2])


def _read(answer: "GetObjectOutputTypeDef", buffer: memoryview) -> None:
    body: Any = answer["Body"]  # readinto is not in the stubs
    filled = 0
    while filled < len(buffer):
        count = body.readinto(buffer[filled:])
        if not count:
            raise PackDamaged("the object ends too early")
        filled += count


def _status(error: ClientError) -> int:
    return error.response["ResponseMetadata"]["HTTPStatusCode"]
