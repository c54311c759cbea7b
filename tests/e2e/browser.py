"""A person with a browser, as far as a sign-in needs one."""

from html.parser import HTMLParser
from urllib.parse import urljoin

import requests

MOST_PAGES = 10


class Form(HTMLParser):
    """The first form of a page, and what its first button sends."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self._has_button = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and not self.action:
            self.action = given["action"]
        elif tag == "input" and given.get("type") in {"radio", "checkbox"}:
            if "checked" in given:
                self.fields[given["name"]] = given.get("value", "on")
        elif tag == "input" and "name" in given:
            self.fields[given["name"]] = given.get("value", "")
        elif tag == "button" and "name" in given and not self._has_button:
            self._has_button = True
            self.fields[given["name"]] = given.get("value", "")


def approve(authorize_url: str, redirect_uri: str, **choices: str) -> str:
    """Say yes on every page, and return the address at which the client waits for the answer.

    `choices` are filled into the first form.
    """
    browser = requests.Session()
    browser.trust_env = False
    response = browser.get(authorize_url, allow_redirects=False, timeout=30)
    for _ in range(MOST_PAGES):
        if location := response.headers.get("location"):
            url = urljoin(response.url, location)
            if url.startswith(redirect_uri):
                return url
            response = browser.get(url, allow_redirects=False, timeout=30)
            continue
        assert response.status_code == requests.codes.ok, response.text
        form = Form(response.text)
        response = browser.post(
            urljoin(response.url, form.action),
            form.fields | choices,
            allow_redirects=False,
            timeout=30,
        )
        choices = {}
    raise AssertionError("the sign-in does not end")
