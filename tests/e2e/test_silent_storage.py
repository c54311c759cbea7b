"""While nothing of AWS answers, every request is told so in time; and afterwards all is well."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from local.product import Options, Product
from tests.e2e.tokens import REDIRECT_URI, sign_in
from tests.support.network import Fault, Network, Weather

pytestmark = [pytest.mark.e2e, pytest.mark.soak]

PROMISED = 26.0
"""Seconds: 25, and one for a machine that does other things too."""

LONGEST = 40.0


class Silence(Weather):
    """Every exchange goes wrong in the same way, and takes longer than anybody waits."""

    def at(self, number: int) -> tuple[Fault | None, float]:
        return list(Fault)[self.seed], LONGEST


@pytest.fixture(params=[Fault.DELAYED_REQUEST, Fault.DELAYED_ANSWER, Fault.DRIPPING])
def silenced(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Product, Network]]:
    (tmp_path / "box").mkdir()
    with ExitStack() as running:
        weather = Silence(list(Fault).index(request.param), share=1.0, longest=LONGEST)
        network = running.enter_context(Network(lambda: product.aws.endpoint, weather))
        options = Options(
            tmp_path / "box",
            tmp_path / "state",
            model="hashed",
            environment={"AWS_ENDPOINT_URL": network.url},
        )
        product = running.enter_context(Product(options, say=lambda _: None))
        yield product, network


@pytest.mark.promise("P-206")
def test_every_request_is_told_in_time_that_storage_is_silent(
    silenced: tuple[Product, Network],
) -> None:
    product, network = silenced
    signed_in = sign_in(product.url)
    bearer = {"authorization": f"Bearer {signed_in['access_token']}"}
    params = {"name": "list", "arguments": {"workspace": "garden"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    refresh = {
        "grant_type": "refresh_token",
        "refresh_token": signed_in["refresh_token"],
        "client_id": signed_in["client_id"],
    }
    consent = {
        "response_type": "code",
        "client_id": signed_in["client_id"],
        "redirect_uri": REDIRECT_URI,
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }

    def ask(method: str, path: str, **request: Any) -> requests.Response:
        return requests.request(method, product.url + path, timeout=60, **request)

    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/mcp", {"json": call, "headers": bearer}),
        ("POST", "/token", {"data": refresh}),
        ("POST", "/register", {"json": {"redirect_uris": [REDIRECT_URI]}}),
        ("GET", "/authorize", {"params": consent}),
    ]
    network.is_bad = True
    with ThreadPoolExecutor() as threads:
        begun = [threads.submit(ask, method, path, **more) for method, path, more in asked]
        answers = [each.result() for each in begun]
    network.is_bad = False

    assert [(answer.status_code, "retry-after" in answer.headers) for answer in answers] == [
        (requests.codes.unavailable, True)
    ] * len(asked)
    assert max(answer.elapsed.total_seconds() for answer in answers) < PROMISED
    assert ask("POST", "/mcp", json=call, headers=bearer).status_code == requests.codes.ok
