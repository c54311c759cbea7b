"""The secrets of the deployment, as they are put into the parameter store."""

import pytest

from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.parameters import SsmSecrets
from memorybox.settings import Secrets
from tests.fakes.clock import FakeClock
from tests.wire import requests_of


def put(clients: Clients, prefix: str, **values: str) -> None:
    for name, value in values.items():
        clients.ssm.put_parameter(
            Name=f"{prefix}/{name.replace('_', '-')}",
            Value=value,
            Type="SecureString",
            Overwrite=True,
        )


@pytest.mark.requirement("D2")
def test_secrets_are_read_decrypted_and_those_without_need_may_be_missing(
    clients: Clients,
) -> None:
    prefix = "/memorybox/first"
    put(clients, prefix, dropbox_app_key="key", dropbox_app_secret="secret", openai_api_key="sk")

    assert SsmSecrets(clients.ssm, prefix, FakeClock()).get() == Secrets(
        dropbox_app_key="key",
        dropbox_app_secret="secret",
        webhook_secrets=("secret",),
        openai_api_key="sk",
        clients=(),
    )


def test_a_secret_that_is_needed_and_missing_is_named(clients: Clients) -> None:
    with pytest.raises(KeyError, match="dropbox-app-secret"):
        SsmSecrets(clients.ssm, "/memorybox/none", FakeClock()).get()


def test_a_changed_secret_is_in_use_within_the_hour_and_kept_meanwhile(clients: Clients) -> None:
    prefix, clock = "/memorybox/changed", FakeClock()
    put(clients, prefix, dropbox_app_key="key", dropbox_app_secret="old")
    secrets = SsmSecrets(clients.ssm, prefix, clock)
    secrets.get()
    put(clients, prefix, dropbox_app_secret="new")

    with requests_of(clients.ssm) as sent:
        assert secrets.get().dropbox_app_secret == "old"
        assert not sent

    clock.sleep(60 * 60)
    assert secrets.get().dropbox_app_secret == "new"
