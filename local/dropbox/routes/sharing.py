"""The shared-link routes that an app-folder app may call."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from dropbox import sharing

from local.dropbox import paths
from local.dropbox.calls import Call, Download, route
from local.dropbox.entries import Entry, File, Json, timestamp
from local.dropbox.handouts import SharedLink, secret_key
from local.dropbox.routes.lookup import found, located
from local.dropbox.wire import RouteError

_READ, _WRITE = "sharing.read", "sharing.write"
_SITE = "https://www.dropbox.com"
_BASIC = "basic"


@route("sharing", sharing.create_shared_link_with_settings, scope=_WRITE)
def create(call: Call, arg: Any) -> Json:
    if not call.account.profile.email_verified:
        raise RouteError("email_not_verified")
    with call.account.lock:
        _, entry = found(call, arg.path, "path")
        there = next((link for link in _own(call) if link.entry_id == entry.id), None)
        if there is not None:
            raise _already_exists(there, entry, is_told=not arg.settings)
        kind = "fi" if isinstance(entry, File) else "fo"
        name = quote(paths.name_of(entry.path_display))
        url = f"{_SITE}/scl/{kind}/{uuid4().hex[:20]}/{name}?rlkey={secret_key()}&dl=0"
        link = SharedLink(url, call.account, entry.id)
        _apply(call, link, arg.settings)
        call.handouts.shared_links[_key(url)] = link
        return _metadata(link, entry)


@route("sharing", sharing.modify_shared_link_settings, scope=_WRITE)
def modify(call: Call, arg: Any) -> Json:
    link = _own_link(call, arg.url)
    if arg.settings.access is not None:
        raise RouteError("settings_error/invalid_settings")
    _apply(call, link, arg.settings)
    if arg.remove_expiration:
        link.expires = None
    return _metadata(link, _entry(link))


@route("sharing", sharing.revoke_shared_link, scope=_WRITE)
def revoke(call: Call, arg: Any) -> None:
    link = _own_link(call, arg.url)
    del call.handouts.shared_links[_key(link.url)]


@route("sharing", sharing.list_shared_links, scope=_READ)
def list_links(call: Call, arg: Any) -> Json:
    """All links, or those that lead to a path: its own and, unless direct, its folders'."""
    with call.account.lock:
        links = [(link, entry) for link in _own(call) if (entry := _living(link)) is not None]
        if arg.path is not None:
            display = found(call, arg.path, "path")[1].path_display
            path_lower = paths.lower(display)
            leading = {path_lower, *([] if arg.direct_only else paths.ancestors(path_lower))}
            links = [(ln, en) for ln, en in links if paths.lower(en.path_display) in leading]
    return {"links": [_metadata(link, entry) for link, entry in links], "has_more": False}


@route("sharing", sharing.get_shared_link_metadata, scope=_READ)
def get_metadata(call: Call, arg: Any) -> Json:
    link, entry = _opened(call, arg)
    return _metadata(link, entry)


@route("sharing", sharing.get_shared_link_file, scope=_READ)
def get_file(call: Call, arg: Any) -> Download:
    link, entry = _opened(call, arg)
    if not isinstance(entry, File):
        raise RouteError("shared_link_is_directory")
    if not link.allow_download:
        raise RouteError("shared_link_access_denied")
    data = link.account.storage.read(entry.content_hash)
    return Download(_metadata(link, entry), data, etag=entry.rev)


def _already_exists(link: SharedLink, entry: Entry, *, is_told: bool) -> RouteError:
    """With the link that is there, unless settings were asked for that it may not have."""
    tag = "shared_link_already_exists"
    if not is_told:
        return RouteError(tag)
    return RouteError(tag, **{tag: {".tag": "metadata", "metadata": _metadata(link, entry)}})


def _opened(call: Call, arg: Any) -> tuple[SharedLink, Entry]:
    """What anyone with the address gets, or the SharedLinkError."""
    link = _known(call, arg.url)
    if link.is_expired():
        raise RouteError("shared_link_not_found")
    if link.password is not None and link.password != arg.link_password:
        raise RouteError("shared_link_access_denied")
    entry = _entry(link)
    if arg.path:
        inside = located(call, arg.path, "path")
        below = link.account.tree.get(paths.lower(entry.path_display + inside))
        if below is None:
            raise RouteError("shared_link_not_found")
        return link, below
    return link, entry


def _key(url: str) -> str:
    parts = urlsplit(url)
    if f"{parts.scheme}://{parts.netloc}" != _SITE:
        raise RouteError("shared_link_malformed")
    return parts.path


def _known(call: Call, url: str) -> SharedLink:
    link = call.handouts.shared_links.get(_key(url))
    if link is None:
        raise RouteError("shared_link_not_found")
    return link


def _own_link(call: Call, url: str) -> SharedLink:
    link = _known(call, url)
    if link.account is not call.account:
        raise RouteError("shared_link_access_denied")
    return link


def _own(call: Call) -> list[SharedLink]:
    return [lnk for lnk in call.handouts.shared_links.values() if lnk.account is call.account]


def _living(link: SharedLink) -> Entry | None:
    path = link.account.tree.path_of(link.entry_id)
    return link.account.tree.get(path) if path is not None else None


def _entry(link: SharedLink) -> Entry:
    entry = _living(link)
    if entry is None:
        raise RouteError("shared_link_not_found")
    return entry


def _apply(call: Call, link: SharedLink, settings: Any) -> None:
    if settings is None:
        return
    audience = settings.audience._tag if settings.audience else "public"  # noqa: SLF001  # a union has no other name for its tag
    asks_more = settings.expires or settings.link_password or settings.require_password
    if call.account.profile.plan == _BASIC and (asks_more or audience != "public"):
        raise RouteError("settings_error/not_authorized")
    expires: datetime | None = settings.expires and settings.expires.replace(tzinfo=UTC)
    if expires and expires <= call.account.clock.now():
        raise RouteError("settings_error/invalid_settings")
    link.audience = audience
    link.password = settings.link_password or link.password
    link.expires = expires or link.expires
    if settings.allow_download is not None:
        link.allow_download = settings.allow_download


def _metadata(link: SharedLink, entry: Entry) -> Json:
    is_basic = link.account.profile.plan == _BASIC
    shown: Json = {
        ".tag": "file" if isinstance(entry, File) else "folder",
        "url": link.url,
        "id": entry.id,
        "name": paths.name_of(entry.path_display),
        "path_lower": paths.lower(entry.path_display),
        "link_permissions": {
            "can_revoke": True,
            "resolved_visibility": {".tag": "password" if link.password else link.audience},
            "visibility_policies": [],
            "can_set_expiry": not is_basic,
            "can_remove_expiry": not is_basic,
            "can_set_password": not is_basic,
            "allow_download": link.allow_download,
            "can_allow_download": True,
            "can_disallow_download": not is_basic,
            "allow_comments": True,
            "team_restricts_comments": False,
        },
    }
    if link.expires is not None:
        shown["expires"] = timestamp(link.expires)
    if isinstance(entry, File):
        shown |= {
            "client_modified": timestamp(entry.client_modified),
            "server_modified": timestamp(entry.server_modified),
            "rev": entry.rev,
            "size": entry.size,
        }
    return shown
