"""The pages tell of what exists: links lead somewhere, files are there, settings and commands are the program's."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import typer

from bot.cli import app
from bot.handlers import COMMANDS
from bot.settings import PREFIX, Settings
from engine.game.themes import THEMES
from tests.deploy.tree import ROOT, environment_names

FOLDERS: Final = ("bot", "engine", "migrations", "tests", "benchmarks", "deploy", "docs", ".ci")
PAGES: Final = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK: Final = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
NAMED_FILE: Final = re.compile(rf"`((?:{'|'.join(map(re.escape, FOLDERS))})/[\w./-]+)`")
ANOTHER_S_SETTING: Final = {"CODEMOJEX_TEST_REDIS_SERVER", "CODEMOJEX_NODE_PEERS"}
"""What the tests or the benchmarks alone read."""


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for target, anchor in LINK.findall(text(page)):
            found = (page.parent / target).resolve() if target else page
            assert found.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(found), f"{page.name} links to {target}#{anchor}"


def test_every_file_that_a_page_names_exists() -> None:
    for page in PAGES:
        for named in NAMED_FILE.findall(text(page)):
            assert (ROOT / named).exists(), f"{page.name} names {named}"


def test_every_decision_is_on_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = {target for target, _ in LINK.findall(text(folder / "README.md"))}
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} == listed


def test_the_readme_lists_every_setting_with_its_default() -> None:
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) *\|", text(ROOT / "README.md"), re.MULTILINE))
    assert {PREFIX + name.removeprefix(PREFIX) for name in listed} == {
        name for name in environment_names() if name.startswith(PREFIX)
    }
    plain = {name: default.strip("`") for name, default in listed.items() if name.startswith(PREFIX)}
    assert plain == {name: str(Settings.model_fields[name.removeprefix(PREFIX).lower()].default) for name in plain}


def test_no_page_names_a_setting_that_does_not_exist() -> None:
    for page in PAGES:
        named = set(re.findall(rf"\b{PREFIX}[A-Z_]+\b", text(page)))
        assert named <= environment_names() | ANOTHER_S_SETTING, page.name


def test_the_readme_tells_of_every_command_and_theme() -> None:
    readme = text(ROOT / "README.md")
    assert [name for name in COMMANDS if f"/{name}" not in readme] == []
    assert f"themes: {', '.join(THEMES)}" in readme


def test_every_command_line_that_a_page_shows_begins_with_a_command_that_exists() -> None:
    known = commands_of(app)
    assert {"play", "lanes", "lanes status", "lanes plan set"} <= known
    for page in PAGES:
        shown = set(re.findall(r"(?:^|[`/ ])codemojex ([a-z]+)\b", text(page), re.MULTILINE))
        assert shown <= known, page.name
        shown = set(re.findall(r"(?:^|[`/ ])codemojex (lanes(?: plan)? [a-z]+)\b", text(page), re.MULTILINE))
        assert shown <= known, page.name


def commands_of(program: typer.Typer, path: str = "") -> set[str]:
    """The words that every command is called by, those of commands inside of commands too."""
    named = {info.name or getattr(info.callback, "__name__", "") for info in program.registered_commands}
    found = {f"{path}{name}" for name in named}
    for group in program.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        name = f"{path}{inner.info.name}"
        found |= {name} | commands_of(inner, f"{name} ")
    return found


def test_the_readme_tells_of_every_command_of_operators() -> None:
    readme = text(ROOT / "README.md")
    words = {command.rpartition(" ")[2] for command in commands_of(app) if command.startswith("lanes ")}
    assert {word for word in words if not re.search(rf"\b{word}\b", readme)} == set()


def test_every_target_that_a_page_makes_exists() -> None:
    made = set(re.findall(r"^([a-z]+):", text(ROOT / "Makefile"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"(?:^|`)make ([a-z]+)\b", text(page), re.MULTILINE)) <= made, page.name
