"""What every Vault promises: in memory and on KMS."""

import pytest

from local import aws
from memorybox.accounts.model import AccountId
from memorybox.accounts.ports import Vault
from memorybox.adapters.aws.clients import Clients
from memorybox.adapters.aws.vault import KmsVault, SealedForAnother
from tests.fakes.accounts import InMemoryVault

ALICE, BOB = AccountId("dbid:alice"), AccountId("dbid:bob")


@pytest.fixture(params=["memory", "kms"])
def vault(request: pytest.FixtureRequest) -> Vault:
    if request.param == "memory":
        return InMemoryVault()
    clients: Clients = request.getfixturevalue("clients")
    cloud: aws.Aws = request.getfixturevalue("cloud")
    return KmsVault(clients.kms, cloud.token_key_arn)


def test_a_secret_comes_back_as_it_was(vault: Vault) -> None:
    secret = "a token of 4,000 bytes" + "x" * 3_978

    sealed = vault.seal(secret, account_id=ALICE, purpose="refresh")

    assert secret.encode() not in sealed
    assert vault.open(sealed, account_id=ALICE, purpose="refresh") == secret


@pytest.mark.requirement("D1")
@pytest.mark.parametrize(("account", "purpose"), [(BOB, "refresh"), (ALICE, "access")])
def test_a_secret_opens_for_its_own_account_and_purpose_only(
    vault: Vault, account: AccountId, purpose: str
) -> None:
    sealed = vault.seal("secret", account_id=ALICE, purpose="refresh")

    with pytest.raises((ValueError, SealedForAnother)):
        vault.open(sealed, account_id=account, purpose=purpose)
