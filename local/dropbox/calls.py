"""One call of an API route: what a route is declared to be, and what its handler is given."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from stone.backends.python_rsrc import stone_serializers, stone_validators

from local.dropbox.accounts import Account
from local.dropbox.entries import Json
from local.dropbox.handouts import Handouts
from local.dropbox.storage import NotKept
from local.dropbox.tree import Tree
from local.dropbox.wire import Refusal, RouteError, bad_argument

DOMAINS = {
    "api": "api.dropboxapi.com",
    "content": "content.dropboxapi.com",
    "notify": "notify.dropboxapi.com",
}


@dataclass(frozen=True, slots=True)
class Call:
    route: str
    place: str
    """Where the argument stood, in Dropbox's words."""
    account: Account
    revoke: Callable[[], None]
    """Ends the grant behind the call's token."""
    body: bytes
    handouts: Handouts

    def now(self) -> datetime:
        return self.account.now()

    @contextmanager
    def changing(self, tag: str) -> Iterator[Tree]:
        """The account's tree, to be changed. What the disk refuses is `<tag>/<WriteError>`."""
        try:
            with self.account.changing() as tree:
                yield tree
        except NotKept as error:
            raise RouteError(f"{tag}/{error.reason}") from error

    def bad_argument(self, text: str) -> Refusal:
        return bad_argument(self.route, self.place, text)

    def root_refused(self, field: str) -> Refusal:
        return self.bad_argument(f"{field}: The root folder is unsupported.")


@dataclass(frozen=True, slots=True)
class Download:
    """The result of a download route: its JSON goes into a header, the bytes into the body."""

    result: Json
    data: bytes
    etag: str | None = None
    ranges: bool = True


Handler: TypeAlias = Callable[[Call, Any], "Json | Download | None"]


@dataclass(frozen=True, slots=True)
class Route:
    """A route as the API's specification declares it, and what answers it."""

    name: str
    spec: Any
    scope: str | None
    writes: bool
    run: Handler

    @property
    def domain(self) -> str:
        return DOMAINS[self.spec.attrs["host"]]

    @property
    def style(self) -> str:
        return str(self.spec.attrs["style"])

    @property
    def needs_token(self) -> bool:
        return "user" in self.spec.attrs["auth"]

    @property
    def takes_nothing(self) -> bool:
        return isinstance(self.spec.arg_type, stone_validators.Void)

    def decode(self, argument: Any) -> Any:
        """The argument as the specification's own type; raises ValueError with Dropbox's text."""
        try:
            decode = stone_serializers.json_compat_obj_decode
            return decode(self.spec.arg_type, argument, strict=True)  # type: ignore[no-untyped-call]  # the SDK's parser has no types
        except stone_validators.ValidationError as error:
            raise ValueError(str(error)) from error


def route(
    namespace: str, spec: Any, *, scope: str | None, writes: bool = False
) -> Callable[[Handler], Route]:
    """Make a handler answer a route of the specification, which the SDK carries."""
    version = "" if spec.version == 1 else f"_v{spec.version}"

    def declare(run: Handler) -> Route:
        return Route(f"{namespace}/{spec.name}{version}", spec, scope, writes, run)

    return declare
