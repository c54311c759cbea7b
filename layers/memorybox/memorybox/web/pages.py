"""The pages for everyone: what Memory Box is, and what its tools take and return."""

import json
from collections.abc import Mapping

from fastapi import APIRouter
from starlette.responses import Response

from memorybox.mcp.toolset import Example, Tool, Toolset
from memorybox.web.html import Markup, joined, page, render
from memorybox.web.services import Services


def router(services: Services) -> APIRouter:
    routes = APIRouter()

    async def home() -> Response:
        return page("Memory Box", render("home", url=services.issuer.resource))

    async def tools() -> Response:
        return page("Memory Box tools", tools_page(services.toolset))

    for path, endpoint in (("/", home), ("/tools", tools)):
        routes.add_api_route(path, endpoint, methods=["GET", "HEAD"])
    return routes


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
        arguments=json.dumps(example.arguments, ensure_ascii=False, indent=2),
        outcome="Error" if example.result.is_error else "Result",
        results=joined([render("result", text=text) for text in example.result.texts]),
    )
