"""The gateway's throttling: a burst, then a rate, for each route by itself."""

from collections.abc import Mapping
from typing import Any

from local.throttle import TEMPLATE, Limit, Throttle
from tests.infra.template import resources

WEBHOOK = ("POST", "/dropbox/webhook")


def test_a_burst_is_let_through_and_then_the_rate() -> None:
    throttle = Throttle({"POST /dropbox/webhook": Limit(rate=2, burst=3)})

    at_once = [throttle.admits(*WEBHOOK, now=10.0) for _ in range(4)]
    in_the_next_second = [throttle.admits(*WEBHOOK, now=11.0) for _ in range(3)]

    assert at_once == [True, True, True, False]
    assert in_the_next_second == [True, True, False]


def test_a_flood_on_one_route_takes_nothing_from_another() -> None:
    throttle = Throttle(TEMPLATE)

    registered = [throttle.admits("POST", "/register", now=0.0) for _ in range(1_000)]

    assert sum(registered) == TEMPLATE["POST /register"].burst
    assert throttle.admits("POST", "/mcp", now=0.0)
    assert throttle.admits("GET", "/account", now=0.0)


def test_a_gateway_without_limits_lets_everything_through() -> None:
    assert all(Throttle({}).admits(*WEBHOOK, now=0.0) for _ in range(1_000))


def test_the_limits_are_those_of_the_template() -> None:
    [stage] = resources("AWS::ApiGatewayV2::Stage").values()
    default, routes = stage["DefaultRouteSettings"], stage["RouteSettings"]
    told = {name: limit_of(settings) for name, settings in routes.items()}
    unnamed = dict.fromkeys(("$default", "ANY /mcp"), limit_of(default))

    assert told | unnamed == TEMPLATE


def limit_of(settings: Mapping[str, Any]) -> Limit:
    return Limit(settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"])
