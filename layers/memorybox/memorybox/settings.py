"""What a deployment decides: settings from the environment, secrets from the parameter store."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlsplit

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Read once, when a function starts. Amounts of money are dollars."""

    public_base_url: str
    allowed_hosts: frozenset[str]
    allowed_origins: frozenset[str]
    stage: str

    memory_table: str
    auth_table: str
    bucket_name: str
    queue_url: str
    token_key_arn: str
    secrets_prefix: str

    dropbox_base_url: str | None
    dropbox_folder: str
    openai_base_url: str | None
    embedding_model: str
    embedding_dimensions: int
    embedding_request_bytes: int
    embedding_price: Decimal
    monthly_token_cap: int
    deployment_token_cap: int

    access_token_seconds: int
    calls_per_minute: int
    searches_per_minute: int
    sign_ups_per_day: int
    registrations_per_day: int
    redirect_hosts: frozenset[str]
    security_contact: str
    word_weight: float | None
    warm_up: bool

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """An empty variable counts as unset. Raises ValueError for what cannot be."""
        given = {name: value for name, value in environ.items() if value}
        base_url = _base_url(given.get("PUBLIC_BASE_URL", "http://localhost:8080"))
        # Dollars for a million tokens. Counted high, so that the caps stay under their dollars.
        price = Decimal(given.get("EMBEDDING_PRICE", "0.0118"))
        return cls(
            public_base_url=base_url,
            allowed_hosts=_hosts(base_url) | _items(given.get("ALLOWED_HOSTS", "")),
            allowed_origins=frozenset({base_url}) | _items(given.get("ALLOWED_ORIGINS", "")),
            stage=given.get("STAGE", "local"),
            memory_table=given.get("MEMORY_TABLE", "Memory"),
            auth_table=given.get("AUTH_TABLE", "Auth"),
            bucket_name=given.get("BUCKET_NAME", "memorybox"),
            queue_url=given.get("QUEUE_URL", ""),
            token_key_arn=given.get("TOKEN_KEY_ARN", ""),
            secrets_prefix=given.get("SECRETS_PREFIX", "/memorybox"),
            dropbox_base_url=_loopback(given.get("DROPBOX_BASE_URL")),
            dropbox_folder=given.get("DROPBOX_FOLDER", "Apps/LLMemoryBox"),
            openai_base_url=given.get("OPENAI_BASE_URL"),
            embedding_model=given.get("EMBEDDING_MODEL", "text-embedding-3-small"),
            embedding_dimensions=int(given.get("EMBEDDING_DIMENSIONS", "512")),
            embedding_request_bytes=int(given.get("EMBEDDING_REQUEST_BYTES", "300000")),
            embedding_price=price,
            monthly_token_cap=int(given.get("MONTHLY_TOKEN_CAP", tokens_for(Decimal(1), price))),
            deployment_token_cap=int(
                given.get("DEPLOYMENT_TOKEN_CAP", tokens_for(Decimal(100), price))
            ),
            access_token_seconds=int(given.get("ACCESS_TOKEN_SECONDS", 8 * 60 * 60)),
            calls_per_minute=int(given.get("CALLS_PER_MINUTE", "60")),
            searches_per_minute=int(given.get("SEARCHES_PER_MINUTE", "20")),
            sign_ups_per_day=int(given.get("SIGN_UPS_PER_DAY", "100")),
            registrations_per_day=int(given.get("REGISTRATIONS_PER_DAY", "2000")),
            redirect_hosts=_items(given.get("REDIRECT_HOSTS", "")),
            security_contact=given.get(
                "SECURITY_CONTACT", f"mailto:security@{urlsplit(base_url).hostname}"
            ),
            word_weight=float(given["WORD_WEIGHT"]) if "WORD_WEIGHT" in given else None,
            warm_up=given.get("WARM_UP") == "1",
        )


@dataclass(frozen=True, slots=True)
class ConfiguredClient:
    """An OAuth client that was agreed on by hand, for a connector that asks for a pasted id."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not stand in the environment or the template. One parameter each."""

    dropbox_app_key: str
    dropbox_app_secret: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(repr=False)  # the app secret, and the one before it
    openai_api_key: str = field(repr=False)
    clients: tuple[ConfiguredClient, ...]

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str]) -> "Secrets":
        """From the values under `<secrets_prefix>/<stage>/`, by their last name.

        `clients` is a JSON list of {"id", "name", "redirect_uris", "secret"?}. Only the two of
        Dropbox are required.
        """
        app_secret = parameters["dropbox-app-secret"]
        return cls(
            dropbox_app_key=parameters["dropbox-app-key"],
            dropbox_app_secret=app_secret,
            webhook_secrets=tuple(
                filter(None, (app_secret, parameters.get("dropbox-app-secret-before")))
            ),
            openai_api_key=parameters.get("openai-api-key", ""),
            clients=tuple(
                ConfiguredClient(
                    id=client["id"],
                    name=client["name"],
                    redirect_uris=tuple(client["redirect_uris"]),
                    secret=client.get("secret"),
                )
                for client in json.loads(parameters.get("clients", "[]"))
            ),
        )


def tokens_for(dollars: Decimal, price: Decimal) -> int:
    """How many tokens `dollars` buy, at `price` dollars for a million."""
    return int(dollars * 1_000_000 / price)


def _base_url(text: str) -> str:
    """`text`, if it is a bare origin: every public address is made from it by appending a path."""
    url = urlsplit(text)
    if url.scheme not in ("https", "http") or text != f"{url.scheme}://{url.netloc}":
        raise ValueError(f"PUBLIC_BASE_URL must be like https://example.com, not {text}")
    if url.scheme == "http" and not _is_loopback(text):
        raise ValueError("PUBLIC_BASE_URL must be https, except on this machine")
    return text


def _hosts(base_url: str) -> frozenset[str]:
    """Names without ports. On this machine, every name it has."""
    name = urlsplit(base_url).hostname or ""
    return LOOPBACK_HOSTS if _is_loopback(base_url) else frozenset({name})


def _loopback(url: str | None) -> str | None:
    """People's tokens go there, so nothing but an emulator on this machine will do."""
    if url is not None and not _is_loopback(url):
        raise ValueError("DROPBOX_BASE_URL must be on this machine")
    return url


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _items(text: str) -> frozenset[str]:
    return frozenset(item.strip() for item in text.split(",") if item.strip())
