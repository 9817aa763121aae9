"""The rules of Prometheus are well formed, fire when they should and only then, and speak of what exists."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from redis.asyncio import Redis

from bot.metrics import Meters
from engine.workers.adapters import Queues
from tests.deploy.promtool import metrics_in, promtool
from tests.deploy.tree import ROOT
from tests.lanes.naming import A
from tests.lanes.steps import fill
from tests.metrics.scraping import page_on, scrape
from tests.test_docs import anchors

FOLDER: Final = ROOT / "deploy" / "prometheus"
RULES: Final = FOLDER / "alerts.yml"
TESTS: Final = FOLDER / "alerts_test.yml"
OPERATORS: Final = ROOT / "docs" / "operators.md"
PAGE: Final = ROOT / "docs" / "metrics.md"
DASHBOARD: Final = ROOT / "deploy" / "grafana" / "codemojex.json"


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    return [rule for group in loaded["groups"] for rule in group["rules"]]


ALERTS: Final = {rule["alert"]: rule for rule in rules() if "alert" in rule}


def test_the_example_and_its_rules_are_well_formed() -> None:
    done = promtool("check", "config", FOLDER / "prometheus.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules())} rules found" in done.stdout


def test_alerts_fire_when_they_should_and_are_quiet_where_they_must_be() -> None:
    done = promtool("test", "rules", TESTS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_expected_to_fire_at_some_time() -> None:
    tests = yaml.safe_load(TESTS.read_text(encoding="utf-8"))["tests"]
    expected = [each["exp_samples"] for test in tests for each in test["promql_expr_test"]]
    fired = {
        name for samples in expected for each in samples for name in re.findall(r'alertname="(\w+)"', each["labels"])
    }
    assert fired == set(ALERTS)


CONDITIONS: Final = [
    (name, condition)
    for name, rule in ALERTS.items()
    for condition in re.findall(r"^ +(?:and|or|unless) .*$", rule["expr"], re.MULTILINE)
]


@pytest.mark.parametrize(("name", "condition"), CONDITIONS)
def test_a_condition_that_were_missing_would_be_noticed(tmp_path: Path, name: str, condition: str) -> None:
    loaded = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for rule in (rule for group in loaded["groups"] for rule in group["rules"]):
        if rule.get("alert") == name:
            rule["expr"] = rule["expr"].replace(condition, "")
    (tmp_path / RULES.name).write_text(yaml.safe_dump(loaded), encoding="utf-8")
    shutil.copy(TESTS, tmp_path)
    assert promtool("check", "rules", RULES.name, cwd=tmp_path).returncode == 0, "it is a rule without it, too"
    assert promtool("test", "rules", TESTS.name, cwd=tmp_path).returncode != 0


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_an_alert_says_what_it_means_how_bad_it_is_and_what_to_do(name: str) -> None:
    told = ALERTS[name]["annotations"]
    assert ALERTS[name]["labels"]["severity"] in {"critical", "warning"}
    assert told["summary"]
    assert told["description"].endswith(".")
    page, _, anchor = told["runbook"].partition("#")
    assert ROOT / page == OPERATORS
    assert anchor == name.lower()
    assert anchor in anchors(OPERATORS)


def test_no_page_tells_of_an_alert_that_does_not_exist() -> None:
    told = set(
        re.findall(r"\bCodemojex[A-Z]\w+", OPERATORS.read_text(encoding="utf-8") + PAGE.read_text(encoding="utf-8"))
    )
    assert told == set(ALERTS)


async def shown(redis: Redis) -> set[str]:
    """The names of all series, of a process that works and whose queue has a group with every lever."""
    meters, queues = Meters(), Queues.on(redis)
    for lanes in (queues.guesses, queues.settlements, queues.notices):
        meters.work.of(lanes.queue, 30_000).answered(1)
    await fill(queues.guesses, A, 1)
    await queues.guesses.limit(A, 2)
    async with page_on(redis, meters) as client:
        return (await scrape(client)).names


async def test_rules_and_dashboard_speak_of_metrics_that_exist(redis: Redis) -> None:
    spoken = {name for rule in rules() for name in metrics_in(rule["expr"])}
    spoken |= metrics_in(TESTS.read_text(encoding="utf-8")) | metrics_in(DASHBOARD.read_text(encoding="utf-8"))
    assert len(spoken) > 30
    assert sorted(spoken - await shown(redis)) == []


async def test_the_page_tells_of_every_metric_and_of_no_other(redis: Redis) -> None:
    parts = re.compile(r"_(?:bucket|count|sum)$")
    ours = {parts.sub("", name) for name in await shown(redis) if name.startswith("codemojex_")}
    told = set(re.findall(r"^\| `(codemojex_[a-z_]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == ours
