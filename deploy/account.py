"""The AWS account that a command works in."""

import argparse
import sys
from collections.abc import Callable
from subprocess import CalledProcessError

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from deploy.build import NotHere
from deploy.stack import Stack


class Unready(Exception):
    """It cannot be done as things are. Says what to do."""


def parser(name: str, about: str | None) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog=f"make {name}", description=about)
    arguments.add_argument("--stage", default="prod", help="tells deployments apart")
    arguments.add_argument("--region", help="where, if not in the region that is set up")
    return arguments


def session(region: str | None) -> boto3.Session:
    """A session whose credentials work. Raises Unready."""
    found = boto3.Session(region_name=region)
    if found.region_name is None:
        raise Unready("No region is set. Add ARGS='--region eu-central-1', or run: aws configure")
    try:
        identity = found.client("sts").get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        raise Unready(
            f"AWS does not know you ({error}). Run: aws configure, or: aws sso login"
        ) from None
    print(f"AWS account {identity['Account']}, region {found.region_name}")
    return found


def stack(found: boto3.Session, stage: str) -> Stack:
    environment = {"AWS_DEFAULT_REGION": str(found.region_name)}
    return Stack(found.client("cloudformation"), stage, environment)


def run(command: Callable[[], None]) -> int:
    """Run a command, and put what stops it in plain words."""
    try:
        command()
    except (Unready, NotHere) as reason:
        print(reason, file=sys.stderr)
        return 1
    except CalledProcessError:
        print("SAM could not do it; its reason is above.", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nStopped.", file=sys.stderr)
        return 1
    return 0
