"""The environment is read once, and what is secret in it stays secret."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from starlette.responses import Response
from starlette.routing import Route, Router

from bot.commands.play import for_the_terminal
from bot.errors import BadSettings, TokenMissing
from bot.settings import LogLevel, load_settings, strangers
from bot.web.places import derived_secret
from bot.web.server import listening

TOKEN = "4242:TEST-token-that-opens-nothing-at-all-00"  # noqa: S105 - of no bot


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TELEGRAM_TOKEN", "REDIS_URL", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_without_anything_set_it_plays_for_itself_with_a_ceiling_of_8() -> None:
    settings = load_settings()
    assert (settings.telegram_token, settings.redis_url, settings.database_url) == (None, None, None)
    assert settings.room_ceiling == 8
    assert settings.data_dir == Path(".data")


def test_a_value_is_read_under_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_ROOM_CEILING", "3")
    monkeypatch.setenv("CODEMOJEX_LOG_LEVEL", "Warning")
    settings = load_settings()
    assert (settings.room_ceiling, settings.log_level) == (3, LogLevel.WARNING)


@pytest.mark.parametrize("prefix", ["", "CODEMOJEX_"])
def test_token_and_addresses_go_by_the_names_that_everybody_uses(monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    monkeypatch.setenv(f"{prefix}TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setenv(f"{prefix}REDIS_URL", "redis://localhost:6379/0")
    monkeypatch.setenv(f"{prefix}DATABASE_URL", "postgres://u@localhost/x")
    settings = load_settings()
    assert settings.token() == TOKEN
    assert settings.redis_url is not None
    assert settings.database_url is not None


def test_nothing_secret_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@localhost:6379/0")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:hunter2@localhost/x")
    settings = load_settings()
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert TOKEN not in shown
        assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TELEGRAM_TOKEN", "hunter2"),
        ("TELEGRAM_TOKEN", "12:with space hunter2"),
        ("REDIS_URL", "localhost:hunter2"),
        ("REDIS_URL", "redis://:hunter2@[::1"),
        ("DATABASE_URL", "postgres://u:hunter2@localhost:x/x"),
    ],
)
def test_an_error_about_a_secret_does_not_show_it(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=name) as raised:
        load_settings()
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_every_wrong_value_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_ROOM_CEILING", "0")
    monkeypatch.setenv("CODEMOJEX_SCORE_BATCH", "many")
    with pytest.raises(BadSettings, match=r"ROOM_CEILING=0 .*SCORE_BATCH=many"):
        load_settings()


def test_a_misspelt_setting_is_found_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_ROOM_CEILING", "3")
    monkeypatch.setenv("codemojex_log_level", "info")
    monkeypatch.setenv("CODEMOJEX_TEST_FULL", "0")
    assert strangers() == []
    monkeypatch.setenv("CODEMOJEX_ROOM_CEILNIG", "3")
    monkeypatch.setenv("CODEMOJEX_FAVOURITE_COLOUR", "red")
    assert strangers() == [("CODEMOJEX_FAVOURITE_COLOUR", None), ("CODEMOJEX_ROOM_CEILNIG", "CODEMOJEX_ROOM_CEILING")]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ROOM_CEILING", "0", "=0 can't be used: it must be a whole number from 1 to 100000"),
        ("ROOM_CEILING", "many", "=many can't be used: it must be a whole number from 1 to 100000"),
        ("WEBHOOK_CONNECTIONS", "1.5", "=1.5 can't be used: it must be a whole number from 1 to 100"),
        (
            "GROUP_COOLDOWN_MS",
            "9" * 5_000,
            f"={'9' * 57}... can't be used: it must be a whole number from 0 to 86400000",
        ),
        ("LOG_LEVEL", "loud", "=loud can't be used: it must be debug, info, warning or error"),
        ("LOG_FORMAT", "xml", "=xml can't be used: it must be json or console"),
    ],
)
def test_a_wrong_value_is_told_in_words_of_our_own(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"CODEMOJEX_{name}", value)
    with pytest.raises(BadSettings) as raised:
        load_settings()
    assert str(raised.value) == f"CODEMOJEX_{name}{told}"


def test_an_empty_value_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "")
    monkeypatch.setenv("CODEMOJEX_ROOM_CEILING", "")
    settings = load_settings()
    assert settings.redis_url is None
    assert settings.room_ceiling == 8


def test_what_the_command_line_says_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_DATA_DIR", "/from/environment")
    assert load_settings(data_dir=Path("/from/line")).data_dir == Path("/from/line")
    assert load_settings().data_dir == Path("/from/environment")


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().room_ceiling = 9


def test_a_missing_token_says_what_to_set() -> None:
    with pytest.raises(TokenMissing, match="TELEGRAM_TOKEN"):
        load_settings().token()


def test_the_terminal_s_own_servers_wait_for_no_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_REDIS_REPLICAS", "1")
    assert for_the_terminal(load_settings()).redis_replicas == 0


def hooked(monkeypatch: pytest.MonkeyPatch, url: str, **more: str) -> None:
    monkeypatch.setenv("TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setenv("CODEMOJEX_LISTEN", "127.0.0.1:8080")
    monkeypatch.setenv("CODEMOJEX_WEBHOOK_URL", url)
    for name, value in more.items():
        monkeypatch.setenv(name, value)


def test_without_an_address_the_bot_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    hooked(monkeypatch, "")
    assert load_settings().webhook() is None


def test_a_webhook_has_a_path_a_secret_and_a_number_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    hooked(monkeypatch, "https://bot.example.org/telegram", CODEMOJEX_WEBHOOK_CONNECTIONS="40")
    webhook = load_settings().webhook()
    assert webhook is not None
    assert (webhook.path, webhook.connections) == ("/telegram", 40)
    assert webhook.secret == derived_secret(TOKEN)
    assert webhook.secret not in repr(webhook)
    monkeypatch.setenv("CODEMOJEX_WEBHOOK_SECRET", "my-own_Secret1")
    settings = load_settings()
    own = settings.webhook()
    assert own is not None
    assert own.secret == "my-own_Secret1"  # noqa: S105 - of the test
    assert "my-own_Secret1" not in repr(settings) + settings.model_dump_json()


@pytest.mark.parametrize("path", ["tele%20gram", "caf%C3%A9", "a+b:c@d,e"])
async def test_the_path_of_a_webhook_is_the_one_that_posts_come_on(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    hooked(monkeypatch, f"https://bot.example.org/{path}")
    webhook = load_settings().webhook()
    assert webhook is not None
    app = Router([Route(webhook.path, lambda _: Response(), methods=["POST"])])
    async with listening("127.0.0.1:0", app) as port, httpx.AsyncClient() as telegram:
        assert (await telegram.post(f"http://127.0.0.1:{port}/{path}")).status_code == 200


def test_a_webhook_needs_a_place_to_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    hooked(monkeypatch, "https://bot.example.org/telegram", CODEMOJEX_LISTEN="")
    with pytest.raises(BadSettings, match="CODEMOJEX_LISTEN"):
        load_settings().webhook()


@pytest.mark.parametrize(
    "url",
    [
        "bot.example.org",
        "http://bot.example.org/telegram",
        "ftp://bot.example.org/telegram",
        "https:///telegram",
        "https://bot.example.org:8081/telegram",
        "https://bot.example.org:x/telegram",
        "https://u:hunter2@bot.example.org/telegram",
        "https://bot.example.org/telegram?x=1",
        "https://bot.example.org/telegram#x",
        "https://bot.example.org/health/live",
        "https://bot.example.org/%68ealth/live",
        "https://bot.example.org/{x:y}",
        "https://bot.example.org/metrics",
        f"https://bot.example.org/{TOKEN}",
        f"https://bot.example.org/{TOKEN.replace(':', '%3A')}",
    ],
)
def test_an_address_that_telegram_can_or_should_not_post_to_is_refused(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    hooked(monkeypatch, url)
    with pytest.raises(BadSettings, match="CODEMOJEX_WEBHOOK_URL") as raised:
        load_settings()
    assert TOKEN not in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_a_bot_api_of_one_s_own_may_post_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    hooked(monkeypatch, "http://127.0.0.1:9999/telegram", CODEMOJEX_TELEGRAM_API="http://127.0.0.1:8081")
    assert load_settings().webhook() is not None


@pytest.mark.parametrize("secret", ["hunter2 ", "hunter2!", "hünter2", "hunter2" * 37])
def test_a_secret_that_telegram_does_not_take_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    hooked(monkeypatch, "https://bot.example.org/telegram", CODEMOJEX_WEBHOOK_SECRET=secret)
    with pytest.raises(BadSettings, match="CODEMOJEX_WEBHOOK_SECRET can't be used") as raised:
        load_settings()
    assert "unter2" not in str(raised.value)


@pytest.mark.parametrize(
    "place", ["8080", ":8080", "localhost", "localhost:", "localhost:x", "localhost:99999", "a:1/x"]
)
def test_a_place_that_is_no_host_and_port_is_refused(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("CODEMOJEX_LISTEN", place)
    with pytest.raises(BadSettings, match="CODEMOJEX_LISTEN"):
        load_settings()


@pytest.mark.parametrize("place", ["127.0.0.1:8080", "0.0.0.0:1", "[::1]:8080", "localhost:0"])
def test_a_place_is_a_host_and_a_port(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("CODEMOJEX_LISTEN", place)
    assert load_settings().listen == place


def test_a_token_in_the_wrong_variable_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    token = f"4242:{'x' * 35}"
    monkeypatch.setenv("CODEMOJEX_TELEGRAM_API", token)
    monkeypatch.setenv("CODEMOJEX_LOG_LEVEL", "redis://:hunter2@localhost")
    with pytest.raises(BadSettings, match="TELEGRAM_API") as raised:
        load_settings()
    assert token not in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_what_is_wrong_is_told_as_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMOJEX_SCORE_BATCH", "0")
    hooked(monkeypatch, "https://bot.example.org:99/telegram")
    with pytest.raises(BadSettings, match=r"used: Telegram posts .*used: it must be a whole") as raised:
        load_settings()
    assert "Value error" not in str(raised.value)
