"""What `make build` makes: layers that hold what the functions import, and nothing else."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from deploy.build import MOST_MEGABYTES, digest, sizes
from local.lambdas import Function, Settings
from local.runtime_api import Failed
from local.runtime_client import alone

LAYERS = ("DependenciesLayer", "MemoryboxLayer")
GET = {
    "version": "2.0",
    "routeKey": "$default",
    "rawPath": "/.well-known/oauth-protected-resource",
    "rawQueryString": "",
    "headers": {"host": "localhost"},
    "requestContext": {
        "http": {"method": "GET", "path": "/", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"},
        "stage": "$default",
    },
    "isBase64Encoded": False,
}
CHALLENGE = {
    "requestContext": {"http": {"method": "GET"}},
    "queryStringParameters": {"challenge": "echo"},
    "headers": {},
}

RECORD = {"messageId": "m1", "body": "not JSON", "eventSource": "aws:sqs"}


def everything(built: Path) -> list[str]:
    return [str(path.relative_to(built)) for layer in LAYERS for path in (built / layer).rglob("*")]


def test_a_function_and_its_layers_are_within_what_lambda_unpacks(built: Path) -> None:
    found = sizes(built)
    assert set(found) == {*LAYERS, "IndexerFunction", "McpFunction", "WebhookFunction"}
    assert sum(found.values()) < MOST_MEGABYTES * 1_000_000


def test_every_module_is_compiled(built: Path) -> None:
    tag = sys.implementation.cache_tag
    sources = [path for layer in LAYERS for path in (built / layer).rglob("*.py")]
    assert len(sources) > 1_000
    assert not [
        path
        for path in sources
        if not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").exists()
    ]


def test_neither_tests_nor_type_stubs_are_shipped(built: Path) -> None:
    assert not [
        path for path in everything(built) if path.endswith(".pyi") or "/tests/" in f"{path}/"
    ]


def test_pages_and_their_style_are_shipped(built: Path) -> None:
    web = built / "MemoryboxLayer/python/memorybox/web/templates"
    source = Path("layers/memorybox/memorybox/web/templates")
    assert sorted(path.name for path in web.iterdir()) == sorted(
        path.name for path in source.iterdir()
    )


def test_an_equal_build_has_an_equal_name(built: Path, tmp_path: Path) -> None:
    def copy(name: str, text: str) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
        return digest(tmp_path / name)

    assert copy("one", "x = 1") == copy("two", "x = 1") != copy("three", "x = 2")
    assert digest(built) == digest(built)


CALLS: Mapping[str, tuple[object, Mapping[str, object]]] = {
    "Mcp": (GET, {"statusCode": 200}),
    "Webhook": (CHALLENGE, {"statusCode": 200, "body": "echo"}),
    "Indexer": ({"Records": [RECORD]}, {"batchItemFailures": [{"itemIdentifier": "m1"}]}),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("warm_up", ["", "1"])
def test_a_handler_starts_from_what_was_built_alone(
    built: Path, tmp_path: Path, name: str, warm_up: str
) -> None:
    event, expected = CALLS[name]
    said: list[str] = []
    layers = [str(built / layer / "python") for layer in LAYERS]
    environment = {
        "AWS_DEFAULT_REGION": "us-east-1",
        "WARM_UP": warm_up,
        "PYTHONPATH": ":".join([*layers, str(alone(tmp_path))]),
    }
    function = Function(
        Settings(
            name,
            built / f"{name}Function",
            30,
            environment,
            python=(sys.executable, "-S"),  # without the packages that are installed here
        ),
        said.append,
    )
    try:
        answer = function.invoke(event)
    except Failed as error:
        raise AssertionError(said) from error
    finally:
        function.stop()
    assert isinstance(answer, dict), said
    assert {name: answer[name] for name in expected} == expected


def test_the_built_template_has_no_aliases_and_names_what_was_built(built: Path) -> None:
    text = (built / "template.yaml").read_text()
    document = yaml.safe_load(text)
    assert "&id" not in text
    assert document["Resources"]["McpFunction"]["Properties"]["CodeUri"] == "McpFunction"
