"""The example of an .env file names what exists, and shows the defaults that hold."""

from __future__ import annotations

import re
from typing import Final

from bot.settings import PREFIX, Settings
from tests.deploy.tree import ROOT, environment_names

EXAMPLE: Final = (ROOT / ".env.example").read_text(encoding="utf-8")
ASSIGNED: Final = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
COMPOSE_ONLY: Final = {"POSTGRES_PASSWORD"}
"""What the compose file itself fills in."""
SET_BY_COMPOSE: Final = {"REDIS_URL", "DATABASE_URL", "LISTEN"}
WITHOUT_USE_IN_A_CONTAINER: Final = {"DATA_DIR", "TELEGRAM_API"}


def test_every_name_is_a_setting_or_compose_s_own() -> None:
    assert set(ASSIGNED) <= environment_names() | COMPOSE_ONLY


def test_every_setting_an_operator_of_containers_can_use_is_there() -> None:
    ours = {name for name in environment_names() if name.startswith(PREFIX)}
    elsewhere = SET_BY_COMPOSE | WITHOUT_USE_IN_A_CONTAINER | {"TELEGRAM_TOKEN"}
    assert ours - {PREFIX + name for name in elsewhere} <= set(ASSIGNED)


def test_it_holds_no_secret() -> None:
    assert ASSIGNED["TELEGRAM_TOKEN"] == ""
    assert ASSIGNED["POSTGRES_PASSWORD"] == ""
    assert ASSIGNED["CODEMOJEX_WEBHOOK_SECRET"] == ""


def test_the_values_shown_are_the_defaults() -> None:
    shown = {name: value for name, value in ASSIGNED.items() if name.startswith(PREFIX)}
    defaults = {name: str(Settings.model_fields[name.removeprefix(PREFIX).lower()].default) for name in shown}
    assert shown == defaults
