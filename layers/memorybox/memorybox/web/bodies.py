"""Request bodies: read up to a limit, and forms read by the letter."""

from starlette.requests import Request

from memorybox.oauth.parameters import Parameters

MAX_FORM_BYTES = 16_384


async def read(request: Request, limit: int) -> bytes:
    """The body; of one that is too long, somewhat more than `limit` bytes."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body)


def read_query(request: Request) -> Parameters:
    """The query. Raises ValueError for one that is not readable."""
    return Parameters.parse(request.scope["query_string"].decode("ascii"))


async def read_form(request: Request) -> Parameters:
    """The fields of a form (RFC 6749, appendix B). Raises ValueError for anything else."""
    if request.headers.get("content-type", "").lower() != "application/x-www-form-urlencoded":
        raise ValueError("not a form")
    body = await read(request, MAX_FORM_BYTES)
    if len(body) > MAX_FORM_BYTES:
        raise ValueError("form too large")
    return Parameters.parse(body.decode())
