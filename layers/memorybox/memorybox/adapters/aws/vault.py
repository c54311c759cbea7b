"""The vault on KMS: the key never leaves it, and each secret is bound to its account and use."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from memorybox.accounts.model import AccountId
from memorybox.adapters.aws.errors import aws_errors, code_of

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class SealedForAnother(Exception):
    """Sealed for another account or purpose, or changed since."""


class KmsVault:
    """The port Vault. A secret has at most 4,096 bytes."""

    def __init__(self, client: "KMSClient", key_arn: str) -> None:
        self._client = client
        self._key_arn = key_arn

    def seal(self, secret: str, *, account_id: AccountId, purpose: str) -> bytes:
        with aws_errors():
            return self._client.encrypt(
                KeyId=self._key_arn,
                Plaintext=secret.encode(),
                EncryptionContext={"account_id": account_id, "purpose": purpose},
            )["CiphertextBlob"]

    def open(self, sealed: bytes, *, account_id: AccountId, purpose: str) -> str:
        try:
            with aws_errors():
                return self._client.decrypt(
                    KeyId=self._key_arn,
                    CiphertextBlob=sealed,
                    EncryptionContext={"account_id": account_id, "purpose": purpose},
                )["Plaintext"].decode()
        except ClientError as error:
            if code_of(error) == "InvalidCiphertextException":
                raise SealedForAnother from None
            raise
