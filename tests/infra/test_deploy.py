"""What `make deploy` asks, keeps and passes on."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import boto3
import pytest
from moto import mock_aws

from deploy.questions import keep_secrets, settings
from deploy.relist import take_cursors
from deploy.stack import Stack, overrides, release
from tests.infra.template import ROOT

PREFIX = "/memorybox/prod"


class Answering:
    """A person with prepared answers, by words of the question."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.asked: list[str] = []
        self._answers = answers

    def tells(self, question: str, usual: str = "") -> str:
        self.asked.append(question)
        return next((a for words, a in self._answers.items() if words in question), usual)

    def confides(self, question: str) -> str:
        return self.tells(question)


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[boto3.Session]:
    for name in "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY":
        monkeypatch.setenv(name, "test")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)  # of an emulator that other tests run
    with mock_aws():
        yield boto3.Session(region_name="us-east-1")


@pytest.fixture
def ssm(cloud: boto3.Session) -> Any:
    return cloud.client("ssm")


def kept(ssm: Any) -> dict[str, tuple[str, str]]:
    found = ssm.get_parameters_by_path(Path=PREFIX, WithDecryption=True)["Parameters"]
    return {p["Name"].rpartition("/")[2]: (p["Type"], p["Value"]) for p in found}


def test_only_a_secret_that_is_missing_is_asked_for(ssm: Any) -> None:
    ssm.put_parameter(Name=f"{PREFIX}/dropbox-app-key", Value="known", Type="SecureString")
    person = Answering({"App secret": "s3cret", "embeddings": "sk-1"})

    keep_secrets(ssm, PREFIX, person)

    assert kept(ssm) == {
        "dropbox-app-key": ("SecureString", "known"),
        "dropbox-app-secret": ("SecureString", "s3cret"),
        "openai-api-key": ("SecureString", "sk-1"),
    }
    assert len(person.asked) == 2


def test_secrets_are_asked_for_anew_on_request(ssm: Any) -> None:
    ssm.put_parameter(Name=f"{PREFIX}/dropbox-app-key", Value="known", Type="SecureString")
    keep_secrets(ssm, PREFIX, Answering({"App": "new", "embeddings": "new"}), anew=True)
    assert {value for _, value in kept(ssm).values()} == {"new"}


def test_what_is_left_empty_is_as_the_template_has_it() -> None:
    assert settings(Answering({})) == {}


def test_another_embeddings_service_brings_its_own_questions() -> None:
    answers = {"Embeddings service": "https://e.example/v1", "model": "e5", "E-mail": "a@b.example"}
    answers |= {"faults": "s@b.example", "Name of your Dropbox app": "Our Box"}
    assert settings(Answering(answers)) == {
        "AlarmEmail": "a@b.example",
        "SecurityContact": "mailto:s@b.example",
        "DropboxFolder": "Apps/Our Box",
        "EmbeddingBaseUrl": "https://e.example/v1",
        "EmbeddingModel": "e5",
        "EmbeddingDimensions": "512",
        "EmbeddingPrice": "0.0118",
    }


def test_an_upgrade_passes_on_what_was_left_empty_and_what_has_spaces() -> None:
    told = {
        "AlarmEmail": "",
        "DropboxFolder": "Apps/Our Box",
        "RedirectHosts": "a.example,b.example",
    }
    program = """
        import json, sys
        from samcli.cli.types import CfnParameterOverridesType
        print(json.dumps(CfnParameterOverridesType().convert(sys.argv[1:], None, None)))
        """
    python = ROOT / ".venv-sam/bin/python"
    ran = subprocess.run(
        [python, "-c", dedent(program), *overrides(told)], capture_output=True, check=True
    )
    assert json.loads(ran.stdout) == told


def test_a_changed_layer_or_setting_is_another_release(tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text("Resources: {}")
    (tmp_path / "layer.py").write_text("x = 1")
    first, again = release(template, {"A": "1"}), release(template, {"A": "1"})
    another_setting = release(template, {"A": "2"})
    (tmp_path / "layer.py").write_text("x = 2")
    another_layer = release(template, {"A": "1"})

    assert first == again
    assert len({first, another_setting, another_layer}) == 3


class Versions:
    """CloudFormation and Lambda, as far as versions of functions go."""

    def __init__(self, *versions: str) -> None:
        self.left = ["$LATEST", *versions]

    def describe_stack_resources(self, **_: str) -> object:
        function = {"ResourceType": "AWS::Lambda::Function", "PhysicalResourceId": "f"}
        return {"StackResources": [function, {"ResourceType": "AWS::SQS::Queue"}]}

    def get_paginator(self, _: str) -> "Versions":
        return self

    def paginate(self, **_: str) -> object:
        return [{"Versions": [{"Version": version} for version in self.left]}]

    def delete_function(self, *, FunctionName: str, Qualifier: str) -> None:  # noqa: N803 - AWS's
        assert FunctionName == "f"
        self.left.remove(Qualifier)


def test_the_version_that_serves_and_the_one_before_it_are_kept() -> None:
    versions: Any = Versions("9", "10", "11", "2")
    Stack(versions, "prod", {}).prune(versions)
    assert versions.left == ["$LATEST", "10", "11"]


def test_every_cursor_is_taken_under_a_new_version_and_nothing_else_is_touched(
    cloud: boto3.Session,
) -> None:
    table = cloud.resource("dynamodb").create_table(
        TableName="memory",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
    )
    others: list[dict[str, Any]] = [
        {"pk": "A#ann", "sk": "account", "place": "at home"},
        {"pk": "A#ann", "sk": "file#/cursor", "version": 7},
        {"pk": "A#carl", "sk": "pack#garden", "generation": 3},
    ]
    before: list[dict[str, Any]] = [
        {"pk": "A#ann", "sk": "cursor", "place": "AAG-j7tL", "version": 7},
        {"pk": "A#bob", "sk": "cursor", "place": None, "version": 1},
    ]
    for item in (*others, *before):
        table.put_item(Item=item)

    assert take_cursors(cloud.client("dynamodb"), "memory") == 2

    after = [{**item, "place": None, "version": item["version"] + 1} for item in before]
    found = {(item["pk"], item["sk"]): item for item in table.scan()["Items"]}
    assert found == {(item["pk"], item["sk"]): item for item in (*others, *after)}
