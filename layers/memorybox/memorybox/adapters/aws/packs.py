"""The packs on S3, with copies in memory and in the temporary folder of the machine.

A request holds as many packs as there is memory for. Those beyond stay where they are: a search
reads their fronts, which are kept too, the codes of its words, and the vectors that may be near.
"""

import secrets
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, IncompleteReadError, ResponseStreamingError

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws import keys
from memorybox.adapters.aws.errors import aws_errors, code_of
from memorybox.adapters.aws.guard import acting_for, check_object
from memorybox.adapters.aws.threads import side_by_side
from memorybox.search.model import PackRef
from memorybox.search.pack import Pack
from memorybox.search.sections import PackDamaged, PackLost, aligned

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

RANGE = 8 * 1024 * 1024
READERS = 4
"""Ranges that are read at once."""

_PUTS = 3

_Range = tuple[PackRef, int, memoryview]
"""A stretch of a pack: where it begins, and what it is read into."""


class PackCache:
    """Packs by the key of their object, for a whole process; an object never changes.

    What was not used for longest goes first, in memory and in `folder` alike.
    """

    def __init__(
        self, folder: Path, *, memory_bytes: int, folder_bytes: int, front_bytes: int = 0
    ) -> None:
        self.memory_bytes = memory_bytes
        self.apart = _Recent(front_bytes)
        """Packs of which the front alone is in memory."""

        self._whole = _Recent(memory_bytes)
        self._folder = folder
        self._folder_bytes = folder_bytes

    def get(self, key: str) -> Pack | None:
        """The pack, all of it in memory."""
        if pack := self._whole.get(key):
            return pack
        file = self._file(key)
        try:
            with file.open("rb") as copy:
                buffer = aligned(file.stat().st_size)
                copy.readinto(buffer)
            file.touch()
            return self._whole.add(key, Pack.open(buffer, key), buffer.nbytes)
        except (OSError, PackLost):
            return None  # the object itself may be better than the copy

    def add(self, key: str, buffer: memoryview) -> Pack:
        """Open the bytes of a pack, and keep them if they are one."""
        pack = self._whole.add(key, Pack.open(buffer, key), buffer.nbytes)
        self._save(key, buffer)
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


class _Recent:
    """The packs that were used last, up to so many bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._packs: OrderedDict[str, tuple[Pack, int]] = OrderedDict()

    def get(self, key: str) -> Pack | None:
        if key not in self._packs:
            return None
        self._packs.move_to_end(key)
        return self._packs[key][0]

    def add(self, key: str, pack: Pack, size: int) -> Pack:
        self._packs[key] = pack, size
        held = sum(size for _, size in self._packs.values())
        while held > self._most:
            _, (_, gone) = self._packs.popitem(last=False)
            held -= gone
        return pack


class S3PackStore:
    """The port PackStore, for one request."""

    def __init__(
        self, client: "S3Client", bucket: str, account: AccountId, cache: PackCache
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._account = account
        self._objects = _Objects(client, bucket, account)
        self._cache = cache
        self._opened: dict[str, Pack] = {}
        self._room = cache.memory_bytes

    def open(self, refs: Sequence[PackRef]) -> list[Pack]:
        with self._calls():
            for ref in refs:
                check_object(ref.key)  # the cache holds packs of other accounts too
            wanted = [ref for ref in refs if ref.key not in self._opened]
            whole = [ref for ref in wanted if self._has_room(ref)]
            cached = {ref.key: self._cache.get(ref.key) for ref in whole}
            missing = [ref for ref in whole if cached[ref.key] is None]
            self._opened |= {key: pack for key, pack in cached.items() if pack}
            for ref, buffer in zip(missing, self._objects.whole(missing), strict=True):
                self._opened[ref.key] = self._cache.add(ref.key, buffer)
            self._opened |= self._open_apart([ref for ref in wanted if ref not in whole])
        return [self._opened[ref.key] for ref in refs]

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

    def _has_room(self, ref: PackRef) -> bool:
        if ref.size > self._room:
            return False
        self._room -= ref.size
        return True

    def _open_apart(self, refs: Sequence[PackRef]) -> dict[str, Pack]:
        """Packs that stay where they are, by key."""
        known = self._cache.apart
        packs = {ref.key: pack for ref in refs if (pack := known.get(ref.key))}
        missing = [_Apart(self._objects, ref) for ref in refs if ref.key not in packs]
        opened = side_by_side(Pack.over, missing, READERS)
        for source, pack in zip(missing, opened, strict=True):
            packs[source.key] = known.add(source.key, pack, pack.front)
        return packs

    @contextmanager
    def _calls(self) -> Iterator[None]:
        with acting_for(self._account), aws_errors():
            yield


@dataclass(frozen=True, slots=True)
class _Objects:
    """Bytes of an account's objects, in ranges that are read side by side."""

    client: "S3Client"
    bucket: str
    account: AccountId

    def whole(self, refs: Sequence[PackRef]) -> list[memoryview]:
        return self._fill([(ref, 0, ref.size) for ref in refs])

    def stretch(self, ref: PackRef, start: int, end: int) -> memoryview:
        [buffer] = self._fill([(ref, start, end)])
        return buffer

    def _fill(self, stretches: Sequence[tuple[PackRef, int, int]]) -> list[memoryview]:
        buffers = [aligned(end - start) for _, start, end in stretches]
        ranges = [
            (ref, start + at, buffer[at : at + RANGE])
            for (ref, start, _), buffer in zip(stretches, buffers, strict=True)
            for at in range(0, len(buffer), RANGE)
        ]
        side_by_side(self._get, ranges, READERS)
        return buffers

    def _get(self, stretch: _Range) -> None:
        ref, _, buffer = stretch
        with acting_for(self.account), aws_errors():
            try:
                is_filled = _is_filled(self._answer(stretch), buffer)
            except (IncompleteReadError, ResponseStreamingError):
                # botocore itself tries again only up to the headers.
                is_filled = _is_filled(self._answer(stretch), buffer)
        if not is_filled:
            raise PackDamaged("the object ends too early", ref.key)

    def _answer(self, stretch: _Range) -> "GetObjectOutputTypeDef":
        ref, start, buffer = stretch
        span = f"bytes={start}-{start + len(buffer) - 1}"
        try:
            return self.client.get_object(Bucket=self.bucket, Key=ref.key, Range=span)
        except ClientError as error:
            if code_of(error) in ("NoSuchKey", "InvalidRange"):
                raise PackDamaged("the pack is missing or cut off", ref.key) from None
            raise


@dataclass(frozen=True, slots=True)
class _Apart:
    """A pack that is not in memory, as a Source for as long as its front is kept."""

    objects: _Objects
    ref: PackRef

    @property
    def key(self) -> str:
        return self.ref.key

    @property
    def size(self) -> int:
        return self.ref.size

    def read(self, start: int, end: int) -> memoryview:
        return self.objects.stretch(self.ref, start, end)


def _is_filled(answer: "GetObjectOutputTypeDef", buffer: memoryview) -> bool:
    body: Any = answer["Body"]  # readinto is not in the stubs
    filled = 0
    while filled < len(buffer):
        count = body.readinto(buffer[filled:])
        if not count:
            if "ContentLength" not in answer:  # the headers broke off, not the object
                raise IncompleteReadError(actual_bytes=filled, expected_bytes=len(buffer))
            return False
        filled += count
    return True


def _status(error: ClientError) -> int:
    return error.response["ResponseMetadata"]["HTTPStatusCode"]
