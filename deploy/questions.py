"""What the person who deploys is asked: secrets once, settings the first time."""

from collections.abc import Mapping
from dataclasses import dataclass
from getpass import getpass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient


class Person(Protocol):
    """Who answers."""

    def tells(self, question: str, usual: str = "") -> str:
        """An answer in one line, or `usual` if it is empty."""

    def confides(self, question: str) -> str:
        """An answer that nobody sees."""


class AtTheTerminal:
    """The port Person."""

    def tells(self, question: str, usual: str = "") -> str:
        return input(f"{question}{f' [{usual}]' if usual else ''}: ").strip() or usual

    def confides(self, question: str) -> str:
        return getpass(f"{question}: ").strip()


@dataclass(frozen=True, slots=True)
class Secret:
    """A parameter of Systems Manager, by the last part of its name."""

    name: str
    question: str


SECRETS: Final = (
    Secret("dropbox-app-key", "App key of your Dropbox app"),
    Secret("dropbox-app-secret", "App secret of your Dropbox app"),
    Secret("openai-api-key", "Key of the embeddings service"),
)


def keep_secrets(ssm: "SSMClient", prefix: str, person: Person, *, anew: bool = False) -> None:
    """Ask for every secret that is missing, or for all of them `anew`, and keep it encrypted.

    CloudFormation cannot make such a parameter, so no secret is in a template or in a stack.
    """
    names = [f"{prefix}/{secret.name}" for secret in SECRETS]
    known = {found["Name"] for found in ssm.get_parameters(Names=names)["Parameters"]}
    for secret, name in zip(SECRETS, names, strict=True):
        if name not in known or anew:
            value = person.confides(secret.question)
            ssm.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)


def settings(person: Person) -> Mapping[str, str]:
    """Parameters of the template. What is left empty is as the template has it."""
    answers = {
        "AlarmEmail": person.tells("E-mail address for alarms (empty for none)"),
        "DomainName": person.tells("A host name of your own (empty for API Gateway's)"),
    }
    if answers["DomainName"]:
        answers["CertificateArn"] = person.tells("ARN of its certificate, in the same region")
    if address := person.tells(
        "Who is told of faults, on /security (empty for security@ the host)"
    ):
        answers["SecurityContact"] = f"mailto:{address}"
    if name := person.tells("Name of your Dropbox app (empty for LLMemoryBox)"):
        answers["DropboxFolder"] = f"Apps/{name}"
    answers["EmbeddingBaseUrl"] = person.tells("Embeddings service (empty for OpenAI)")
    if answers["EmbeddingBaseUrl"]:
        answers |= {
            "EmbeddingModel": person.tells("Its model"),
            "EmbeddingDimensions": person.tells("Dimensions of its vectors", "512"),
            "EmbeddingPrice": person.tells("Dollars for a million tokens", "0.0118"),
        }
    return {name: value for name, value in answers.items() if value}
