"""What lint cannot see in the template."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest

from memorybox.accounts import service
from memorybox.adapters.aws.parameters import NAMES
from memorybox.settings import Settings
from tests.infra.template import (
    ROOT,
    functions,
    listed,
    resources,
    role_statements,
    statements,
    template,
)

FUNCTIONS = ["Mcp", "Webhook", "Indexer"]
KEPT = ["MemoryTable", "AuthTable", "Bucket", "TokenKey"]
PURPOSES = {service._REFRESH, service._ACCESS}  # noqa: SLF001 - the template must name the same


def allowed() -> list[Any]:
    return [s for s in statements(template()["Resources"]) if s["Effect"] == "Allow"]


def test_no_permission_has_a_wildcard_but_the_key_s_own_administration() -> None:
    wide = [
        statement.get("Sid")
        for statement in allowed()
        if any("*" in str(action) for action in listed(statement["Action"]))
        or "*" in listed(statement.get("Resource"))
    ]
    assert wide == ["AdministeredByThisAccount"]


def test_every_function_has_a_role_of_its_own() -> None:
    roles = {name: f["Role"]["Fn::GetAtt"] for name, f in functions().items()}
    assert roles == {f"{name}Function": f"{name}Role.Arn" for name in FUNCTIONS}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_token_is_sealed_and_opened_only_by_naming_its_account_and_purpose(
    function: str,
) -> None:
    of_key = [s for s in role_statements(function) if "kms:" in str(s["Action"])]
    assert of_key
    for statement in of_key:
        condition = statement["Condition"]
        assert condition["Null"] == {"kms:EncryptionContext:account_id": "false"}
        purposes = condition["StringEquals"]["kms:EncryptionContext:purpose"]
        assert set(listed(purposes)) <= PURPOSES


def test_only_where_people_sign_in_is_a_refresh_token_sealed() -> None:
    may = {
        function
        for function in FUNCTIONS
        for statement in role_statements(function)
        if statement["Action"] == "kms:Encrypt"
        and statement["Condition"]["StringEquals"]["kms:EncryptionContext:purpose"]
        == service._REFRESH  # noqa: SLF001
    }
    assert may == {"Mcp"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_reads_the_secrets_that_the_code_names_and_no_others(function: str) -> None:
    [statement] = [s for s in role_statements(function) if s["Action"] == "ssm:GetParameter"]
    names = [arn["Fn::Sub"].rpartition("/")[2] for arn in statement["Resource"]]
    assert sorted(names) == sorted(NAMES)


def test_the_webhook_reaches_no_pack_and_no_grant() -> None:
    reached = str([statement["Resource"] for statement in role_statements("Webhook")])
    assert "Bucket" not in reached
    assert "AuthTable" not in reached


def test_no_function_may_scan_a_table() -> None:
    assert not [s for s in allowed() if "dynamodb:Scan" in listed(s["Action"])]


def test_a_message_stays_hidden_for_six_times_the_indexer_s_time_and_its_window() -> None:
    indexer = functions()["IndexerFunction"]
    source = indexer["Events"]["Queue"]["Properties"]
    least = 6 * indexer["Timeout"] + source["MaximumBatchingWindowInSeconds"]
    assert resources("AWS::SQS::Queue")["IndexQueue"]["VisibilityTimeout"] >= least


def test_a_failing_message_is_tried_five_times_and_then_kept_for_two_weeks() -> None:
    queues = resources("AWS::SQS::Queue")
    assert queues["IndexQueue"]["RedrivePolicy"] == {
        "deadLetterTargetArn": {"Fn::GetAtt": "DeadLetters.Arn"},
        "maxReceiveCount": 5,
    }
    assert queues["DeadLetters"]["MessageRetentionPeriod"] == 14 * 24 * 60 * 60


def test_a_batch_gives_back_only_what_failed() -> None:
    source = functions()["IndexerFunction"]["Events"]["Queue"]["Properties"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert isinstance(source["ScalingConfig"]["MaximumConcurrency"], int)


def test_every_function_has_its_log_group_alarm_alias_layers_memory_and_time() -> None:
    alarmed = {
        dimension["Value"]["Ref"]
        for alarm in resources("AWS::CloudWatch::Alarm").values()
        if alarm["MetricName"] == "Errors"
        for dimension in alarm["Dimensions"]
    }
    for name, function in functions().items():
        group = function["LoggingConfig"]["LogGroup"]["Ref"]
        assert resources("AWS::Logs::LogGroup")[group]["RetentionInDays"]
        assert name in alarmed
        assert function["AutoPublishAlias"] == "live"
        assert function["AutoPublishCodeSha256"] == {"Ref": "Release"}
        assert function["SnapStart"] == {"ApplyOn": {"Ref": "SnapStart"}}
        assert [layer["Ref"] for layer in function["Layers"]] == [
            "DependenciesLayer",
            "MemoryboxLayer",
        ]
        assert function["MemorySize"] >= 512
        assert function["Timeout"]


def test_the_gateway_calls_aliases_and_may() -> None:
    targets = [
        integration["IntegrationUri"]["Ref"]
        for integration in resources("AWS::ApiGatewayV2::Integration").values()
    ]
    permitted = [
        permission["FunctionName"]["Ref"]
        for permission in resources("AWS::Lambda::Permission").values()
    ]
    assert targets == permitted == ["McpFunction.Alias", "WebhookFunction.Alias"]


def test_a_throttled_route_exists_before_its_stage() -> None:
    routes = {
        route["RouteKey"]: name for name, route in resources("AWS::ApiGatewayV2::Route").items()
    }
    stage = template()["Resources"]["ApiStage"]
    throttled = {routes[key] for key in stage["Properties"]["RouteSettings"]}
    assert throttled <= set(stage["DependsOn"])


@pytest.mark.parametrize("name", KEPT)
def test_what_people_rely_on_outlives_the_stack(name: str) -> None:
    resource = template()["Resources"][name]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


@pytest.mark.parametrize("name", ["MemoryTable", "AuthTable"])
def test_a_table_forgets_by_itself_and_can_be_restored(name: str) -> None:
    table = resources("AWS::DynamoDB::Table")[name]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True


def test_the_bucket_is_closed_encrypted_and_reached_by_tls_alone() -> None:
    bucket = resources("AWS::S3::Bucket")["Bucket"]
    [statement] = statements(resources("AWS::S3::BucketPolicy"))
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


FIXED = {
    "ACCESS_TOKEN_SECONDS": "a leaked one should not live longer, and renewing costs calls",
}
"""Settings that no deployer has a reason to change."""


def test_every_setting_is_set_by_the_template_or_named_as_fixed() -> None:
    read = set(re.findall(r'"([A-Z][A-Z_]+)"', inspect.getsource(Settings.from_environment)))
    assert len(read) > 20
    assert read == {*environment(), *FIXED}
    assert not environment().keys() & FIXED.keys()


def test_a_parameter_that_nobody_sets_is_as_the_code_has_it() -> None:
    """What a release says of its defaults is true, wherever it is read."""
    parameters = template()["Parameters"]
    named = {name: str(value.get("Ref")) for name, value in environment().items()}
    defaults = {
        name: str(parameters[parameter]["Default"])
        for name, parameter in named.items()
        if parameter in parameters and parameter != "Stage"
    }
    assert len(defaults) > 15
    assert Settings.from_environment(defaults) == Settings.from_environment({})


def test_every_parameter_says_what_it_is_for_and_has_a_default() -> None:
    for name, parameter in template()["Parameters"].items():
        assert parameter["Description"], name
        assert "Default" in parameter, name


def test_every_parameter_for_deployers_is_in_the_documents() -> None:
    documented = (ROOT / "docs/deploy.md").read_text()
    assert [name for name in template()["Parameters"] if f"`{name}`" not in documented] == []


def environment() -> Mapping[str, Any]:
    variables: Mapping[str, Any] = template()["Globals"]["Function"]["Environment"]["Variables"]
    return variables


def test_no_secret_is_in_the_environment_or_a_parameter() -> None:
    names = [*environment(), *template()["Parameters"]]
    assert [n for n in names if "secret" in n.lower() and n.lower() != "secretsprefix"] == [
        "SECRETS_PREFIX"
    ]


def test_the_access_log_has_neither_paths_nor_headers() -> None:
    stage = resources("AWS::ApiGatewayV2::Stage")["ApiStage"]
    shown = stage["AccessLogSettings"]["Format"]
    for forbidden in ("path", "header", "querystring", "identity", "authorizer"):
        assert forbidden not in shown


def test_every_alarm_tells_the_operator_if_there_is_one() -> None:
    for alarm in resources("AWS::CloudWatch::Alarm").values():
        [condition, told, _] = alarm["AlarmActions"]["Fn::If"]
        assert (condition, told) == ("HasAlarmEmail", [{"Ref": "AlarmTopic"}])
