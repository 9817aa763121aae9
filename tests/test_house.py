"""The house keeps its own rules: who may import whom, sizes, names, what is shipped, what is locked."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROGRAM: Final = ("bot", "engine", "migrations")
MOST_LINES: Final = {".py": 300, ".lua": 120}
MOST_LINES_OF_A_FUNCTION: Final = 40
LONG_FUNCTIONS: Final = {
    "migrations/versions/0001_initial.py _rounds": "one table with its constraints, and what is released never changes",
    "bot/commands/flood.py flood": "its arguments are the command's options, and what --help says of it",
    "benchmarks/figures/drain.py measure": "one subject: each figure stands beside the sentence it is judged by",
}
"""Those that may be longer, and why."""
NO_NOUNS: Final = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
KEY_PREFIX: Final = "emq:"
SPELLERS_OF_KEYS: Final = {"engine/lanes/keys.py", "engine/lanes/lua/include/keys.lua"}
READER_OF_THE_ENVIRONMENT: Final = "bot/settings.py"
IMPORTERS_OF_EXTRAS: Final = {"bot/flood/plot.py": "flood"}
"""What is imported only where somebody asks for it."""
LOCKS: Final = {"requirements.lock": (), "requirements-dev.lock": ("dev",), "requirements-build.lock": ("build",)}
CASES: Final = {"T": 22, "L": 27}
T_CASES_HELD: Final = {f"T{number}" for number in range(1, 23)} - {"T9", "T10", "T11", "T22"}
"""Those that the product holds so far: the others are about buttons. Of the lanes it holds every one."""


def files(suffix: str, *folders: str) -> list[str]:
    found = [path for folder in folders for path in (ROOT / folder).rglob(f"*{suffix}")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: str) -> ast.Module:
    return ast.parse(text(path), path)


def project() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


def test_no_file_outgrows_its_room() -> None:
    paths = [*files(".py", *PROGRAM, "tests", "benchmarks"), *files(".lua", "bot", "engine")]
    lines = {path: len(text(path).splitlines()) for path in paths}
    assert {path: count for path, count in lines.items() if count > MOST_LINES[Path(path).suffix]} == {}


def test_no_function_outgrows_its_page() -> None:
    lines = {
        f"{path} {node.name}": _lines_of_code(node)
        for path in files(".py", *PROGRAM, "tests", "benchmarks")
        for node in ast.walk(tree(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    too_long = {name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FUNCTION}
    assert {name: count for name, count in too_long.items() if name not in LONG_FUNCTIONS} == {}


def _lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Its lines without its docstring: a promise may be as long as it has to be."""
    first, last = function.body[0], function.end_lineno or function.lineno
    docstring = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return last - function.lineno + 1 - docstring


def test_no_module_is_named_for_being_a_heap_of_things() -> None:
    paths = files(".py", *PROGRAM, "tests", "benchmarks")
    assert [path for path in paths if NO_NOUNS & {*Path(path).with_suffix("").parts}] == []


def test_every_module_says_what_it_is() -> None:
    assert [path for path in files(".py", *PROGRAM, "benchmarks") if not ast.get_docstring(tree(path))] == []


def test_only_the_lanes_spell_a_key() -> None:
    spelled = {path for path in files(".py", *PROGRAM) if any(KEY_PREFIX in string for string in _strings(tree(path)))}
    spelled |= {path for path in files(".lua", *PROGRAM) if KEY_PREFIX in _without_comments(text(path))}
    assert spelled <= SPELLERS_OF_KEYS
    assert spelled


def _strings(module: ast.Module) -> Iterator[str]:
    """The module's texts, less those that only tell people something."""
    told = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def _without_comments(lua: str) -> str:
    return re.sub(r"--[^\n]*", "", lua)


def test_nothing_waits_by_what_forgets_a_cancellation() -> None:
    """Python 3.11's ``wait_for`` does, where its awaitable ends at that moment; ``asyncio.timeout`` does not."""
    assert [path for path in files(".py", *PROGRAM) if "asyncio.wait_for(" in text(path)] == []


def test_nothing_but_the_settings_reads_the_environment() -> None:
    readers = {
        path
        for path in files(".py", *PROGRAM)
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and {"environ", "getenv"} & _names(node))
    }
    assert readers <= {READER_OF_THE_ENVIRONMENT}


def _names(statement: ast.ImportFrom) -> set[str]:
    return {alias.name for alias in statement.names}


def test_an_installed_wheel_has_everything_the_program_is_made_of(tmp_path: Path) -> None:
    subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        entry_points = packed.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    scripts = files(".lua", "bot", "engine")
    migrations = files(".py", "migrations/versions")
    assert scripts
    assert migrations
    assert {*scripts, *migrations, *files(".py", *PROGRAM), *files(".mako", *PROGRAM)} <= names
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == set(PROGRAM)
    assert "codemojex = bot.cli:main" in entry_points
    assert any(name.endswith("licenses/LICENSE") for name in names)


def locked(name: str) -> dict[str, tuple[str, int]]:
    """A lock's packages: the version of each, and how many files it may come in."""
    entries = re.split(r"^(?=[A-Za-z0-9])", text(name), flags=re.MULTILINE)[1:]
    found: dict[str, tuple[str, int]] = {}
    for entry in entries:
        package, version = re.split(r"==|\s", entry, maxsplit=2)[:2]
        found[canonicalize_name(package.partition("[")[0])] = (version, entry.count("--hash=sha256:"))
    return found


def wanted(*groups: str) -> list[Requirement]:
    """What the project asks for by itself, in ``groups`` as well."""
    asked: list[Any] = [] if groups == ("build",) else list(project()["project"]["dependencies"])
    for group in groups:
        asked += project()["dependency-groups"][group]
    included = [group["include-group"] for group in asked if isinstance(group, dict)]
    asked += [line for group in included for line in project()["dependency-groups"][group]]
    return [Requirement(line) for line in asked if isinstance(line, str)]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_what_the_project_asks_for(name: str) -> None:
    versions = locked(name)
    for requirement in wanted(*LOCKS[name]):
        package = canonicalize_name(requirement.name)
        assert package in versions, f"{name} lacks {package}; run `make lock`"
        version, _ = versions[package]
        assert requirement.specifier.contains(version), f"{name} has {package} {version}; run `make lock`"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_a_hash_for_everything_and_names_no_host(name: str) -> None:
    assert [package for package, (_, hashes) in locked(name).items() if not hashes] == []
    assert not re.search(r"https?:|--(?:extra-)?index-url|--find-links|@ file", text(name))


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_what_is_tested_is_what_is_deployed(name: str) -> None:
    development = locked("requirements-dev.lock")
    assert {package: version for package, version in locked(name).items() if development.get(package) != version} == {}


def test_what_is_imported_is_asked_for_by_name() -> None:
    """What only comes along with something else may stop coming."""
    distributions = packages_distributions()
    for folders, groups in ((PROGRAM, ()), (("tests", "benchmarks"), ("dev",))):
        asked = {canonicalize_name(requirement.name) for requirement in wanted(*groups)}
        for path in files(".py", *folders):
            foreign = {name for name in _imports(tree(path)) if name in distributions} - set(PROGRAM)
            here = asked | extras(IMPORTERS_OF_EXTRAS.get(path))
            unasked = {name for name in foreign if not here & {canonicalize_name(it) for it in distributions[name]}}
            assert not unasked, f"{path} imports {', '.join(sorted(unasked))}, which pyproject.toml does not ask for"


def extras(group: str | None) -> set[str]:
    lines = project()["project"]["optional-dependencies"][group] if group is not None else []
    return {canonicalize_name(Requirement(line).name) for line in lines}


def _imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def marked_cases() -> dict[str, set[str]]:
    """The numbers that tests carry, and which files carry them."""
    found: dict[str, set[str]] = {}
    for path in files(".py", "tests"):
        for node in ast.walk(tree(path)):
            match node:
                case ast.Call(func=ast.Attribute(attr="case", value=ast.Attribute(attr="mark")), args=numbers):
                    for number in numbers:
                        assert isinstance(number, ast.Constant), f"{path}:{node.lineno}: write the number out"
                        found.setdefault(str(number.value), set()).add(path)
    return found


def test_every_number_that_a_test_carries_is_the_number_of_a_case() -> None:
    known = {f"{kind}{number}" for kind, most in CASES.items() for number in range(1, most + 1)}
    assert set(marked_cases()) <= known


def test_every_case_that_the_product_holds_has_its_test() -> None:
    held = T_CASES_HELD | {f"L{number}" for number in range(1, CASES["L"] + 1)}
    assert sorted(held - set(marked_cases())) == []


def test_releases_stand_in_the_changelog_newest_first() -> None:
    headings = re.findall(r"^## \[(.+?)\]", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    versions = [tuple(int(part) for part in heading.split(".")) for heading in headings[1:]]
    assert all(newer > older for newer, older in pairwise(versions))
