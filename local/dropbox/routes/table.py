"""Every API route by its name."""

from local.dropbox.calls import Route
from local.dropbox.routes import listing, reading, users, writing

_MODULES = (listing, reading, users, writing)

ROUTES = {
    route.name: route
    for module in _MODULES
    for route in vars(module).values()
    if isinstance(route, Route)
}
