"""The pages for everyone."""

import re
from pathlib import Path

import pytest

from tests.unit.web.site import BASE, Site


@pytest.mark.promise("P-001", "P-002")
@pytest.mark.parametrize("path", ["/", "/tools", "/privacy", "/security", "/account"])
def test_a_page_needs_no_sign_in_sets_no_cookie_and_runs_nothing(path: str) -> None:
    reply = Site().call("GET", path)

    assert (reply.status, reply.cookies) == (200, [])
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "<script" not in reply.body
    assert "<link" not in reply.body


@pytest.mark.promise("P-002")
def test_the_home_page_says_what_to_add_what_is_stored_and_how_to_leave() -> None:
    body = Site().call("GET", "/").body

    assert f"{BASE}/mcp</code>" in body
    assert "What is stored where" in body
    assert "Leave" in body
    for path in ("/tools", "/account", "/privacy", "/security", "/skill.md"):
        assert f'href="{path}"' in body


@pytest.mark.promise("P-001", "P-002")
def test_the_tool_page_documents_every_tool_with_its_examples() -> None:
    body = Site().call("GET", "/tools").body

    assert "Names, revs and times in the examples are made up." in body
    assert 'href="/"' in body
    for text in (
        '<a href="#read">read</a>',
        '<section id="write">',
        "Gives the text of a note.",
        "The &lt;path&gt; of the note.",
        "<pre><code>{ &quot;path&quot;: &quot;a.md&quot; }</code></pre>",
        "<pre><code>rev: 1</code></pre>",
        "<pre><code>&lt;b&gt;text&lt;/b&gt;</code></pre>",
        "<h3>Result, block 2</h3>",
        "<h3>Error</h3>",
    ):
        assert text in body


def test_a_person_who_is_lost_gets_a_page() -> None:
    reply = Site().call("GET", "/nothing", headers={"accept": "text/html,*/*"})

    assert reply.status == 404
    assert "There is nothing at this address." in reply.body


@pytest.mark.parametrize("path", ["/", "/tools", "/privacy", "/security", "/account"])
def test_a_page_is_one_request_of_less_than_30_kilobytes(path: str) -> None:
    body = Site().call("GET", path).body

    assert len(body.encode()) < 30_000
    assert re.findall(r"<(?:img|script|link|iframe)|url\(|@import", body) == []


def test_security_txt_says_whom_to_tell_and_until_when_that_holds() -> None:
    reply = Site().call("GET", "/.well-known/security.txt")

    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.body == (
        "Contact: mailto:security@memory.example\n"
        "Expires: 2027-05-29T00:00:00Z\n"
        "Preferred-Languages: en\n"
        f"Canonical: {BASE}/.well-known/security.txt\n"
        f"Policy: {BASE}/security\n"
    )


def test_the_skill_that_is_served_is_the_one_of_the_repository() -> None:
    reply = Site().call("GET", "/skill.md")

    assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
    assert reply.body == Path("skills/memory-box/SKILL.md").read_text(encoding="utf-8")
    assert reply.body.startswith("---\nname: memory-box\ndescription: ")


def test_the_site_has_an_icon_that_may_be_kept() -> None:
    reply = Site().call("GET", "/favicon.ico")

    assert reply.headers["content-type"] == "image/svg+xml"
    assert reply.headers["cache-control"] == "public, max-age=86400"
