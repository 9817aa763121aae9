"""The Lua folder: its loader, its layout, and what no script may do."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import cast

import pytest

from engine.lanes import BadScript, Lanes
from engine.lanes.scripts import FOLDER, expand

LUA = cast("Path", FOLDER)
VERBS = sorted(file.stem for file in LUA.glob("*.lua"))
UNHURRIED = {"audit_scan", "audit_group"}
"""An audit may look up and scan, a bounded page or one group at a time."""
FILES = sorted([*LUA.glob("*.lua"), *LUA.glob("include/*.lua")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    return tmp_path


def write(folder: Path, **files: str) -> None:
    """Write ``verb`` at the top and anything else as an include."""
    for name, text in files.items():
        (folder / f"{name}.lua" if name == "verb" else folder / "include" / f"{name}.lua").write_text(text)


def test_includes_are_put_in_their_places(folder: Path) -> None:
    write(folder, verb="1\n-- @include one\n4\n", one="2\n  -- @include two\n", two="3\n")
    assert expand("verb", folder) == "1\n2\n3\n4\n"


def test_an_include_may_have_its_verbs_name(folder: Path) -> None:
    (folder / "verb.lua").write_text("-- @include verb\n")
    (folder / "include" / "verb.lua").write_text("1\n")
    assert expand("verb", folder) == "1\n"


def test_a_missing_include_is_named_with_who_wanted_it(folder: Path) -> None:
    write(folder, verb="-- @include one\n", one="-- @include two\n")
    with pytest.raises(BadScript, match=r"verb\.lua > include/one\.lua > include/two\.lua: no such file"):
        expand("verb", folder)


def test_a_circle_of_includes_is_refused(folder: Path) -> None:
    write(folder, verb="-- @include one\n", one="-- @include two\n", two="\n-- @include one\n")
    with pytest.raises(BadScript, match=r"two\.lua, line 2: include/one\.lua includes itself"):
        expand("verb", folder)


def test_an_include_twice_is_refused(folder: Path) -> None:
    write(folder, verb="-- @include one\n-- @include two\n", one="", two="-- @include one\n")
    with pytest.raises(BadScript, match="twice"):
        expand("verb", folder)


def test_a_missing_verb_is_refused(folder: Path) -> None:
    with pytest.raises(BadScript, match=r"verb\.lua: no such file"):
        expand("verb", folder)


@pytest.mark.parametrize("verb", VERBS)
def test_a_script_is_named_as_its_method_and_its_test(verb: str) -> None:
    """A verb in several scripts names each by itself and its part."""
    verb = verb.partition("_")[0] if verb.startswith(("audit_", "stats_")) else verb
    assert inspect.iscoroutinefunction(getattr(Lanes, verb, None) or getattr(Lanes, f"{verb}_many", None))
    tests = Path(__file__).parent
    texts = "".join(file.read_text() for file in tests.glob("test_*.py"))
    assert f"lanes.{verb}(" in texts or f"lanes.{verb}_many(" in texts


@pytest.mark.parametrize("verb", VERBS)
def test_a_script_expands_and_says_what_it_guarantees_takes_and_returns(verb: str) -> None:
    lines = expand(verb).splitlines()
    assert lines[0].startswith("#!lua")
    header = "\n".join(line for line in lines[1:15] if line.startswith("--"))
    assert "-- KEYS[1] " in header
    assert "-- Returns " in header


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_are_bound_to_names_once(verb: str) -> None:
    text = (LUA / f"{verb}.lua").read_text()
    code = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    named = {int(index) for index in re.findall(r"-- ARGV\[(\d+)", text)}
    used = {int(index) for index in re.findall(r"\bARGV\[(\d+)", code)} | (
        {int(index) for index in re.findall(r"unpack\(ARGV, (\d+)", code)}
    )
    assert used == named or (named == {1} and re.search(r"= ARGV$", code, re.MULTILINE))
    assert all(len(re.findall(rf"\bARGV\[{index}\]", code)) == 1 for index in used if f"ARGV[{index}]" in code)


@pytest.mark.parametrize("verb", VERBS)
def test_no_script_looks_through_everything(verb: str) -> None:
    if verb in UNHURRIED:
        return
    commands = {command.upper() for command in re.findall(r"call\(\s*'(\w+)'", expand(verb))}
    assert not commands & {"KEYS", "SCAN", "SMEMBERS", "HGETALL", "HKEYS", "HVALS", "LPOS", "SORT"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_lua_file_is_short_and_only_the_keys_spell_keys(file: Path) -> None:
    text = file.read_text()
    assert len(text.splitlines()) < 120
    if file.name != "keys.lua":
        assert "base .." not in text
        assert "emq:" not in text


def test_every_include_is_used() -> None:
    wanted = {name for file in FILES for name in re.findall(r"-- @include (\S+)", file.read_text())}
    assert wanted == {file.stem for file in LUA.glob("include/*.lua")}
