"""Tests a deployment from outside, and says in plain words what is wrong with it."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

_TIMEOUT = 35  # seconds: a cold start may come first, and the gateway gives up after 30
_RENAMED = "x-amzn-remapped-www-authenticate"


class Wrong(Exception):
    """What is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment by its origin, as `https://example.com`, and perhaps a token of a sign-in."""

    url: str
    token: str = ""

    def get(self, path: str) -> requests.Response:
        return requests.get(f"{self.url}{path}", timeout=_TIMEOUT, allow_redirects=False)

    def post(self, path: str, **headers: str) -> requests.Response:
        return requests.post(
            f"{self.url}{path}",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
            headers=headers,
            timeout=_TIMEOUT,
            allow_redirects=False,
        )


def tls(deployment: Deployment) -> str:
    """Encryption: nothing is served without it."""
    host = urlsplit(deployment.url)
    if host.scheme != "https":
        if host.hostname in ("127.0.0.1", "localhost"):
            return "not asked for on this machine"
        raise Wrong("The address is not https. No assistant connects to it.")
    deployment.get("/")
    try:
        plain = requests.get(f"http://{host.netloc}/", timeout=5, allow_redirects=False)
    except requests.ConnectionError:
        return "https answers, http does not"
    if plain.status_code < requests.codes.multiple_choices:
        raise Wrong("The pages are served over http too. Turn that off, or redirect to https.")
    return "https answers, http only refuses or redirects"


def resource_metadata(deployment: Deployment) -> str:
    """Where assistants find out about the sign-in (RFC 9728)."""
    for path in ("", "/mcp"):
        document = _document(deployment, f"/.well-known/oauth-protected-resource{path}")
        if document.get("resource") != f"{deployment.url}/mcp":
            raise Wrong(
                f"The metadata says the server is {document.get('resource')}. "
                "Deploy again with the DomainName that people use."
            )
        if document.get("authorization_servers") != [deployment.url]:
            raise Wrong("The metadata names another server for the sign-in.")
    return "both forms name this server"


def server_metadata(deployment: Deployment) -> str:
    """How assistants sign in (RFC 8414)."""
    document = _document(deployment, "/.well-known/oauth-authorization-server")
    if document.get("issuer") != deployment.url:
        raise Wrong(f"The issuer is {document.get('issuer')}, not {deployment.url}.")
    endpoints = [value for name, value in document.items() if name.endswith("_endpoint")]
    if foreign := [url for url in endpoints if not str(url).startswith(f"{deployment.url}/")]:
        raise Wrong(f"The sign-in leads elsewhere: {', '.join(map(str, foreign))}")
    return f"{len(endpoints)} endpoints, all here"


def challenge(deployment: Deployment) -> str:
    """The 401 that sends an assistant to the sign-in."""
    answer = deployment.post("/mcp")
    if answer.status_code != requests.codes.unauthorized:
        raise Wrong(f"A call without a token is answered with {answer.status_code}, not 401.")
    if "resource_metadata=" in answer.headers.get("www-authenticate", ""):
        return "WWW-Authenticate arrives under its own name"
    if _RENAMED in answer.headers:
        raise Wrong(
            f"The gateway renames WWW-Authenticate to {_RENAMED}. Most assistants still find the "
            "sign-in by its well-known address; for the others see docs/operations.md."
        )
    raise Wrong("The 401 has no WWW-Authenticate header. Does something stand before the gateway?")


def redirects(deployment: Deployment) -> str:
    """No redirect on the way to /mcp: it would cost a client its body or its token."""
    for path in "/mcp", "/mcp/":
        if deployment.post(path).is_redirect:
            raise Wrong(f"{path} redirects. Remove the redirect before the gateway.")
    return "/mcp and /mcp/ both answer themselves"


def webhook(deployment: Deployment) -> str:
    """Dropbox's challenge, and its signature."""
    answer = deployment.get("/dropbox/webhook?challenge=deploy-check")
    if answer.status_code != requests.codes.ok or answer.text != "deploy-check":
        raise Wrong(f"Dropbox's challenge is not echoed ({answer.status_code}).")
    unsigned = deployment.post("/dropbox/webhook").status_code
    if unsigned == requests.codes.server_error:
        raise Wrong("The webhook fails. Are the Dropbox secrets in place? Run make deploy again.")
    if unsigned != requests.codes.forbidden:
        raise Wrong(f"A notification without a signature is answered with {unsigned}, not 403.")
    return "the challenge is echoed, a forged notification is refused"


def tools(deployment: Deployment) -> str:
    """The tools, with the token of a sign-in."""
    if not deployment.token:
        return "not asked for: give TOKEN=… to list them"
    answer = deployment.post("/mcp", authorization=f"Bearer {deployment.token}")
    if answer.status_code != requests.codes.ok:
        raise Wrong(f"The token is not taken ({answer.status_code}). Sign in again for a new one.")
    return ", ".join(tool["name"] for tool in answer.json()["result"]["tools"])


CHECKS: tuple[Callable[[Deployment], str], ...] = (
    tls,
    resource_metadata,
    server_metadata,
    challenge,
    redirects,
    webhook,
    tools,
)


def findings(deployment: Deployment) -> Iterator[tuple[str, bool, str]]:
    """For each check its name, whether all is well, and what was found."""
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            yield name, True, check(deployment)
        except Wrong as reason:
            yield name, False, str(reason)
        except requests.exceptions.SSLError:
            yield name, False, "The certificate is not valid for this name."
        except (requests.RequestException, ValueError, KeyError) as error:
            yield name, False, f"It does not answer as it should ({type(error).__name__})."


def main() -> int:
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and one address
        print("Give the address: make deploy-check URL=https://…", file=sys.stderr)
        return 2
    url = sys.argv[1].rstrip("/").removesuffix("/mcp")
    is_well = True
    for name, ok, text in findings(Deployment(url, os.environ.get("TOKEN", ""))):
        print(f"{'ok   ' if ok else 'WRONG'}  {name:18} {text}")
        is_well = is_well and ok
    return 0 if is_well else 1


def _document(deployment: Deployment, path: str) -> dict[str, object]:
    answer = deployment.get(path)
    if answer.status_code != requests.codes.ok:
        raise Wrong(f"{path} is answered with {answer.status_code}.")
    document: dict[str, object] = answer.json()
    return document


if __name__ == "__main__":
    sys.exit(main())
