import hmac
import json

import pytest

from memorybox.adapters.dropbox.webhook import account_ids, challenge, is_signed

BODY = b'{"list_folder": {"accounts": ["dbid:A"]}, "delta": {"users": [1]}}'
SECRETS = ("the secret", "the one before")


def signature(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, "sha256").hexdigest()


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("secret", SECRETS)
def test_a_body_signed_with_any_of_the_secrets_is_signed(secret: str) -> None:
    assert is_signed(BODY, signature(BODY, secret), SECRETS)


def test_the_signature_is_that_of_the_raw_bytes() -> None:
    compact = json.dumps(json.loads(BODY), separators=(",", ":")).encode()

    assert not is_signed(compact, signature(BODY, SECRETS[0]), SECRETS)


def test_every_bit_of_the_body_counts() -> None:
    good = signature(BODY, SECRETS[0])
    flipped = [
        BODY[:at] + bytes([BODY[at] ^ 1 << bit]) + BODY[at + 1 :]
        for at in range(len(BODY))
        for bit in range(8)
    ]

    assert not any(is_signed(body, good, SECRETS) for body in flipped)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "",
        "caf\u00e9",
        "\udcff",
        signature(BODY, "another"),
        signature(BODY, SECRETS[0])[:-1],
        signature(BODY, SECRETS[0]).upper(),
        signature(BODY, SECRETS[0]) + " ",
    ],
)
def test_any_other_header_is_wrong(wrong: str | None) -> None:
    assert not is_signed(BODY, wrong, SECRETS)


def test_without_a_secret_nothing_is_signed() -> None:
    assert not is_signed(BODY, signature(BODY, ""), ())


def test_accounts_are_named_once_each_in_order() -> None:
    body = b'{"list_folder": {"accounts": ["dbid:B", "dbid:A", "dbid:B"]}}'

    assert account_ids(body) == ("dbid:B", "dbid:A")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"null",
        b"[]",
        b"{}",
        b'{"list_folder": null}',
        b'{"list_folder": {"accounts": null}}',
        b'{"list_folder": {"accounts": "dbid:A"}}',
        b'{"list_folder": {"accounts": {"dbid:A": 1}}}',
        b'{"list_folder": {"accounts": [1, null, ["dbid:A"]]}}',
        b'{"delta": {"users": [1]}}',
        b"[" * 100_000,
    ],
)
def test_a_body_of_another_shape_names_nobody(body: bytes) -> None:
    assert account_ids(body) == ()


def test_a_challenge_is_echoed_as_it_is() -> None:
    assert challenge("aB3-_x==") == "aB3-_x=="


@pytest.mark.parametrize("text", [None, "", "x" * 1_001, "two\nlines", "caf\u00e9", "\x00"])
def test_what_is_no_challenge_gets_no_echo(text: str | None) -> None:
    assert challenge(text) is None
