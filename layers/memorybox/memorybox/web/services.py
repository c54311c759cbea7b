"""What the routes need."""

from collections.abc import Callable
from dataclasses import dataclass

from memorybox.accounts.model import AccountId
from memorybox.accounts.service import Connections
from memorybox.mcp.server import McpServer
from memorybox.mcp.toolset import Toolset
from memorybox.oauth.authorize import Authorizations
from memorybox.oauth.clients import Clients
from memorybox.oauth.metadata import Issuer
from memorybox.oauth.model import Grant
from memorybox.oauth.tokens import Tokens
from memorybox.web.perimeter import Perimeter


@dataclass(frozen=True, slots=True)
class Services:
    """Services that reach a vendor are factories, so that a page which needs none loads no SDK.

    `mcp` builds a server for the account of a grant. `signed_in` is told of each sign-in.
    `references` makes the short ids under which a failure is logged.
    """

    issuer: Issuer
    perimeter: Perimeter
    toolset: Toolset
    clients: Callable[[], Clients]
    authorizations: Callable[[], Authorizations]
    tokens: Callable[[], Tokens]
    connections: Callable[[], Connections]
    mcp: Callable[[Grant], McpServer]
    signed_in: Callable[[AccountId], None]
    references: Callable[[], str]
