"""Every API route by its name."""

from local.dropbox.calls import Route
from local.dropbox.routes import (
    batches,
    listing,
    moving,
    reading,
    references,
    searching,
    sessions,
    sharing,
    transfer,
    users,
    writing,
)

_MODULES = (
    batches,
    listing,
    moving,
    reading,
    references,
    searching,
    sessions,
    sharing,
    transfer,
    users,
    writing,
)

ROUTES = {
    route.name: route
    for module in _MODULES
    for route in vars(module).values()
    if isinstance(route, Route)
}
