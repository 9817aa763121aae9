"""The environment is read once, and what is secret in it stays secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BadSettings, TokenMissing
from bot.settings import LogLevel, load_settings

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


def test_a_token_in_the_wrong_variable_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    token = f"4242:{'x' * 35}"
    monkeypatch.setenv("CODEMOJEX_TELEGRAM_API", token)
    monkeypatch.setenv("CODEMOJEX_LOG_LEVEL", "redis://:hunter2@localhost")
    with pytest.raises(BadSettings, match="TELEGRAM_API") as raised:
        load_settings()
    assert token not in str(raised.value)
    assert "hunter2" not in str(raised.value)
