"""Redirect URIs: which may be registered, which is the registered one, and the way back to it.

A registered URI is compared as a string, and only the port of a loopback one is free (RFC 8252,
section 7.3). Nothing is decoded or normalised, so there is nothing to disagree about.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus

MAX_LENGTH = 512
_MAX_PORT = 65_535

# Schemes that belong to one program. An allow-list: a block-list forgets `JavaScript:`.
_PRIVATE_SCHEMES = ("cursor", "vscode", "vscode-insiders")

# Printable ASCII without the backslash, which browsers read as a slash, and without a fragment.
_REST = r"(?P<rest>(?:[/?][!-\"$-\[\]-~]*)?)"
_PORT = r"(?::(?P<port>[1-9][0-9]{0,4}))?"

# A name ends in a label that begins with a letter: any other is a number to a browser, and of those
# only the usual form of an address is known to be what it looks like.
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_NAME = rf"(?:{_LABEL}\.)*(?=[A-Za-z]){_LABEL}"
_ADDRESS = r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})|\[[0-9A-Fa-f:.]+\]"
_HOST = rf"(?P<host>{_NAME}|{_ADDRESS})"
_LOOPBACK = re.compile(rf"http://(?P<host>127\.0\.0\.1|\[::1\]|localhost){_PORT}{_REST}")
_WEB = re.compile(rf"https://{_HOST}{_PORT}{_REST}")
_PRIVATE = re.compile(rf"(?:{'|'.join(_PRIVATE_SCHEMES)})://{_HOST}{_REST}")


def is_allowed(uri: str) -> bool:
    """Whether a client may register `uri`."""
    return len(uri) <= MAX_LENGTH and any(
        _port_exists(found)
        for pattern in (_WEB, _LOOPBACK, _PRIVATE)
        if (found := pattern.fullmatch(uri))
    )


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Whether `uri` is one of those that the client registered."""
    return any(uri == known or _differs_in_port(uri, known) for known in registered)


def is_on_the_web(uri: str) -> bool:
    """Whether `uri` leads to a web site, and not to a program on the person's own machine."""
    found = _WEB.fullmatch(uri)
    return found is not None and not _is_own(found["host"].lower())


def destination(uri: str) -> str:
    """The part of `uri` that tells a person where they will end up."""
    scheme, _, rest = uri.partition("://")
    authority = re.split("[/?]", rest, maxsplit=1)[0]
    return authority if scheme in ("http", "https") else f"{scheme}://{authority}"


def host_of(uri: str) -> str:
    """The destination without a port."""
    return re.sub(r":[0-9]+$", "", destination(uri))


def with_answer(uri: str, answer: Mapping[str, str]) -> str:
    """`uri` with each parameter of `answer` in its query exactly once; the rest stays as it is."""
    base, _, query = uri.partition("?")
    kept = [pair for pair in query.split("&") if pair and pair.partition("=")[0] not in answer]
    added = [f"{name}={quote_plus(value)}" for name, value in answer.items()]
    return f"{base}?{'&'.join(kept + added)}"


def _is_own(host: str) -> bool:
    """Whether a host is the machine that asks. Every address in brackets counts as such."""
    return host.startswith(("0.", "127.", "[")) or f".{host}".endswith(".localhost")


def _differs_in_port(uri: str, known: str) -> bool:
    asked, own = _LOOPBACK.fullmatch(uri), _LOOPBACK.fullmatch(known)
    return (
        asked is not None
        and own is not None
        and asked["host"] == own["host"]
        and asked["rest"] == own["rest"]
        and _port_exists(asked)
    )


def _port_exists(found: re.Match[str]) -> bool:
    return int(found.groupdict().get("port") or 443) <= _MAX_PORT
