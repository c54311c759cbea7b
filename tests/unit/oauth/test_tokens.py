"""The token endpoint, the bearer check and revocation."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from memorybox.accounts.model import AccountId
from memorybox.errors import Unavailable
from memorybox.oauth.errors import OAuthError, Unauthorized
from memorybox.oauth.model import ALL_SCOPES, Grant
from memorybox.oauth.opaque import challenge_of, digest
from memorybox.oauth.parameters import Parameters
from memorybox.oauth.tokens import Tokens
from tests.unit.oauth.server import (
    ALICE,
    CALLBACK,
    CLIENT,
    ISSUER,
    OTHER,
    VERIFIER,
    Server,
    form,
    refused,
)


def _grants(server: Server) -> list[Grant]:
    return list(server.grants.records.values())


def _secret(answer: Mapping[str, object], name: str) -> str:
    return str(answer[name])


def test_a_code_becomes_a_pair_of_tokens() -> None:
    server = Server()

    answer = server.exchange(server.code())

    assert {name: value for name, value in answer.items() if not name.endswith("_token")} == {
        "token_type": "Bearer",
        "expires_in": 28_800,
        "scope": "memory:read memory:write",
    }
    [grant] = _grants(server)
    assert _secret(answer, "access_token").startswith(f"mem_at_{grant.id}.")
    assert _secret(answer, "refresh_token").startswith(f"mem_rt_{grant.id}.")
    assert (grant.account_id, grant.client_id, grant.resource, grant.scopes) == (
        ALICE,
        CLIENT.id,
        ISSUER.resource,
        ALL_SCOPES,
    )
    assert server.works(answer)


@pytest.mark.requirement("A6", "A7")
@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "wrong"}, "invalid_grant"),
        ({"code": ""}, "invalid_grant"),
        ({"client_id": OTHER.id}, "invalid_grant"),
        ({"client_id": "nobody"}, "invalid_client"),
        ({"client_id": ""}, "invalid_client"),
        ({"redirect_uri": f"{CALLBACK}/"}, "invalid_grant"),
        ({"redirect_uri": ""}, "invalid_grant"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"code_verifier": "w" * 64}, "invalid_grant"),
        ({"code_verifier": challenge_of(VERIFIER)}, "invalid_grant"),
        ({"code_verifier": "v" * 42}, "invalid_grant"),
        ({"code_verifier": "v" * 129}, "invalid_grant"),
        ({"code_verifier": "v" * 63 + "\u00e9"}, "invalid_grant"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
def test_a_wrong_or_foreign_try_leaves_the_code_good(changed: dict[str, str], error: str) -> None:
    server = Server()
    code = server.code()
    good = {
        "grant_type": "authorization_code",
        "code": code,
        "client_id": CLIENT.id,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }

    assert refused(lambda: server.issue(**good | changed)) == error

    assert _grants(server) == []
    assert server.works(server.exchange(code))


@pytest.mark.parametrize(
    "resource",
    [
        "",
        "https://memory.example/mcp",
        "https://memory.example/mcp/",
        "https://memory.example",
        "https://memory.example/",
    ],
)
def test_every_spelling_of_our_resource_is_ours(resource: str) -> None:
    server = Server()

    answer = server.exchange(server.code(), resource=resource)

    assert server.works(server.refresh(answer["refresh_token"], resource=resource))


@pytest.mark.requirement("A7")
def test_a_code_is_good_for_60_seconds() -> None:
    server = Server()
    early, late = server.code(), server.code()

    server.clock.sleep(59)
    assert server.works(server.exchange(early))
    server.clock.sleep(1)
    assert refused(lambda: server.exchange(late)) == "invalid_grant"


@pytest.mark.requirement("A7")
def test_a_code_that_comes_back_ends_what_came_of_it() -> None:
    server = Server()
    code = server.code()
    answer = server.exchange(code)
    server.clock.sleep(599)

    assert refused(lambda: server.exchange(code)) == "invalid_grant"

    assert _grants(server) == []
    assert refused(lambda: server.refresh(answer["refresh_token"])) == "invalid_grant"


def test_a_used_code_without_its_verifier_ends_nothing() -> None:
    server = Server()
    code = server.code()
    answer = server.exchange(code)

    assert refused(lambda: server.exchange(code, code_verifier="w" * 64)) == "invalid_grant"

    assert server.works(answer)


@pytest.mark.requirement("A7")
def test_of_32_at_once_at_most_one_gets_tokens_and_the_family_ends() -> None:
    server = Server()
    code = server.code()

    def attempt(_: int) -> Mapping[str, object] | None:
        try:
            return server.exchange(code)
        except OAuthError:
            return None

    with ThreadPoolExecutor(32) as threads:
        answers = [answer for answer in threads.map(attempt, range(32)) if answer is not None]

    assert len(answers) <= 1
    assert _grants(server) == []


@pytest.mark.requirement("A7")
def test_a_replay_seen_before_the_grant_is_stored_still_ends_it() -> None:
    server = Server()
    code = server.code()
    [record] = server.codes.records.values()
    server.codes.use(record.key, request_id="the first")

    assert refused(lambda: server.exchange(code)) == "invalid_grant"

    assert not server.grants.add(_grant_of_first(server, record.grant_id))


def _grant_of_first(server: Server, grant_id: str) -> Grant:
    now = server.clock.now()
    return Grant(
        grant_id, ALICE, CLIENT.id, ISSUER.resource, ALL_SCOPES, {}, {}, now, now, 1, "the first"
    )


def test_a_refresh_gives_a_new_pair_and_keeps_the_old_access_token() -> None:
    server = Server()
    first = server.exchange(server.code())
    server.clock.sleep(3600)

    second = server.refresh(first["refresh_token"])

    assert second["refresh_token"] != first["refresh_token"]
    assert server.works(second)
    assert server.tokens.check(f"Bearer {first['access_token']}").scopes == ALL_SCOPES


@pytest.mark.requirement("A9")
def test_eight_refreshes_at_once_all_get_a_pair_that_works_a_day_later() -> None:
    server = Server()
    first = server.exchange(server.code())

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: server.refresh(first["refresh_token"]), range(8)))

    assert all(server.works(answer) for answer in answers)
    server.clock.sleep(86_400)
    later = [server.refresh(answer["refresh_token"]) for answer in answers]
    assert all(server.works(answer) for answer in later)


@pytest.mark.requirement("A9")
def test_a_used_refresh_token_is_taken_for_120_seconds() -> None:
    server = Server()
    first = server.exchange(server.code())
    server.refresh(first["refresh_token"])
    server.clock.sleep(120)

    assert server.works(server.refresh(first["refresh_token"]))


@pytest.mark.requirement("A9")
def test_a_refresh_token_that_comes_back_after_120_seconds_ends_the_family() -> None:
    server = Server()
    first = server.exchange(server.code())
    second = server.refresh(first["refresh_token"])
    server.clock.sleep(121)

    assert refused(lambda: server.refresh(first["refresh_token"])) == "invalid_grant"

    assert refused(lambda: server.refresh(second["refresh_token"])) == "invalid_grant"
    with pytest.raises(Unauthorized):
        server.tokens.check(f"Bearer {second['access_token']}")


def test_the_grace_does_not_move_when_a_used_token_is_taken_again() -> None:
    server = Server()
    first = server.exchange(server.code())
    server.refresh(first["refresh_token"])
    server.clock.sleep(100)
    server.refresh(first["refresh_token"])
    server.clock.sleep(21)

    assert refused(lambda: server.refresh(first["refresh_token"])) == "invalid_grant"


@pytest.mark.requirement("A9")
def test_over_ten_unused_tokens_only_the_request_is_refused() -> None:
    server = Server()
    first = server.exchange(server.code())
    pairs = [server.refresh(first["refresh_token"]) for _ in range(10)]

    assert refused(lambda: server.refresh(first["refresh_token"])) == "invalid_grant"

    assert all(server.works(pair) for pair in pairs)
    assert server.works(server.refresh(pairs[0]["refresh_token"]))


def test_a_grant_stays_small_through_a_year_of_refreshes() -> None:
    server = Server()
    answer = server.exchange(server.code())

    for _ in range(200):
        server.clock.sleep(600)
        answer = server.refresh(answer["refresh_token"])

    [grant] = _grants(server)
    used = [key for key, used_at in grant.refresh.items() if used_at is not None]
    assert (len(grant.access), len(used), len(grant.refresh)) == (10, 32, 33)
    assert server.works(answer)


@pytest.mark.requirement("A9")
@pytest.mark.parametrize(
    ("days", "refreshes", "works"),
    [(89, 1, True), (90, 1, False), (60, 6, True), (61, 6, False)],
)
def test_a_family_ends_after_90_idle_days_or_a_year(
    days: int, refreshes: int, *, works: bool
) -> None:
    server = Server()
    token = server.exchange(server.code())["refresh_token"]
    for _ in range(refreshes - 1):
        server.clock.sleep(days * 86_400)
        token = server.refresh(token)["refresh_token"]
    server.clock.sleep(days * 86_400)

    if works:
        assert server.works(server.refresh(token))
    else:
        assert refused(lambda: server.refresh(token)) == "invalid_grant"


@pytest.mark.requirement("A9")
def test_a_refresh_token_belongs_to_its_client() -> None:
    server = Server()
    answer = server.exchange(server.code())
    token = answer["refresh_token"]

    assert refused(lambda: server.refresh(token, client_id=OTHER.id)) == "invalid_grant"

    assert server.works(server.refresh(token))


@pytest.mark.requirement("A10")
def test_a_refresh_for_another_resource_uses_nothing_up() -> None:
    server = Server()
    token = server.exchange(server.code())["refresh_token"]

    assert refused(lambda: server.refresh(token, resource="https://evil/mcp")) == "invalid_target"

    server.clock.sleep(121)
    assert server.works(server.refresh(token))


@pytest.mark.parametrize("token", ["", "x", "mem_rt_x.y", "access"])
def test_what_is_no_refresh_token_is_refused(token: str) -> None:
    server = Server()
    answer = server.exchange(server.code())
    presented = str(answer["access_token"]) if token == "access" else token

    assert refused(lambda: server.refresh(presented)) == "invalid_grant"

    assert server.works(answer)


def test_a_forged_secret_for_a_known_grant_ends_nothing() -> None:
    server = Server()
    answer = server.exchange(server.code())
    forged = str(answer["refresh_token"])[:-43] + "x" * 43

    assert refused(lambda: server.refresh(forged)) == "invalid_grant"

    assert server.works(answer)


def test_a_refresh_does_not_widen_what_was_agreed() -> None:
    server = Server()
    first = server.exchange(server.code(scopes=frozenset({"memory:read"})))

    second = server.refresh(first["refresh_token"], scope="memory:read memory:write")

    assert (first["scope"], second["scope"]) == ("memory:read", "memory:read")


@pytest.mark.requirement("A8")
def test_tokens_are_kept_as_hashes_only() -> None:
    server = Server()
    code = server.code()
    first = server.exchange(code)
    second = server.refresh(first["refresh_token"])

    dump = repr([asdict(grant) for grant in server.grants.records.values()])
    dump += repr([asdict(record) for record in server.codes.records.values()])

    secrets = [
        code,
        *(
            str(answer[name])[-43:]
            for answer in (first, second)
            for name in ("access_token", "refresh_token")
        ),
    ]
    assert [secret for secret in secrets if secret in dump] == []
    assert digest(str(second["access_token"])) in dump


@pytest.mark.requirement("A12")
def test_a_parameter_sent_twice_is_refused() -> None:
    server = Server()
    sent = Parameters({"grant_type": "refresh_token"}, frozenset({"grant_type"}))

    assert refused(lambda: server.tokens.issue(sent, None)) == "invalid_request"
    assert refused(lambda: server.tokens.revoke(sent, None)) == "invalid_request"


@pytest.mark.requirement("A14")
def test_trouble_of_the_store_is_no_error_of_the_client() -> None:
    server = Server()
    answer = server.exchange(server.code())
    server.outage.is_on = True

    with pytest.raises(Unavailable):
        server.refresh(answer["refresh_token"])

    server.outage.is_on = False
    assert server.works(server.refresh(answer["refresh_token"]))


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
def test_the_client_ends_its_grant_with_either_token(name: str) -> None:
    server = Server()
    answer = server.exchange(server.code())

    server.revoke(answer[name])

    assert _grants(server) == []


@pytest.mark.requirement("A12")
def test_nobody_else_ends_a_grant() -> None:
    server = Server()
    answer = server.exchange(server.code())
    forged = str(answer["access_token"])[:-43] + "x" * 43

    server.revoke(answer["access_token"], client_id=OTHER.id)
    server.revoke(forged)
    server.revoke("unknown")

    assert server.works(answer)


def test_a_revocation_names_a_token() -> None:
    assert refused(lambda: Server().revoke("")) == "invalid_request"


@pytest.mark.requirement("C10")
def test_two_sign_ins_of_one_client_live_side_by_side() -> None:
    server = Server()
    first, second = server.exchange(server.code()), server.exchange(server.code())

    server.revoke(second["access_token"])

    assert server.works(first)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_an_access_token_works_until_it_expires(scheme: str) -> None:
    server = Server()
    token = server.exchange(server.code())["access_token"]
    [grant] = _grants(server)

    server.clock.sleep(28_799)
    assert server.tokens.check(f"{scheme} {token}") == grant
    server.clock.sleep(1)
    with pytest.raises(Unauthorized, match="expired token"):
        server.tokens.check(f"{scheme} {token}")


@pytest.mark.parametrize("header", [None, "", "Basic eDp5", "mem_at_x", "Bearer"])
def test_a_call_without_a_bearer_token_is_told_to_sign_in(header: str | None) -> None:
    presented = header == "Bearer"
    with pytest.raises(Unauthorized) as caught:
        Server().tokens.check(header)
    assert caught.value.presented is presented


@pytest.mark.requirement("A10")
def test_a_refresh_token_a_forgery_and_a_foreign_audience_open_nothing() -> None:
    server = Server()
    answer = server.exchange(server.code())
    elsewhere = Tokens(
        replace(ISSUER, url="https://other.example"),
        server.clients,
        server.codes,
        server.grants,
        server.accounts,
        server.clock,
        server.random,
        timedelta(hours=8),
    )
    good = str(answer["access_token"])

    with pytest.raises(Unauthorized, match="another resource"):
        elsewhere.check(f"Bearer {good}")
    for token in (answer["refresh_token"], good[:-43] + "x" * 43, f"{good}\n", good.upper()):
        with pytest.raises(Unauthorized):
            server.tokens.check(f"Bearer {token}")


@pytest.mark.requirement("D5")
@pytest.mark.parametrize("comes_back", [False, True])
def test_a_code_of_an_account_that_was_deleted_since_gives_nothing(*, comes_back: bool) -> None:
    server = Server()
    code = server.code()
    server.accounts.unlink(server.account, at=server.clock.now())
    server.accounts.remove(ALICE)
    if comes_back:
        server.sign_in()

    assert refused(lambda: server.exchange(code)) == "invalid_grant"

    assert _grants(server) == []


@pytest.mark.requirement("D6")
def test_when_dropbox_ends_the_access_no_grant_of_a_later_sign_in_ends() -> None:
    server = Server()
    server.exchange(server.code())
    [old] = _grants(server)
    server.accounts.unlink(server.account, at=server.clock.now())
    later = replace(old, id="f" * 24, link=server.account.link + 1)
    server.grants.add(later)

    server.tokens.end_all(old)

    assert _grants(server) == [later]


@pytest.mark.requirement("D6")
def test_when_dropbox_ends_the_access_every_grant_of_the_account_ends() -> None:
    server = Server()
    server.exchange(server.code())
    server.exchange(server.code(client=OTHER), client_id=OTHER.id)
    foreign = replace(_grants(server)[0], id="f" * 24, account_id=AccountId("dbid:bob"))
    server.grants.add(foreign)
    server.accounts.unlink(server.account, at=server.clock.now())

    server.tokens.end_all(_grants(server)[0])

    assert _grants(server) == [foreign]


@pytest.mark.requirement("R4")
def test_a_used_client_is_remembered_for_90_days_and_written_at_most_daily() -> None:
    server = Server()
    born_at = server.clock.now()
    born = replace(CLIENT, expires_at=born_at + timedelta(hours=24))
    server.client_store.save(born)

    answer = server.exchange(server.code())
    kept = server.client_store.get(CLIENT.id)
    server.clock.sleep(86_400)
    server.refresh(answer["refresh_token"])

    assert kept == replace(born, expires_at=born_at + timedelta(days=90))
    assert server.client_store.get(CLIENT.id) == kept


@pytest.mark.requirement("A15")
def test_a_client_that_is_gone_is_told_to_register_again() -> None:
    server = Server()
    code = server.code()
    server.client_store.save(replace(CLIENT, expires_at=server.clock.now()))

    with pytest.raises(OAuthError) as caught:
        server.exchange(code)

    assert (caught.value.code, caught.value.status) == ("invalid_client", 401)


def test_a_form_without_a_client_is_from_nobody() -> None:
    assert refused(lambda: Server().tokens.revoke(form(token="x"), None)) == "invalid_client"


@pytest.mark.requirement("A9")
def test_answers_lost_again_and_again_for_a_year_lock_nobody_out() -> None:
    server = Server()
    pair = server.exchange(server.code())
    for _ in range(52):
        server.clock.sleep(timedelta(days=7).total_seconds())
        server.refresh(pair["refresh_token"])  # nobody hears of this pair
        pair = server.refresh(pair["refresh_token"])

    [grant] = server.grants.records.values()
    unused = [key for key, used_at in grant.refresh.items() if used_at is None]
    assert len(unused) == 32
