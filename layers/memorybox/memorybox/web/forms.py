"""Forms that our own pages send to us, and the answers that lead on from them."""

from starlette.requests import Request
from starlette.responses import Response

from memorybox.errors import Refused
from memorybox.oauth.errors import Forbidden
from memorybox.oauth.parameters import Parameters
from memorybox.web.bodies import read_form
from memorybox.web.perimeter import Perimeter


async def own_form(request: Request, perimeter: Perimeter) -> Parameters:
    """The fields of a form of ours. Raises Forbidden if another site sent it."""
    if not perimeter.admits_origin(request.headers.get("origin")):
        raise Forbidden("This form was sent from another site.")
    try:
        return await read_form(request)
    except ValueError:
        raise Refused("This form is not readable.") from None


def redirect(status: int, url: str) -> Response:
    """302 after a GET, 303 after a POST; never one that would send a form on."""
    return Response(status_code=status, headers={"location": url})
