"""Client ID metadata documents: a client whose id is the https URL of its own description.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from memorybox.accounts.rates import MINUTE, Buckets, Rate
from memorybox.errors import MemoryBoxError
from memorybox.oauth import redirects
from memorybox.oauth.model import AuthMethod

MAX_URL_LENGTH = 2_048
MAX_BYTES = 5_120
MAX_FRESH = timedelta(hours=24)
FETCHES = Rate(60, MINUTE)
FETCHES_OF_HOST = Rate(10, MINUTE)

# A host by name, whose last label starts with a letter: 127.1 and 0x7f.1 are addresses to some
# resolvers. No port, no userinfo, no dot at the end, and a path.
_URL = re.compile(
    r"https://(?P<host>(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62})(?P<path>/[!\"$->@-\[\]-~]*)"
    r"(?:\?[!-\"$-\[\]-~]*)?"
)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)


class DocumentUnavailable(MemoryBoxError):
    """The document could not be fetched in the way that is allowed. Says why, for the log."""


class BadDocument(MemoryBoxError):
    """The document breaks a rule. Says which, for the log."""


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """The body of a 200 answer, and how long its HTTP headers let it be kept."""

    body: bytes
    fresh_for: timedelta


class ClientDocuments(Protocol):
    """Fetches documents from hosts that a stranger chose."""

    def fetch(self, url: str) -> FetchedDocument:
        """The document at an https URL, at most 5,120 bytes, within 5 s in all.

        Connects to public addresses only, follows no redirect, takes nothing but a 200 with JSON.
        Raises DocumentUnavailable for everything else.
        """


@dataclass(frozen=True, slots=True)
class PacedDocuments:
    """The port ClientDocuments, at a pace: whoever sends a browser here can make us fetch."""

    documents: ClientDocuments
    buckets: Buckets

    def fetch(self, url: str) -> FetchedDocument:
        paces = (("fetch", FETCHES), (f"fetch#{host_of(url)}", FETCHES_OF_HOST))
        if any(self.buckets.take(name, rate) for name, rate in paces):
            raise DocumentUnavailable("asked too often")
        return self.documents.fetch(url)


@dataclass(frozen=True, slots=True)
class Document:
    """What a client says of itself."""

    name: str
    redirect_uris: tuple[str, ...]


def is_document_url(client_id: str) -> bool:
    """Whether a client id can be the address of a document."""
    found = _URL.fullmatch(client_id) if len(client_id) <= MAX_URL_LENGTH else None
    return found is not None and not _DOT_SEGMENT.search(found["path"])


def host_of(url: str) -> str:
    """The host that vouches for a document."""
    return url.split("/", 3)[2]


def parse_document(url: str, body: bytes) -> Document:
    """The document that `url` gave. Raises BadDocument."""
    members = _members(body)
    if members.get("client_id") != url:
        raise BadDocument("client_id is not the URL of the document")
    name = members.get("client_name")
    if not isinstance(name, str) or not name.strip():
        raise BadDocument("client_name is missing")
    if "client_secret" in members:
        raise BadDocument("a public document holds no secret")
    if AuthMethod.NONE not in _offer(members):
        raise BadDocument("the client does not offer to come without a secret")
    # A client may list more than we take, such as schemes of programs we do not know.
    uris = members.get("redirect_uris")
    usable = tuple(
        uri
        for uri in (uris if isinstance(uris, list) else ())
        if isinstance(uri, str) and redirects.is_allowed(uri)
    )
    if not usable:
        raise BadDocument("no redirect_uri that may be used")
    return Document(name, usable)


def _members(body: bytes) -> Mapping[str, object]:
    if len(body) > MAX_BYTES:
        raise BadDocument("too large")
    try:
        members = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise BadDocument("not JSON in UTF-8") from None
    if not isinstance(members, dict):
        raise BadDocument("not a JSON object")
    return members


def _offer(members: Mapping[str, object]) -> set[str]:
    """Every way to prove itself that the client names; none named means that it needs none.

    ChatGPT names `private_key_jwt` in the first member and `none` in the second only.
    """
    one = members.get("token_endpoint_auth_method")
    more = members.get("token_endpoint_auth_methods_supported")
    offered = [one, *(more if isinstance(more, list) else ())]
    return {method for method in offered if isinstance(method, str)} or {AuthMethod.NONE}


# What the documents of well-known clients say, for when their hosts refuse to be asked: some answer
# 403 to datacentre addresses at times.
KNOWN_DOCUMENTS: Mapping[str, Document] = {
    "https://claude.ai/oauth/mcp-oauth-client-metadata": Document(
        "Claude",
        ("https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"),
    ),
    "https://claude.ai/oauth/claude-code-client-metadata": Document(
        "Claude Code", ("http://localhost/callback", "http://127.0.0.1/callback")
    ),
    "https://chatgpt.com/oauth/client.json": Document(
        "ChatGPT", ("https://chatgpt.com/connector_platform_oauth_redirect",)
    ),
    "https://cursor.com/oauth/mcp-client.json": Document(
        "Cursor",
        (
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
        ),
    ),
}
