"""Serves MCP and every page: API Gateway events in, answers out."""

import os
from typing import Any

from mangum import Mangum

from memorybox.bootstrap import tracing
from memorybox.bootstrap.web import web_app

tracing.mark_lines()
_serve = Mangum(web_app(os.environ), lifespan="off")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Mangum raises on a Host or a body that no request of good faith has."""
    tracing.begin(context.aws_request_id)
    try:
        return _serve(event, context)
    except ValueError:
        return {"statusCode": 400, "headers": {"content-type": "text/plain"}, "body": "Bad request"}
