"""The pages for everyone: what Memory Box is, what its tools take and return, and its rules."""

import json
from collections.abc import Mapping
from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from memorybox.mcp.toolset import Example, Tool, ToolResult, Toolset
from memorybox.web.html import Markup, content_of, joined, page, render
from memorybox.web.services import Services

_LINE = 72
_SECURITY_TXT_LIFE = timedelta(days=180)
_KEPT = {"cache-control": "public, max-age=86400"}


def router(services: Services) -> APIRouter:
    routes = APIRouter()
    contact = services.security_contact

    async def home() -> Response:
        content = render("home", url=services.issuer.resource, snippet=content_of("snippet.txt"))
        return page("Memory Box", content)

    async def tools() -> Response:
        return page("Memory Box tools", tools_page(services.toolset))

    async def privacy() -> Response:
        return page("Privacy", render("privacy"))

    async def security() -> Response:
        content = render("security", contact=contact, address=contact.removeprefix("mailto:"))
        return page("Security", content)

    async def security_txt() -> Response:
        return _plain(_security_txt(services))

    async def skill() -> Response:
        return _plain(content_of("skill.md"), "text/markdown")

    async def icon() -> Response:
        return Response(content_of("icon.svg"), headers=_KEPT, media_type="image/svg+xml")

    for path, endpoint in (
        ("/", home),
        ("/tools", tools),
        ("/privacy", privacy),
        ("/security", security),
        ("/.well-known/security.txt", security_txt),
        ("/skill.md", skill),
        ("/favicon.ico", icon),
    ):
        routes.add_api_route(path, endpoint, methods=["GET", "HEAD"])
    return routes


def _security_txt(services: Services) -> str:
    """Whom to tell about a fault (RFC 9116)."""
    expires = services.clock.now() + _SECURITY_TXT_LIFE
    return (
        f"Contact: {services.security_contact}\n"
        f"Expires: {expires:%Y-%m-%dT00:00:00Z}\n"
        "Preferred-Languages: en\n"
        f"Canonical: {services.issuer.url}/.well-known/security.txt\n"
        f"Policy: {services.issuer.url}/security\n"
    )


def _plain(content: str, media_type: str = "text/plain") -> Response:
    return Response(content, media_type=media_type)


def tools_page(toolset: Toolset) -> Markup:
    return render(
        "tools",
        links=joined([render("tool_link", name=tool.name) for tool in toolset.tools]),
        tools=joined([_tool(tool) for tool in toolset.tools]),
    )


def _tool(tool: Tool) -> Markup:
    return render(
        "tool",
        name=tool.name,
        title=tool.title,
        effect=_effect(tool),
        description=joined([_paragraph(text) for text in tool.description.split("\n") if text]),
        arguments=joined(_arguments(tool.input_schema)),
        examples=joined([_example(example) for example in tool.examples]),
    )


def _effect(tool: Tool) -> str:
    if tool.read_only:
        return "reads"
    return "changes" if tool.destructive else "adds"


def _paragraph(text: str) -> Markup:
    return render("paragraph", text=text)


def _arguments(schema: Mapping[str, object]) -> list[Markup]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return []
    needed = required if isinstance(required, list | tuple) else ()
    return [
        render(
            "argument",
            name=name,
            need="required" if name in needed else "optional",
            description=str(described.get("description", "")),
        )
        for name, described in properties.items()
    ]


def _example(example: Example) -> Markup:
    return render(
        "example",
        arguments=_json(example.arguments),
        results=joined(_results(example.result)),
    )


def _results(result: ToolResult) -> list[Markup]:
    """Each block under a heading of its own; blocks are counted if there are several."""
    heading = "Error" if result.is_error else "Result"
    return [
        render(
            "result",
            heading=f"{heading}, block {n}" if len(result.texts) > 1 else heading,
            text=text,
        )
        for n, text in enumerate(result.texts, 1)
    ]


def _json(arguments: Mapping[str, object]) -> str:
    """On one line if it is short."""
    line = json.dumps(arguments, ensure_ascii=False)
    if len(line) <= _LINE:
        return f"{{ {line[1:-1]} }}"
    return json.dumps(arguments, ensure_ascii=False, indent=2)
