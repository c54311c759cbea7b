"""The template as plain data: `!Ref X` is {"Ref": "X"}, `!GetAtt X.Y` is {"Fn::GetAtt": "X.Y"}."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

ROOT = Path(__file__).parents[2]

Resources: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Properties by logical id."""


class _Loader(yaml.SafeLoader):
    """Reads the short forms of CloudFormation's functions."""


def _function(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.ScalarNode)
    return {name: loader.construct_scalar(node)}


_Loader.add_multi_constructor("!", _function)


@cache
def template() -> Mapping[str, Any]:
    document: Mapping[str, Any] = yaml.load((ROOT / "template.yaml").read_text(), _Loader)  # noqa: S506 - a safe loader
    return document


def resources(kind: str) -> Resources:
    """All of a type, as `AWS::SQS::Queue`."""
    return {
        name: resource["Properties"]
        for name, resource in template()["Resources"].items()
        if resource["Type"] == kind
    }


def functions() -> Resources:
    """With what all of them have in common."""
    common = template()["Globals"]["Function"]
    return {
        name: {**common, **properties}
        for name, properties in resources("AWS::Serverless::Function").items()
    }


def statements(node: Any) -> Iterator[Mapping[str, Any]]:
    """Every statement of every policy below a node."""
    if isinstance(node, Mapping):
        if "Effect" in node:
            yield node
        for item in node.values():
            yield from statements(item)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for item in node:
            yield from statements(item)


def role_statements(function: str) -> list[Mapping[str, Any]]:
    """What the role of a function allows, by its own policies and those it shares."""
    role = resources("AWS::IAM::Role")[f"{function}Role"]
    shared = resources("AWS::IAM::ManagedPolicy")
    policies = [shared[arn["Ref"]] for arn in role["ManagedPolicyArns"]]
    return [*statements(role["Policies"]), *statements(policies)]


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
