"""HTML from templates. A value is escaped unless it is Markup, and each `$name` must be given."""

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from starlette.responses import HTMLResponse

_FOLDER = Path(__file__).parent / "templates"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def render(template: str, **values: str) -> Markup:
    """The template with its values."""
    safe = {
        name: value if isinstance(value, Markup) else escape(value)
        for name, value in values.items()
    }
    return Markup(_template(template).substitute(safe))


def joined(parts: list[Markup]) -> Markup:
    return Markup("".join(parts))


def page(title: str, content: Markup, status: int = 200) -> HTMLResponse:
    """A whole page, that loads nothing else and runs nothing."""
    body = render("page", title=title, style=_style(), content=content)
    return HTMLResponse(body, status, headers=_headers())


def message(title: str, words: str, status: int) -> HTMLResponse:
    """A page that says one thing, such as what went wrong."""
    return page(title, render("message", title=title, text=words), status)


@cache
def content_of(file: str) -> str:
    """What stands in a file of the templates' folder."""
    return (_FOLDER / file).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    return Template(content_of(f"{name}.html"))


def _style() -> Markup:
    return Markup(content_of("style.css"))


@cache
def _headers() -> dict[str, str]:
    """No `form-action`: browsers apply it to the redirects that follow the consent form, too."""
    style = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode("ascii")
    return {
        "content-security-policy": (
            f"default-src 'none'; style-src 'sha256-{style}'; img-src 'self'; "
            "base-uri 'none'; frame-ancestors 'none'"
        ),
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
    }
