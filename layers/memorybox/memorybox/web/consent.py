"""The consent page: who asks, where the answer goes, and what it would allow."""

from starlette.responses import Response

from memorybox.oauth.authorize import AskPerson
from memorybox.oauth.documents import host_of
from memorybox.oauth.model import WRITE, Client, Origin
from memorybox.oauth.redirects import destination, is_on_the_web
from memorybox.web.html import Markup, page, render


def consent_page(asked: AskPerson) -> Response:
    client, uri = asked.client, asked.request.redirect_uri
    may_write = WRITE in asked.request.scopes
    content = render(
        "consent",
        name=client.name,
        vouched=_vouched(client),
        destination=destination(uri),
        warning=Markup("") if is_on_the_web(uri) else render("consent_warning"),
        access=render("consent_access" if may_write else "consent_read_only"),
        token=asked.form_token,
    )
    return page(f"Connect {client.name}", content)


def _vouched(client: Client) -> str:
    match client.origin:
        case Origin.CONFIGURED:
            return "set up by the operator of this service"
        case Origin.DOCUMENT:
            return f"described by {host_of(client.id)}"
        case Origin.REGISTERED:
            return "unverified: the program chose this name itself"
