"""Puts Memory Box into an AWS account. The first time it asks for what it needs."""

import sys

from deploy.account import parser, run, session, stack
from deploy.build import LAMBDA, build
from deploy.questions import AtTheTerminal, keep_secrets, settings

_DONE = """
Connector URL   {mcp}

In the settings of your Dropbox app (https://www.dropbox.com/developers/apps):
  Redirect URI  {base}/dropbox/callback
  Webhook URI   {base}/dropbox/webhook

Then test it from outside:  make deploy-check URL={base}
"""


def main() -> int:
    arguments = parser("deploy", __doc__)
    arguments.add_argument("--ask", action="store_true", help="ask for everything anew")
    arguments.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter to change"
    )
    given = arguments.parse_args()

    def deploy() -> None:
        found = session(given.region)
        deployed = stack(found, given.stage)
        person = AtTheTerminal()
        told = None if given.ask else deployed.parameters()
        if told is None:
            told = settings(person)
        told = {**told, **dict(change.split("=", 1) for change in given.set)}
        prefix = f"{told.get('SecretsPrefix', '/memorybox')}/{given.stage}"
        keep_secrets(found.client("ssm"), prefix, person, anew=given.ask)
        print("Building ...")
        deployed.deploy(build(LAMBDA), told, quiet=False)
        deployed.prune(found.client("lambda"))
        outputs = deployed.outputs()
        mcp = outputs["McpUrl"]
        print(_DONE.format(mcp=mcp, base=mcp.removesuffix("/mcp")))
        if target := outputs.get("DomainTarget"):
            print(f"Let a CNAME record of {told['DomainName']} point to {target}")

    return run(deploy)


if __name__ == "__main__":
    sys.exit(main())
