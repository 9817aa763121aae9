"""The dashboard can be drawn: what it asks can be read, and each panel says what it is and in which unit."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.deploy.promtool import metrics_in, promtool
from tests.deploy.tree import ROOT

DASHBOARD: Final[dict[str, Any]] = json.loads((ROOT / "deploy" / "grafana" / "codemojex.json").read_text("utf-8"))
PANELS: Final[list[dict[str, Any]]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
ROWS: Final[list[dict[str, Any]]] = [panel for panel in DASHBOARD["panels"] if panel["type"] == "row"]
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
FILLED_IN: Final = {"$__rate_interval": "1m", "$job": "codemojex", "$queue": "cm"}
"""What Grafana puts in place of its variables."""


def titled(panel: dict[str, Any]) -> str:
    return str(panel["title"])


def expressions() -> list[str]:
    asked = [target["expr"] for panel in PANELS for target in panel["targets"]]
    return [*asked, *(annotation["expr"] for annotation in DASHBOARD["annotations"]["list"])]


def test_realised_share_stands_beside_configured_weight_on_one_panel() -> None:
    (panel,) = [panel for panel in PANELS if titled(panel) == "Realised share beside configured weight"]
    asked = [metrics_in(target["expr"]) for target in panel["targets"]]
    assert asked == [
        {"codemojex_group_served_recently_jobs"},
        {"codemojex_group_due_ratio"},
        {"codemojex_group_weight"},
    ]


def test_it_shows_all_that_an_operator_asks_for() -> None:
    spoken = {name for expression in expressions() for name in metrics_in(expression)}
    assert {
        "codemojex_queue_starvation_seconds",
        "codemojex_group_depth_jobs",
        "codemojex_group_oldest_seconds",
        "codemojex_group_in_flight_jobs",
        "codemojex_group_ceiling_jobs",
        "codemojex_claim_seconds_bucket",
        "codemojex_refusals_total",
        "codemojex_jobs_retried_total",
        "codemojex_queue_dead_jobs",
        "codemojex_queue_lapsed_total",
        "codemojex_telegram_budget_asks_total",
        "process_resident_memory_bytes",
    } <= spoken


def test_prometheus_can_read_every_expression(tmp_path: Path) -> None:
    filled: list[dict[str, str]] = []
    for expression in expressions():
        for name, value in FILLED_IN.items():
            expression = expression.replace(name, value)  # noqa: PLW2901 - one after another
        assert "$" not in expression, expression
        filled.append({"record": f"panel:{len(filled)}", "expr": expression})
    rules = tmp_path / "rules.yml"
    rules.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": filled}]}), encoding="utf-8")
    done = promtool("check", "rules", rules)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(filled)} rules found" in done.stdout


@pytest.mark.parametrize("panel", PANELS, ids=titled)
def test_a_panel_says_what_it_shows_in_which_unit_and_from_where(panel: dict[str, Any]) -> None:
    assert titled(panel)
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert panel["datasource"] == SOURCE
    assert panel["targets"]
    assert all(
        target["datasource"] == SOURCE and target["expr"] and target["legendFormat"] for target in panel["targets"]
    )
    references = [target["refId"] for target in panel["targets"]]
    assert len(set(references)) == len(references)


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        its = set(product(range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])))
        assert place["x"] + place["w"] <= 24
        assert not its & taken, titled(panel)
        taken |= its


def test_it_asks_which_prometheus_which_program_and_which_queue() -> None:
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    assert list(variables) == ["datasource", "job", "queue"]
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    assert all(variables[name]["datasource"] == SOURCE for name in ("job", "queue"))
    assert ROWS
    assert DASHBOARD["uid"] == "codemojex"
