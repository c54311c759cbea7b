"""What the routes need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from memorybox.accounts.model import AccountId
from memorybox.accounts.service import Connections
from memorybox.clock import Clock
from memorybox.files.journal import Written
from memorybox.mcp.server import McpServer
from memorybox.mcp.toolset import Toolset
from memorybox.oauth.authorize import Authorizations
from memorybox.oauth.clients import Clients
from memorybox.oauth.connected import ConnectedClients
from memorybox.oauth.deletion import Deletion
from memorybox.oauth.metadata import Issuer
from memorybox.oauth.model import Grant
from memorybox.oauth.tokens import Tokens
from memorybox.oauth.visits import Visits
from memorybox.web.perimeter import Perimeter

if TYPE_CHECKING:
    from memorybox.search.overview import Overview  # which loads numpy


@dataclass(frozen=True, slots=True)
class Services:
    """Services that reach a vendor are factories, so that a page which needs none loads no SDK.

    `overview` tells of an account's notes, and of its embedding tokens of this month; a million of
    those cost `token_price` dollars. `written` tells what clients wrote for it lately, the newest
    first; `dropbox_folder` is where a person finds that. `security_contact` is a URI. `mcp` builds
    a server for the account of a grant. `signed_in` is told of each sign-in. `references` makes the
    short ids under which a failure is logged.
    """

    issuer: Issuer
    perimeter: Perimeter
    toolset: Toolset
    clients: Callable[[], Clients]
    authorizations: Callable[[], Authorizations]
    tokens: Callable[[], Tokens]
    connections: Callable[[], Connections]
    visits: Callable[[], Visits]
    connected: Callable[[], ConnectedClients]
    deletion: Callable[[], Deletion]
    overview: Callable[[AccountId], "tuple[Overview, int]"]
    written: Callable[[AccountId], Sequence[Written]]
    dropbox_folder: str
    monthly_tokens: int
    token_price: Decimal
    security_contact: str
    clock: Clock
    mcp: Callable[[Grant], McpServer]
    signed_in: Callable[[AccountId], None]
    references: Callable[[], str]
