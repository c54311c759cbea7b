"""What a reviewer of the sign-in, the input, the tenancy and the data asks for, by id.

A test says with `@pytest.mark.requirement("A3")` what it proves. Where a promise of the tools says
the same (`promises.py`), the tests of that promise prove it. `test_requirements.py` fails for a
requirement that nothing proves; `python -m tests.security.requirements` prints the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.marks import marked


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence, and the promises that say the same."""

    text: str
    promises: tuple[str, ...] = ()


AUTHORIZATION = {
    "A1": Requirement("Resource and server metadata, and a challenge that leads to them."),
    "A2": Requirement(
        "Foreign hosts are 421, foreign origins 403; no address comes from a request."
    ),
    "A3": Requirement("A redirect is a registered string; only a loopback port is free."),
    "A4": Requirement("Redirect schemes are https, loopback http, and an allow-list."),
    "A5": Requirement(
        "An unknown client or redirect is a page of ours; all else goes to the client."
    ),
    "A6": Requirement("Only response_type=code with PKCE S256."),
    "A7": Requirement(
        "A code is good once, for 60 s; a wrong try touches nothing, a replay ends all."
    ),
    "A8": Requirement("Access tokens are opaque, kept as hashes, revocable at once."),
    "A9": Requirement("Refresh tokens rotate with 120 s of grace; later use ends the family."),
    "A10": Requirement("A resource is ours or refused, before anything is used up."),
    "A11": Requirement("iss is in every authorization response, once."),
    "A12": Requirement("/token and /revoke take a form, small, each parameter once."),
    "A13": Requirement("No answer redirects a POST as a POST."),
    "A14": Requirement("Trouble of ours is 503 to a client, never invalid_grant."),
    "A15": Requirement("A client that is gone is 401 invalid_client."),
}
CONSENT = {
    "C1": Requirement("Consent is asked every time."),
    "C2": Requirement(
        "The page names the client, its voucher, the destination and what it may do."
    ),
    "C3": Requirement("A form needs its token and the cookie of the same browser."),
    "C4": Requirement(
        "Only the browser that consented can complete a sign-in, once, in 10 minutes."
    ),
    "C5": Requirement(
        "Dropbox is asked with PKCE for the least, and the account is its word alone."
    ),
    "C6": Requirement("Dropbox's tokens stay with us, clients' tokens are never forwarded."),
    "C7": Requirement("Pages load and run nothing, cannot be framed, and lead on to any client."),
    "C8": Requirement("Read-only is a choice, and holds for tools/list and tools/call."),
    "C9": Requirement("A person sees, limits and ends their connections."),
    "C10": Requirement("Two installations of one client stay signed in."),
}
REGISTRATION = {
    "R1": Requirement(
        "A client document is its own URL's, small, direct, fresh, and without secret."
    ),
    "R2": Requirement("We connect to public addresses only, and to the one that was looked at."),
    "R3": Requirement("Fetches of documents are paced, per host and in all."),
    "R4": Requirement("Registrations are small, bounded in number, and forgotten if unused."),
    "R5": Requirement("An operator may list the hosts that registered clients answer to."),
    "R6": Requirement("Logos are neither fetched nor shown."),
}
RESOURCE = {
    "M1": Requirement("A token is read from Authorization alone, on a fixed path."),
    "M2": Requirement(
        "The account comes from the grant alone; no key of another is touched.", ("P-210",)
    ),
    "M3": Requirement("Names stay inside their workspace.", ("P-102", "P-103", "P-105")),
    "M4": Requirement('"all" is no workspace.', ("P-010", "P-013")),
    "M5": Requirement("Keys are Dropbox's own lower case.", ("P-031",)),
    "M6": Requirement(
        "What is too large, too deep or unknown is refused before work.", ("P-101", "P-110")
    ),
    "M7": Requirement("JSON that cannot be is 400; half a surrogate is a sentence.", ("P-108",)),
    "M8": Requirement(
        "What is not UTF-8 is named, not changed; line ends stay.", ("P-030", "P-051", "P-052")
    ),
    "M9": Requirement("old_text is literal and occurs exactly once.", ("P-046",)),
    "M10": Requirement("CORS for listed origins only, never with credentials."),
    "M11": Requirement("Calls are limited per account and minute.", ("T-42b",)),
    "M12": Requirement("One JSON-RPC object as JSON; GET and DELETE are 405; no sessions."),
}
DATA = {
    "D1": Requirement("Dropbox's tokens are sealed for one account and one purpose."),
    "D2": Requirement("Secrets come from the parameter store; two webhook keys work at once."),
    "D3": Requirement(
        "Tokens, text, queries and names are in no log, and text in no table or queue.", ("P-211",)
    ),
    "D4": Requirement("What a caller sends cannot forge a line of a log."),
    "D5": Requirement("Who deletes their data leaves nothing, and gets a receipt."),
    "D6": Requirement("When Dropbox ends the access, our grants end and the client is told."),
}
MONEY = {
    "B2": Requirement(
        "New accounts a day and tokens a month are capped for the deployment.", ("P-071",)
    ),
}

REQUIREMENTS: Mapping[str, Requirement] = {
    **AUTHORIZATION,
    **CONSENT,
    **REGISTRATION,
    **RESOURCE,
    **DATA,
    **MONEY,
}


def proofs() -> Mapping[str, list[str]]:
    """The tests of each requirement, as `folder/file.py::test`."""
    own, promised = marked("requirement"), marked("promise")
    return {
        id: sorted(
            {*own.get(id, ()), *(test for p in asked.promises for test in promised.get(p, ()))}
        )
        for id, asked in REQUIREMENTS.items()
    }


def table() -> str:
    """Markdown: what is asked for, and the tests that prove it."""
    lines = ["| id | requirement | tests |", "|---|---|---|"]
    for id, tests in proofs().items():
        shown = "<br>".join(f"`{test}`" for test in tests) or "**none**"
        lines.append(f"| {id} | {REQUIREMENTS[id].text} | {shown} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201 - what it is for
