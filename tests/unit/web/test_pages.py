"""The pages for everyone."""

import pytest

from tests.unit.web.site import BASE, Site


@pytest.mark.promise("P-001", "P-002")
@pytest.mark.parametrize("path", ["/", "/tools"])
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
    assert 'href="/tools"' in body


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
        "{\n  &quot;path&quot;: &quot;a.md&quot;\n}",
        "<pre><code>rev: 1</code></pre>",
        "<pre><code>&lt;b&gt;text&lt;/b&gt;</code></pre>",
        "<h3>Error</h3>",
    ):
        assert text in body


def test_a_person_who_is_lost_gets_a_page() -> None:
    reply = Site().call("GET", "/nothing", headers={"accept": "text/html,*/*"})

    assert reply.status == 404
    assert "There is nothing at this address." in reply.body
