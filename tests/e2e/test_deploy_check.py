"""What `make deploy-check` finds on a deployment that is well, and on one that is not."""

import pytest

from deploy.check import Deployment, findings
from local.gateway import Gateway
from local.product import Product
from tests.e2e.tokens import sign_in

pytestmark = pytest.mark.e2e


def test_nothing_is_wrong_with_what_runs_here(product: Product) -> None:
    deployment = Deployment(product.url, sign_in(product.url)["access_token"])
    assert list(findings(deployment)) == [
        ("tls", True, "not asked for on this machine"),
        ("resource metadata", True, "both forms name this server"),
        ("server metadata", True, "4 endpoints, all here"),
        ("challenge", True, "WWW-Authenticate arrives under its own name"),
        ("redirects", True, "/mcp and /mcp/ both answer themselves"),
        ("webhook", True, "the challenge is echoed, a forged notification is refused"),
        ("tools", True, "list, read, write, append, patch, search"),
    ]


def test_a_renamed_challenge_and_a_bad_token_are_said_in_words(
    product: Product, gateway: Gateway
) -> None:
    gateway.renames_challenge = True
    try:
        found = list(findings(Deployment(product.url, "mem_at_wrong")))
    finally:
        gateway.renames_challenge = False
    wrong = {name: text for name, is_well, text in found if not is_well}
    assert wrong == {
        "challenge": (
            "The gateway renames WWW-Authenticate to x-amzn-remapped-www-authenticate. Most "
            "assistants still find the sign-in by its well-known address; for the others see "
            "docs/operations.md."
        ),
        "tools": "The token is not taken (401). Sign in again for a new one.",
    }


def test_an_address_where_nothing_answers_is_wrong_in_every_check() -> None:
    found = list(findings(Deployment("http://127.0.0.1:1")))
    assert {name for name, is_well, _ in found if not is_well} == {
        "resource metadata",
        "server metadata",
        "challenge",
        "redirects",
        "webhook",
    }
