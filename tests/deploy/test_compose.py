"""The compose file is well formed, and every name in it exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from bot.cli import app
from bot.embedded import EmbeddedValkey
from tests.deploy.tree import ROOT, environment_names, versions_the_tests_run_on

COMPOSE: Final = ROOT / "docker-compose.yml"
SCHEMA_CHECK: Final = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
INTERPOLATED: Final = re.compile(r"\$\{(\w+)")


def compose() -> dict[str, Any]:
    loaded = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def services() -> dict[str, dict[str, Any]]:
    return dict(compose()["services"])


SERVICES: Final = sorted(services())
PROGRAMS: Final = sorted(name for name, service in services().items() if "build" in service)
SERVERS: Final = sorted(set(SERVICES) - set(PROGRAMS))


def schema_check(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SCHEMA_CHECK, path], check=False, capture_output=True, text=True)  # noqa: S603 - our own command


def test_it_obeys_the_compose_schema() -> None:
    done = schema_check(COMPOSE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_check_finds_a_key_that_compose_does_not_know(tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(COMPOSE.read_text(encoding="utf-8").replace("healthcheck:", "healthchecks:", 1))
    assert schema_check(broken).returncode != 0


def test_it_has_the_two_servers_and_the_three_programs() -> None:
    assert SERVERS == ["postgres", "valkey"]
    assert PROGRAMS == ["bot", "migrate", "worker"]


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_waits_for_exists_and_can_come_true(name: str) -> None:
    """A service is healthy only if it says how to tell, and completes only if it isn't restarted for ever."""
    for other, how in services()[name].get("depends_on", {}).items():
        assert other in services(), f"{name} waits for {other}, which is no service"
        match how["condition"]:
            case "service_healthy":
                assert "healthcheck" in services()[other], f"{other} has no healthcheck"
            case "service_completed_successfully":
                assert "restart" not in services()[other], f"{other} never completes"
            case condition:
                pytest.fail(f"{name} waits for {other} {condition}: that says nothing about its being ready")


@pytest.mark.parametrize("name", ["bot", "worker"])
def test_bot_and_workers_start_on_a_migrated_database_and_live_servers(name: str) -> None:
    assert {other: how["condition"] for other, how in services()[name]["depends_on"].items()} == {
        "migrate": "service_completed_successfully",
        "postgres": "service_healthy",
        "valkey": "service_healthy",
    }


def test_every_volume_is_used_and_every_used_one_is_declared() -> None:
    used = {mount.partition(":")[0] for service in services().values() for mount in service.get("volumes", [])}
    assert used == set(compose()["volumes"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_variable_of_a_program_is_one_of_its_settings(name: str) -> None:
    assert set(services()[name]["environment"]) <= environment_names()


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_runs_a_command_that_exists(name: str) -> None:
    commands = {info.callback.__name__ for info in app.registered_commands if info.callback is not None}
    assert services()[name]["command"][0] in commands


@pytest.mark.parametrize("name", PROGRAMS)
def test_addresses_name_services_of_this_file(name: str) -> None:
    environment = services()[name]["environment"]
    hosts = [re.sub(r"\$\{[^}]*\}", "secret", environment[address]) for address in ("REDIS_URL", "DATABASE_URL")]
    assert [re.split(r"[@/:]+", url)[-3] for url in hosts] == ["valkey", "postgres"]


def test_every_variable_that_compose_fills_in_is_in_the_example() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    for name in INTERPOLATED.findall(COMPOSE.read_text(encoding="utf-8")):
        assert re.search(rf"^{name}=", example, re.MULTILINE), f"{name} is not in .env.example"


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_the_very_version_that_the_tests_run_on(name: str) -> None:
    image, _, tag = services()[name]["image"].partition(":")
    assert image in {"valkey/valkey", "postgres"}
    assert tag == versions_the_tests_run_on()[name]


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_is_published_and_nothing_is_privileged(name: str) -> None:
    service = services()[name]
    assert not {"ports", "network_mode", "privileged", "pid", "container_name"} & set(service)
    assert service["read_only"] is True
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", ["bot", "worker"])
def test_programs_restart_and_have_time_to_finish_what_they_took(name: str) -> None:
    service = services()[name]
    assert service["restart"] == "unless-stopped"
    assert service["init"] is True
    assert int(service["stop_grace_period"].removesuffix("s")) > 30, "shorter than a lease"


def test_valkey_forgets_nothing_it_has_answered() -> None:
    words = services()["valkey"]["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--appendfsync"] == "always"
    assert options["--save"] == ""
    assert options["--maxmemory-policy"] == "noeviction"
    assert services()["valkey"]["volumes"] == ["valkey:/data"]


def test_valkey_keeps_its_data_as_the_embedded_one_does(tmp_path: Path) -> None:
    words = services()["valkey"]["command"]
    embedded = EmbeddedValkey(tmp_path)._options
    told = {name.removeprefix("--"): value for name, value in zip(words[1::2], words[2::2], strict=True)}
    assert told == {name: embedded[name] for name in told}
    assert {"appendonly", "appendfsync", "save", "maxmemory-policy"} <= set(told)


def test_nothing_takes_from_postgres_what_makes_a_commit_durable() -> None:
    service = services()["postgres"]
    assert "command" not in service, "its defaults sync each commit"
    assert not {"POSTGRES_INITDB_ARGS", "PGOPTIONS"} & set(service["environment"])
    assert service["volumes"] == ["postgres:/var/lib/postgresql"]
    assert int(service["stop_grace_period"].removesuffix("s")) >= 30, "it writes a checkpoint as it stops"
