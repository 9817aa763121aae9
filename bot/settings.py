"""Everything the environment decides, read once. Nothing else in the program looks at the environment.

Token and addresses are secrets: they print as asterisks, and no error about them shows their value.
"""

from __future__ import annotations

import difflib
import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import unquote, urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict
from redis.asyncio.connection import parse_url

from bot.budget import Limits
from bot.errors import BadSettings, TokenMissing
from bot.logs import redacted
from bot.web.places import Webhook, check_public, derived_secret, split_place
from engine.store.address import parse
from engine.store.errors import DatabaseUrlUnusable

PREFIX: Final = "CODEMOJEX_"
REPLICAS: Final = PREFIX + "REDIS_REPLICAS"
DEFAULT_DATA_DIR: Final = Path(".data")
_OTHERS: Final = (PREFIX + "TEST_", PREFIX + "NODE_PEERS")
"""What the tests and the benchmarks read."""
_ALIKE: Final = 0.8
_ENDS: Final = ("ge", "le")
_SHOWN: Final = 60
"""Characters of a wrong value that are told."""
_ON_TELEGRAM: Final = "telegram"
_TELEGRAM: Final = "https://api.telegram.org"


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a log line looks: for programs or for people."""

    JSON = "json"
    CONSOLE = "console"


_Ms = Annotated[int, Field(ge=0, le=86_400_000)]
_Calls = Annotated[int, Field(ge=0, le=100_000)]


class Settings(BaseSettings):
    """What an operator can set. Each field is ``CODEMOJEX_`` and its name in capitals, unless it says otherwise.

    An empty value counts as not set.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore")

    telegram_token: SecretStr | None = Field(
        None, validation_alias=AliasChoices("TELEGRAM_TOKEN", PREFIX + "TELEGRAM_TOKEN")
    )
    """What @BotFather gave: ``TELEGRAM_TOKEN``."""
    telegram_api: str = _TELEGRAM
    """Where the Bot API is; a server of one's own can stand in for Telegram's."""
    redis_url: SecretStr | None = Field(None, validation_alias=AliasChoices("REDIS_URL", PREFIX + "REDIS_URL"))
    """Redis >= 7 or Valkey: ``REDIS_URL``. Without it an embedded server runs in the data directory."""
    database_url: SecretStr | None = Field(None, validation_alias=AliasChoices("DATABASE_URL", PREFIX + "DATABASE_URL"))
    """PostgreSQL >= 14 or an SQLite file: ``DATABASE_URL``. Without it a file in the data directory."""
    webhook_url: str = ""
    """Where Telegram posts updates: an https address that leads to ``listen``. Without it the bot polls."""
    webhook_secret: SecretStr = SecretStr("")
    """What Telegram shows with each post. Without it, it is made from the token."""
    webhook_connections: Annotated[int, Field(ge=1, le=100)] = 100
    """Most posts that Telegram sends at the same time."""
    listen: str = ""
    """``HOST:PORT`` where this process takes posts and tells of its health and metrics; without it, none of them."""
    data_dir: Path = DEFAULT_DATA_DIR
    """Where ``play`` keeps its files; those of a bot on Telegram are in a folder of their own below it."""
    redis_replicas: Annotated[int, Field(ge=0, le=100)] = 0
    """How many replicas of Redis must have a guess before it counts as received; 0 where it has none."""
    room_ceiling: Annotated[int, Field(ge=1, le=100_000)] = 8
    """Most guesses of one room in flight at once, unless the operator's plan says otherwise."""
    calls_a_second: _Calls = 30
    """Most messages and edits a second to all chats, of all processes together; 0: no limit."""
    group_calls_a_minute: _Calls = 20
    """Most messages and edits a minute to one group, all its topics together; 0: no limit."""
    group_cooldown_ms: _Ms = 3_000
    """Least time between two of them to one group."""
    private_cooldown_ms: _Ms = 1_000
    """Least time between two of them to one private chat."""
    score_batch: Annotated[int, Field(ge=1, le=1_000)] = 200
    """Most guesses scored in one transaction."""
    lease_ms: Annotated[int, Field(ge=1_000, le=86_400_000)] = 30_000
    """How long a worker may hold a job before others take it for dead."""
    keep_said_hours: Annotated[int, Field(ge=1, le=876_000)] = 168
    """How long what was said is kept in the outbox."""
    keep_taken_hours: Annotated[int, Field(ge=25, le=876_000)] = 48
    """How long a command is recognised when it comes again; Telegram sends one again for up to a day."""
    database_pool: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Most connections to PostgreSQL of one process."""
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.JSON

    def on_telegram(self) -> Settings:
        """The same, with a bot's own folder: its chats and the terminal's, each on their own servers, never meet."""
        return self.model_copy(update={"data_dir": self.data_dir / _ON_TELEGRAM})

    def limits(self) -> Limits:
        """What Telegram may be asked for."""
        return Limits(
            calls_a_second=self.calls_a_second,
            private_gap_ms=self.private_cooldown_ms,
            group_gap_ms=self.group_cooldown_ms,
            group_calls_a_minute=self.group_calls_a_minute,
        )

    def token(self) -> str:
        """The token.

        Raises:
            TokenMissing: there is none.
        """
        if self.telegram_token is None:
            raise TokenMissing("TELEGRAM_TOKEN is not set; set it to the token that @BotFather gave you")
        return self.telegram_token.get_secret_value()

    def require_replicas(self) -> None:
        """Return where replicas are asked of a server that may have some.

        Raises:
            BadSettings: the embedded one is asked, and no guess would ever count as received.
        """
        if self.redis_replicas and self.redis_url is None:
            raise BadSettings(
                f"{REPLICAS}={self.redis_replicas} can't be used: the embedded server has no replica; "
                f"set REDIS_URL to a Redis that has, or leave {REPLICAS} out"
            )

    def webhook(self) -> Webhook | None:
        """Where and how Telegram is to post updates; None where the bot is to poll.

        Raises:
            BadSettings: nothing listens for the posts.
            TokenMissing: there is no token.
        """
        if not self.webhook_url:
            return None
        if not self.listen:
            raise BadSettings(
                f"{PREFIX}WEBHOOK_URL is set and {PREFIX}LISTEN is not; set {PREFIX}LISTEN to the HOST:PORT that the "
                "address leads to, like 127.0.0.1:8080"
            )
        secret = self.webhook_secret.get_secret_value() or derived_secret(self.token())
        return Webhook(self.webhook_url, secret, self.webhook_connections)

    @field_validator("telegram_token")
    @classmethod
    def _token_has_a_shape(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None:
            number, colon, rest = token.get_secret_value().partition(":")
            if not (number.isdecimal() and colon and rest.isascii() and rest.isprintable() and " " not in rest):
                raise ValueError("it is no bot token; copy the one that @BotFather gave you, like 123456:ABC-DEF")
        return token

    @field_validator("telegram_api")
    @classmethod
    def _api_is_an_address(cls, api: str) -> str:
        if urlsplit(api).scheme not in {"http", "https"} or not urlsplit(api).netloc:
            raise ValueError("it must be an address like https://api.telegram.org")
        return api.rstrip("/")

    @field_validator("webhook_url")
    @classmethod
    def _webhook_is_an_address(cls, url: str, others: ValidationInfo) -> str:
        if url:
            plain = others.data.get("telegram_api") != _TELEGRAM
            check_public(url, plain=plain)
            token = others.data.get("telegram_token")
            if token is not None and token.get_secret_value() in unquote(url):
                raise ValueError("it has the token in it, which everybody on the way would read")
        return url

    @field_validator("webhook_secret")
    @classmethod
    def _secret_has_a_shape(cls, secret: SecretStr) -> SecretStr:
        if re.fullmatch(r"[\w-]{0,256}", secret.get_secret_value(), re.ASCII) is None:
            raise ValueError("Telegram takes 1 to 256 of A-Z, a-z, 0-9, _ and -")
        return secret

    @field_validator("listen")
    @classmethod
    def _listen_is_a_place(cls, place: str) -> str:
        if place:
            split_place(place)
        return place

    @field_validator("redis_url")
    @classmethod
    def _redis_is_an_address(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            try:
                parse_url(url.get_secret_value())
            except ValueError:  # its words may quote the address
                raise ValueError("write it as redis://[:PASSWORD@]HOST:6379/0, rediss://... or unix:///PATH") from None
        return url

    @field_validator("database_url")
    @classmethod
    def _database_is_an_address(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            try:
                parse(url.get_secret_value())
            except DatabaseUrlUnusable as error:
                raise ValueError(str(error)) from None
        return url

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _in_any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


def load_settings(*, data_dir: Path | None = None) -> Settings:
    """Read the environment.

    Args:
        data_dir: what the command line says, which wins.

    Raises:
        BadSettings: a value can't be used; names the variable, and shows its value unless that is a secret.
    """
    try:
        settings = Settings()  # type: ignore[call-arg] # mypy doesn't see defaults beside an alias
    except ValidationError as error:
        # The library's own text spans lines and quotes what was typed, secrets too.
        raise BadSettings("; ".join(_told(problem) for problem in error.errors(include_url=False))) from None
    return settings if data_dir is None else settings.model_copy(update={"data_dir": data_dir})


def strangers() -> list[tuple[str, str | None]]:
    """Variables that are written like settings and are none, each with the setting that it is most like."""
    known = [PREFIX + field.upper() for field in Settings.model_fields]
    found = sorted(name for name in os.environ if name.upper().startswith(PREFIX) and name.upper() not in known)
    strange = (name for name in found if not name.startswith(_OTHERS))
    return [(name, next(iter(difflib.get_close_matches(name.upper(), known, 1, _ALIKE)), None)) for name in strange]


def _told(problem: Any) -> str:
    place = str(problem["loc"][0])
    field = Settings.model_fields.get(place)
    secret = field is None or field.annotation is SecretStr
    name = place if field is None else PREFIX + place.upper()  # an alias goes by itself
    # What was meant for another variable may be a secret, too.
    value = "" if secret else f"={_short(redacted(str(problem['input'])))}"
    return f"{name}{value} can't be used: {_wanted(field, problem)}"


def _wanted(field: FieldInfo | None, problem: Any) -> str:
    """What would do, in words of our own: the library's speak of Python."""
    bounds = {
        end: getattr(told, end) for told in (field.metadata if field else ()) for end in _ENDS if hasattr(told, end)
    }
    if set(_ENDS) <= set(bounds):
        return f"it must be a whole number from {bounds['ge']} to {bounds['le']}"
    if problem["type"] == "enum":
        return f"it must be {problem['ctx']['expected'].replace(chr(39), '')}"
    words = problem["msg"].removeprefix("Value error, ")
    return str(words)


def _short(value: str) -> str:
    return value if len(value) <= _SHOWN else f"{value[: _SHOWN - 3]}..."
