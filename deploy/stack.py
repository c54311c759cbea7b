"""The stack of one stage: what it was told, what it tells, and how it comes about."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from deploy.build import digest
from deploy.sam import sam

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_lambda import LambdaClient

KEPT_VERSIONS: Final = 2
"""The one that serves, and the one before it, to go back to."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that may exist. `environment` is what SAM finds the account by."""

    cloudformation: "CloudFormationClient"
    stage: str
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"memorybox-{self.stage}"

    def parameters(self) -> Mapping[str, str] | None:
        """What it was told last time; None if it does not exist."""
        found = self._described()
        return found and {p["ParameterKey"]: p["ParameterValue"] for p in found["Parameters"]}

    def outputs(self) -> Mapping[str, str]:
        """What it says about its resources; nothing if it does not exist."""
        outputs = (self._described() or {}).get("Outputs", [])
        return {output["OutputKey"]: output["OutputValue"] for output in outputs}

    def deploy(self, template: Path, parameters: Mapping[str, str], *, quiet: bool = True) -> None:
        """Make the stack, or bring it up to the built template."""
        told = {**parameters, "Stage": self.stage}
        told["Release"] = release(template, told)
        sam(
            "deploy",
            *["--template-file", str(template), "--stack-name", self.name, "--resolve-s3"],
            *["--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset"],
            *["--no-fail-on-empty-changeset", "--no-progressbar", "--parameter-overrides"],
            *overrides(told),
            environment=self.environment,
            quiet=quiet,
        )

    def prune(self, lambdas: "LambdaClient") -> None:
        """Delete all versions of functions but the last two: each has a snapshot to pay for."""
        resources = self.cloudformation.describe_stack_resources(StackName=self.name)
        for resource in resources["StackResources"]:
            if resource["ResourceType"] == "AWS::Lambda::Function":
                _prune(lambdas, resource["PhysicalResourceId"])

    def delete(self) -> None:
        """Delete it, and return when it is gone. What its template retains stays."""
        self.cloudformation.delete_stack(StackName=self.name)
        self.cloudformation.get_waiter("stack_delete_complete").wait(StackName=self.name)

    def _described(self) -> Any:
        try:
            [found] = self.cloudformation.describe_stacks(StackName=self.name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        return found


def _prune(lambdas: "LambdaClient", function: str) -> None:
    pages = lambdas.get_paginator("list_versions_by_function").paginate(FunctionName=function)
    found = [version["Version"] for page in pages for version in page["Versions"]]
    numbers = sorted(int(version) for version in found if version.isdecimal())
    for number in numbers[:-KEPT_VERSIONS]:
        lambdas.delete_function(FunctionName=function, Qualifier=str(number))


def overrides(parameters: Mapping[str, str]) -> list[str]:
    """In quotes: SAM refuses a bare value that is empty, and ends one at its first space."""
    return [f'{name}="{value}"' for name, value in parameters.items()]


def release(template: Path, parameters: Mapping[str, str]) -> str:
    """A name for all that versions are made of. SAM itself looks at a function's own code only."""
    told = "".join(f"{name}={value}\0" for name, value in sorted(parameters.items()))
    return sha256(f"{digest(template.parent)}\0{told}".encode()).hexdigest()[:16]
