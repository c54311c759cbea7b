"""Deletes a deployment, and says what it leaves behind and how to remove that too."""

import sys

from deploy.account import Unready, parser, run, session, stack
from deploy.questions import SECRETS

_KEPT = """
Deleted. These stay, because people's connections hang on them:
  {MemoryTableName}   accounts, indexes
  {AuthTableName}   clients, grants
  {BucketName}   packed indexes
  {TokenKeyArn}   the key that seals Dropbox tokens
  {prefix}/*   secrets

No note is in any of them: notes are in people's Dropbox. To remove them for good:
  aws dynamodb update-table --table-name {MemoryTableName} --no-deletion-protection-enabled
  aws dynamodb delete-table --table-name {MemoryTableName}
  aws dynamodb update-table --table-name {AuthTableName} --no-deletion-protection-enabled
  aws dynamodb delete-table --table-name {AuthTableName}
  aws s3 rb s3://{BucketName} --force      (first delete its old versions, in the console: Empty)
  aws kms schedule-key-deletion --key-id {TokenKeyArn}
  aws ssm delete-parameters --names {secrets}
"""


def main() -> int:
    given = parser("destroy", __doc__).parse_args()

    def destroy() -> None:
        deployed = stack(session(given.region), given.stage)
        told, outputs = deployed.parameters(), deployed.outputs()
        if told is None:
            raise Unready(f"There is no stack named {deployed.name} here.")
        if input(f"Type {deployed.name} to delete it: ") != deployed.name:
            raise Unready("Nothing was deleted.")
        deployed.delete()
        prefix = f"{told['SecretsPrefix']}/{given.stage}"
        secrets = " ".join(f"{prefix}/{secret.name}" for secret in SECRETS)
        print(_KEPT.format(prefix=prefix, secrets=secrets, **outputs))

    return run(destroy)


if __name__ == "__main__":
    sys.exit(main())
