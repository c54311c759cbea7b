"""Which hosts and origins are let in."""

import pytest

from memorybox.settings import LOOPBACK_HOSTS
from memorybox.web.perimeter import Perimeter

PUBLIC = Perimeter(
    frozenset({"memory.example"}),
    frozenset({"https://memory.example", "https://inspector.example"}),
)
LOCAL = Perimeter(LOOPBACK_HOSTS, frozenset({"http://localhost:8080"}))


@pytest.mark.parametrize(
    "values",
    [["memory.example"], ["Memory.Example"], ["memory.example:443"], ["memory.example:1"]],
)
def test_the_configured_host_is_admitted(values: list[str]) -> None:
    assert PUBLIC.admits_host(values)


@pytest.mark.requirement("A2")
@pytest.mark.parametrize(
    "value",
    [
        "a:b:c", "[::1]:80", "evil/mcp?", "@x", "memory.example:", "memory.example:notaport",
        "memory.example:999999", "memory.example:443:443", "memory.example\t", "memory.example\n",
        "memory.example\x00", "memory.example\\", "memory.example%00", "memory.example;x",
        "user@memory.example", "https://memory.example", "//memory.example", "*.example", "*",
        "memory_example", "m\u00e9mory.example", "[memory.example]", "[]", ":443", "127.0.0.1",
        "localhost:8080", "0.0.0.1", "2130706433", "0x7f.1",
    ],
)  # fmt: skip
def test_no_other_form_of_a_host_is_admitted(value: str) -> None:
    assert not PUBLIC.admits_host([value])


def test_a_request_has_exactly_one_host() -> None:
    assert not PUBLIC.admits_host([])
    assert not PUBLIC.admits_host(["memory.example", "memory.example"])


@pytest.mark.parametrize("value", ["localhost", "localhost:3000", "127.0.0.1:8080", "[::1]:80"])
def test_every_name_and_port_of_ones_own_machine_is_admitted_there(value: str) -> None:
    assert LOCAL.admits_host([value])


@pytest.mark.parametrize("value", ["evil.example:8080", "localhost.evil.example", "[::2]"])
def test_a_name_that_was_bound_again_to_ones_own_machine_is_not(value: str) -> None:
    assert not LOCAL.admits_host([value])


@pytest.mark.parametrize("origin", [None, "https://memory.example", "https://inspector.example"])
def test_no_origin_and_a_listed_one_are_admitted(origin: str | None) -> None:
    assert PUBLIC.admits_origin(origin)


@pytest.mark.requirement("A2")
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://memory.example",
        "https://memory.example:8443",
        "https://memory.example/",
        "https://memory.example.evil.example",
        "HTTPS://memory.example",
        "http://localhost:6274",
    ],
)
def test_every_other_origin_is_refused(origin: str) -> None:
    assert not PUBLIC.admits_origin(origin)


@pytest.mark.parametrize("origin", ["http://localhost:6274", "http://127.0.0.1", "http://[::1]:1"])
def test_programs_of_ones_own_machine_may_call_each_other(origin: str) -> None:
    assert LOCAL.admits_origin(origin)


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost.evil:1"])
def test_a_site_may_not_call_ones_own_machine(origin: str) -> None:
    assert not LOCAL.admits_origin(origin)
