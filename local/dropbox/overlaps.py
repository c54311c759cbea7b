"""Calls of one account that must not overlap, as far as its knobs say so."""

from collections.abc import Iterator
from contextlib import contextmanager

from local.dropbox.accounts import Account
from local.dropbox.calls import Route
from local.dropbox.exchange import Request
from local.dropbox.wire import too_many

_LISTS = {"files/list_folder", "files/list_folder/continue"}


@contextmanager
def alone(request: Request, route: Route, account: Account) -> Iterator[None]:
    """Raises the 429 of a call that came while another like it was being answered."""
    if route.writes and account.knobs.refuse_overlapping_writes:
        key, reason = "a write", "too_many_write_operations"
    elif route.name in _LISTS and account.knobs.refuse_same_list_twice:
        key, reason = f"{route.name} {request.body()!r}", "too_many_requests"
    else:
        yield
        return
    with account.lock:
        if key in account.desk.running:
            raise too_many(reason, retry_after=1)
        account.desk.running.add(key)
    try:
        yield
    finally:
        account.desk.running.discard(key)
