"""The clients: configured by hand, registered by themselves (RFC 7591), or known by a document."""

import base64
import json
import logging
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import unquote_plus

from memorybox.accounts.rates import Gate
from memorybox.clock import Clock
from memorybox.errors import Refused
from memorybox.oauth import redirects
from memorybox.oauth.documents import (
    KNOWN_DOCUMENTS,
    MAX_FRESH,
    BadDocument,
    ClientDocuments,
    Document,
    DocumentUnavailable,
    is_document_url,
    parse_document,
)
from memorybox.oauth.errors import OAuthError
from memorybox.oauth.metadata import scope_text
from memorybox.oauth.model import ALL_SCOPES, AuthMethod, Client, Origin
from memorybox.oauth.opaque import Random, digest, new_id, new_secret, same
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.store import ClientStore
from memorybox.settings import ConfiguredClient

MAX_METADATA_BYTES = 8_192
MAX_REDIRECT_URIS = 5
MAX_NAME_LENGTH = 64

UNUSED_LIFE = timedelta(hours=24)
USED_LIFE = timedelta(days=90)
_A_DAY = timedelta(days=1)

_GRANT_TYPES = ["authorization_code", "refresh_token"]
_URL_MEMBERS = ("client_uri", "logo_uri", "policy_uri", "tos_uri", "jwks_uri")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Clients:
    """Finds a client, registers one, and checks who is asking."""

    configured: Mapping[str, Client]
    store: ClientStore
    documents: ClientDocuments
    clock: Clock
    random: Random
    registrations: Gate
    redirect_hosts: frozenset[str] = frozenset()
    """Where clients that register themselves may be sent an answer; anywhere, if empty."""

    def register(self, body: bytes) -> Mapping[str, object]:
        """Dynamic registration: what the client asked for, with an id. Raises OAuthError.

        Raises LimitReached when too many have registered: each is kept for a day at least.
        """
        members = _members(body)
        method, uris = _auth_method(members), _redirect_uris(members)
        if self.redirect_hosts and not self.redirect_hosts.issuperset(map(redirects.host_of, uris)):
            raise OAuthError("invalid_redirect_uri", "a host that is not on the list")
        self.registrations.enter()
        now = self.clock.now()
        secret = None if method is AuthMethod.NONE else new_secret(self.random)
        client = Client(
            id=f"client_{new_id(self.random)}",
            name=display_name(members.get("client_name")),
            redirect_uris=uris,
            origin=Origin.REGISTERED,
            auth_method=method,
            secret_hash=secret and digest(secret),
            expires_at=now + UNUSED_LIFE,
        )
        self.store.save(client)
        answer: dict[str, object] = {
            "client_id": client.id,
            "client_id_issued_at": int(now.timestamp()),
            "client_name": client.name,
            "redirect_uris": client.redirect_uris,
            "grant_types": _GRANT_TYPES,
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
            "scope": scope_text(ALL_SCOPES),
        }
        if secret is not None:
            answer |= {"client_secret": secret, "client_secret_expires_at": 0}
        return answer

    def asking(self, client_id: str | None) -> Client:
        """The client that opens an authorization. Raises Refused, with words for a person."""
        client = self._known(client_id) if client_id else None
        if client_id and is_document_url(client_id):
            client = self._documented(client_id, client)
        if client is None:
            raise Refused("The program that sent you here is not known. Connect it again.")
        return client

    def authenticated(self, form: Parameters, authorization: str | None) -> Client:
        """The client behind a request to /token or /revoke. Raises OAuthError.

        The secret may come in the form or by Basic, however the client said it would: clients
        are not true to it.
        """
        client_id, secret = _credentials(form, authorization)
        client = self._known(client_id) if client_id else None
        if client is None:
            raise OAuthError("invalid_client", "unknown client", status=401)
        if client.secret_hash is not None and not (
            secret and same(digest(secret), client.secret_hash)
        ):
            raise OAuthError("invalid_client", "wrong secret", status=401)
        return client

    def name_of(self, client_id: str) -> str:
        """How a person knows a client, also one that is forgotten by now."""
        client = self.configured.get(client_id) or self.store.get(client_id)
        return client.name if client else display_name(None)

    def keep(self, client: Client) -> None:
        """Remember a client that is used. Written at most once a day."""
        until = self.clock.now() + USED_LIFE
        if client.expires_at is not None and until - client.expires_at > _A_DAY:
            self.store.save(replace(client, expires_at=until))

    def _known(self, client_id: str) -> Client | None:
        client = self.configured.get(client_id) or self.store.get(client_id)
        if client is None or (client.expires_at and client.expires_at <= self.clock.now()):
            return None
        return client

    def _documented(self, url: str, known: Client | None) -> Client:
        now = self.clock.now()
        if known is not None and (known.fresh_until is None or now < known.fresh_until):
            return known
        document, fresh_for = self._fetched(url)
        client = Client(
            id=url,
            name=display_name(document.name),
            redirect_uris=document.redirect_uris,
            origin=Origin.DOCUMENT,
            expires_at=max(now + UNUSED_LIFE, (known and known.expires_at) or now),
            fresh_until=now + fresh_for,
        )
        self.store.save(client)
        return client

    def _fetched(self, url: str) -> tuple[Document, timedelta]:
        try:
            fetched = self.documents.fetch(url)
            return parse_document(url, fetched.body), min(fetched.fresh_for, MAX_FRESH)
        except (DocumentUnavailable, BadDocument) as error:
            _log.warning("A client document is not usable", extra={"reason": str(error)})
            if isinstance(error, DocumentUnavailable) and url in KNOWN_DOCUMENTS:
                return KNOWN_DOCUMENTS[url], timedelta(0)
        raise Refused(
            "The description of the program that sent you here could not be read. Try again later."
        )


def configured_clients(given: Iterable[ConfiguredClient]) -> Mapping[str, Client]:
    """The clients of the settings, by id. Raises ValueError for a redirect that may not be."""
    clients = {}
    for one in given:
        if not all(map(redirects.is_allowed, one.redirect_uris)):
            raise ValueError(f"a redirect_uri of the configured client {one.id} is not allowed")
        clients[one.id] = Client(
            id=one.id,
            name=display_name(one.name),
            redirect_uris=one.redirect_uris,
            origin=Origin.CONFIGURED,
            auth_method=AuthMethod.POST if one.secret else AuthMethod.NONE,
            secret_hash=digest(one.secret) if one.secret else None,
        )
    return clients


def display_name(name: object) -> str:
    """A name that is safe to show: one line of at most 64 visible characters."""
    text = name if isinstance(name, str) else ""
    visible = "".join(
        char if char.isprintable() else " " if char.isspace() else ""
        for char in text[: 16 * MAX_NAME_LENGTH]
        if unicodedata.category(char) != "Cf"
    )
    return " ".join(visible.split())[:MAX_NAME_LENGTH].strip() or "A program without a name"


def _members(body: bytes) -> Mapping[str, object]:
    if len(body) > MAX_METADATA_BYTES:
        raise OAuthError("invalid_client_metadata", "too large")
    try:
        members = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise OAuthError("invalid_client_metadata", "not JSON") from None
    if not isinstance(members, dict):
        raise OAuthError("invalid_client_metadata", "not a JSON object")
    for name in _URL_MEMBERS:
        url = members.get(name)
        if url and not (isinstance(url, str) and url.startswith(("https://", "http://"))):
            raise OAuthError("invalid_client_metadata", f"{name} is no web address")
    for name, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        offered = members.get(name)
        if offered is not None and not (isinstance(offered, list) and needed in offered):
            raise OAuthError("invalid_client_metadata", f"{name} must have {needed}")
    return members


def _redirect_uris(members: Mapping[str, object]) -> tuple[str, ...]:
    uris = members.get("redirect_uris")
    if not isinstance(uris, list) or not 0 < len(uris) <= MAX_REDIRECT_URIS:
        raise OAuthError("invalid_redirect_uri", f"needs 1 to {MAX_REDIRECT_URIS} redirect_uris")
    if not all(isinstance(uri, str) and redirects.is_allowed(uri) for uri in uris):
        raise OAuthError("invalid_redirect_uri", "a redirect_uri is not allowed")
    return tuple(uris)


def _auth_method(members: Mapping[str, object]) -> AuthMethod:
    try:
        return AuthMethod(str(members.get("token_endpoint_auth_method") or AuthMethod.BASIC))
    except ValueError:
        raise OAuthError("invalid_client_metadata", "unknown authentication method") from None


def _credentials(form: Parameters, authorization: str | None) -> tuple[str | None, str | None]:
    """Client id and secret (RFC 6749, section 2.3.1)."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return form.get("client_id"), form.get("client_secret")
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        raise OAuthError("invalid_client", "malformed Basic credentials", status=401) from None
    client_id, _, secret = decoded.partition(":")
    client_id = unquote_plus(client_id)
    if form.get("client_id") not in (None, client_id):
        raise OAuthError("invalid_request", "two different client ids")
    return client_id, unquote_plus(secret)
