"""Settings from the environment and secrets from their parameters."""

from decimal import Decimal

import pytest

from memorybox.settings import ConfiguredClient, Secrets, Settings


@pytest.mark.promise("P-070", "P-071")
def test_a_deployment_needs_to_say_where_it_is_and_nothing_more() -> None:
    settings = Settings.from_environment({"PUBLIC_BASE_URL": "https://memory.example"})

    assert settings == Settings(
        public_base_url="https://memory.example",
        allowed_hosts=frozenset({"memory.example"}),
        allowed_origins=frozenset({"https://memory.example"}),
        stage="local",
        memory_table="Memory",
        auth_table="Auth",
        bucket_name="memorybox",
        queue_url="",
        token_key_arn="",
        secrets_prefix="/memorybox",
        dropbox_base_url=None,
        dropbox_folder="Apps/LLMemoryBox",
        openai_base_url=None,
        embedding_model="text-embedding-3-small",
        embedding_dimensions=512,
        embedding_request_bytes=300_000,
        embedding_price=Decimal("0.0118"),
        monthly_token_cap=84_745_762,
        deployment_token_cap=8_474_576_271,
        access_token_seconds=28_800,
        calls_per_minute=60,
        searches_per_minute=20,
        sign_ups_per_day=100,
        registrations_per_day=2_000,
        redirect_hosts=frozenset(),
        security_contact="mailto:security@memory.example",
        word_weight=None,
        warm_up=False,
    )


def test_an_empty_variable_counts_as_unset() -> None:
    given = {"PUBLIC_BASE_URL": "", "EMBEDDING_DIMENSIONS": "", "DROPBOX_BASE_URL": ""}
    assert Settings.from_environment(given) == Settings.from_environment({})


@pytest.mark.promise("P-055")
def test_the_weight_of_the_words_can_be_pinned() -> None:
    assert Settings.from_environment({"WORD_WEIGHT": "0"}).word_weight == 0


@pytest.mark.promise("P-071")
def test_another_price_moves_both_caps() -> None:
    settings = Settings.from_environment({"EMBEDDING_PRICE": "0.02"})
    assert (settings.monthly_token_cap, settings.deployment_token_cap) == (
        50_000_000,
        5_000_000_000,
    )


def test_a_machine_of_ones_own_answers_to_all_its_names() -> None:
    settings = Settings.from_environment({"PUBLIC_BASE_URL": "http://127.0.0.1:8080"})
    assert settings.allowed_hosts == {"localhost", "127.0.0.1", "[::1]"}


def test_more_hosts_and_origins_can_be_allowed() -> None:
    settings = Settings.from_environment(
        {
            "PUBLIC_BASE_URL": "https://memory.example",
            "ALLOWED_HOSTS": "a.example, b.example",
            "ALLOWED_ORIGINS": "https://inspector.example,",
        }
    )
    assert settings.allowed_hosts == {"memory.example", "a.example", "b.example"}
    assert settings.allowed_origins == {"https://memory.example", "https://inspector.example"}


@pytest.mark.parametrize(
    "variables",
    [
        {"PUBLIC_BASE_URL": "https://memory.example/"},
        {"PUBLIC_BASE_URL": "https://memory.example/Prod"},
        {"PUBLIC_BASE_URL": "https://memory.example?x"},
        {"PUBLIC_BASE_URL": "http://memory.example"},
        {"PUBLIC_BASE_URL": "memory.example"},
        {"DROPBOX_BASE_URL": "https://evil.example"},
        {"DROPBOX_BASE_URL": "http://127.0.0.1.evil.example"},
        {"EMBEDDING_DIMENSIONS": "many"},
    ],
)
def test_a_setting_that_cannot_be_stops_the_start(variables: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Settings.from_environment(variables)


def test_secrets_come_one_from_each_parameter() -> None:
    secrets = Secrets.from_parameters(
        {
            "dropbox-app-key": "key",
            "dropbox-app-secret": "new",
            "dropbox-app-secret-before": "old",
            "openai-api-key": "sk",
            "clients": '[{"id": "mine", "name": "Mine", "redirect_uris": ["https://a.example"]}]',
        }
    )

    assert secrets == Secrets(
        dropbox_app_key="key",
        dropbox_app_secret="new",
        webhook_secrets=("new", "old"),
        openai_api_key="sk",
        clients=(ConfiguredClient("mine", "Mine", ("https://a.example",)),),
    )
    assert all(word not in repr(secrets) for word in ("new", "old", "sk"))


def test_only_the_secrets_of_dropbox_are_required() -> None:
    secrets = Secrets.from_parameters({"dropbox-app-key": "k", "dropbox-app-secret": "s"})
    assert (secrets.webhook_secrets, secrets.openai_api_key, secrets.clients) == (("s",), "", ())
