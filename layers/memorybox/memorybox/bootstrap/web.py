"""Everything that is served over HTTP, but the webhook, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memorybox.bootstrap.process import Process, new_reference

if TYPE_CHECKING:
    from memorybox.web.app import Application


def web_app(environ: Mapping[str, str]) -> Application:
    """The application, as the environment sets it."""
    from memorybox.toolsets.catalogue import MEMORY
    from memorybox.web.app import Application
    from memorybox.web.perimeter import Perimeter
    from memorybox.web.services import Services

    process = Process(environ)
    settings = process.settings
    app = Application(
        Services(
            issuer=process.issuer,
            perimeter=Perimeter(settings.allowed_hosts, settings.allowed_origins),
            toolset=MEMORY,
            clients=lambda: process.clients,
            authorizations=lambda: process.authorizations,
            tokens=lambda: process.tokens,
            connections=lambda: process.connections,
            visits=lambda: process.visits,
            connected=lambda: process.connected,
            deletion=lambda: process.deletion,
            overview=process.overview,
            written=process.written,
            dropbox_folder=settings.dropbox_folder,
            monthly_tokens=settings.monthly_token_cap,
            token_price=settings.embedding_price,
            security_contact=settings.security_contact,
            clock=process.clock,
            mcp=process.mcp,
            signed_in=process.signed_in,
            references=new_reference,
        )
    )
    if settings.warm_up:
        app.pages()
    return app
