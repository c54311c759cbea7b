"""The pages of an account, as HTML."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from starlette.responses import Response

from memorybox.files.journal import Written
from memorybox.oauth.connected import ConnectedClient
from memorybox.oauth.deletion import Receipt
from memorybox.quoting import visible
from memorybox.search.budget import Month, next_month
from memorybox.search.model import SkipReason
from memorybox.search.results import Unindexed
from memorybox.web.dropbox import note_url, versions_url
from memorybox.web.html import Markup, joined, page, render

if TYPE_CHECKING:
    from memorybox.search.overview import Overview, WorkspaceState  # which load numpy

MOST_NAMED = 50
"""Files that are named as not indexed. The page stays small, whatever the folder holds."""

MOST_WRITTEN = 20
"""Writes that are shown."""

_METER = 1_000
_LEAST_SHARE = 0.001
_LEAST_DOLLARS = Decimal("0.01")
_REASONS = {
    SkipReason.TOO_LARGE: "has over 1,000,000 bytes. Split it to make it findable.",
    SkipReason.NOT_UTF8: "is not UTF-8 text. Save it as UTF-8 to make it findable.",
    SkipReason.OVER_BUDGET: "did not fit in the tokens of the month. It is tried again next month.",
    SkipReason.REFUSED: "has text that the embedding service does not take.",
    SkipReason.NOT_DOWNLOADABLE: "cannot be downloaded from Dropbox.",
}


def door_page() -> Response:
    return page("Your account", render("account_door"))


def account_page(
    *,
    name: str,
    token: str,
    overview: "Overview",
    spent: int,
    cap: int,
    price: Decimal,
    clients: Sequence[ConnectedClient],
    written: Sequence[Written],
    names: Mapping[str, str],
    folder: str,
    today: date,
) -> Response:
    """`names` are those of the clients that wrote, by id; `folder` is the app folder at Dropbox."""
    content = render(
        "account",
        name=visible(name) or "a Dropbox user",
        token=token,
        freshness=_freshness(overview),
        workspaces=_workspaces(overview),
        unindexed=_unindexed(overview.unindexed),
        meter=_meter(spent, cap, price, today),
        clients=_clients(clients, token),
        written=_written(written, names, folder),
    )
    return page("Your account", content)


def deletion_page(token: str) -> Response:
    return page("Delete my data", render("account_delete", token=token))


def receipt_page(receipt: Receipt) -> Response:
    content = render(
        "receipt",
        at=f"{_day(receipt.at)}, {receipt.at:%H:%M} UTC",
        connections=_counted(receipt.connections, "connection"),
        records=_counted(receipt.records, "record"),
        files=_counted(receipt.files, "index file"),
    )
    return page("Your data is deleted", content)


def _freshness(overview: "Overview") -> str:
    when = (
        "Compared with your Dropbox just now."
        if overview.is_current
        else "Dropbox did not answer in time, so this is as of the last look."
    )
    if overview.waiting:
        return (
            f"{when} {_counted(overview.waiting, 'note')} not indexed yet: the next search goes on,"
            " and so does the background."
        )
    return f"{when} Everything that can be indexed is."


def _workspaces(overview: "Overview") -> Markup:
    if not overview.workspaces:
        return render("account_empty")
    return render(
        "account_workspaces", rows=joined([_workspace(state) for state in overview.workspaces])
    )


def _workspace(state: "WorkspaceState") -> Markup:
    return render(
        "account_workspace",
        name=visible(state.name),
        notes=f"{state.notes:,}",
        searchable=f"{state.searchable:,}",
        changed=_day(state.changed_at),
    )


def _unindexed(files: Sequence[Unindexed]) -> Markup:
    if not files:
        return Markup("")
    rows = [
        render(
            "account_unindexed_row",
            path=visible(f"{file.workspace}/{file.path}"),
            why=_REASONS[file.reason],
        )
        for file in files[:MOST_NAMED]
    ]
    more = len(files) - MOST_NAMED
    ending = render("paragraph", text=f"And {more:,} more.") if more > 0 else Markup("")
    return render("account_unindexed", rows=joined(rows), more=ending)


def _meter(spent: int, cap: int, price: Decimal, today: date) -> Markup:
    share = min(1.0, spent / cap) if cap else 1.0
    dollars = Decimal(spent) * price / 1_000_000
    new = next_month(Month(today.strftime("%Y-%m")))
    return render(
        "account_meter",
        width=str(max(round(_METER * share), 4 if spent else 0)),
        spent=_in_words(spent),
        cap=_in_words(cap),
        percent=f"{100 * share:.1f} %" if share >= _LEAST_SHARE else "less than 0.1 %",
        dollars=f"about ${dollars:.2f}" if dollars >= _LEAST_DOLLARS else "less than $0.01",
        new=f"{new.day} {new:%B}",
    )


def _clients(clients: Sequence[ConnectedClient], token: str) -> Markup:
    if not clients:
        return render("account_no_clients")
    return joined([_client(client, token) for client in clients])


def _client(client: ConnectedClient, token: str) -> Markup:
    name = visible(client.name)
    return render(
        "account_client",
        name=name,
        may=_may(client),
        since=_day(client.since),
        renewed=_day(client.renewed_at),
        token=token,
        id=client.grant_id,
        limit=render("account_limit", name=name) if client.may_write else Markup(""),
    )


def _written(written: Sequence[Written], names: Mapping[str, str], folder: str) -> Markup:
    if not written:
        return render("account_nothing_written")
    rows = [
        render(
            "account_written_row",
            note=note_url(folder, one.path_display),
            versions=versions_url(folder, one.path_display),
            path=visible(one.path_display[1:]),
            made="made" if one.is_new else "changed",
            client=visible(names[one.client_id]),
            at=f"{_day(one.at)}, {one.at:%H:%M}",
        )
        for one in written
    ]
    return render("account_written", rows=joined(rows))


def _may(client: ConnectedClient) -> str:
    may = "may read and write" if client.may_write else "may only read"
    return f"{may} in {', '.join(map(visible, client.workspaces))}" if client.workspaces else may


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _in_words(tokens: int) -> str:
    """12,345 or 84.7 million."""
    million = 1_000_000
    return f"{tokens / million:,.1f} million" if tokens >= million else f"{tokens:,}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"
