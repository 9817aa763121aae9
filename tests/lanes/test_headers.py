"""A script's header, its first assignments and its caller say the same."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from bot.embedded import EmbeddedValkey
from engine.lanes import Lanes
from engine.lanes.errors import ADMISSIONS, REASSIGNMENTS, VERDICTS
from engine.lanes.job import STATES
from engine.lanes.scripts import script
from tests.lanes.headers import header
from tests.lanes.recording import Call, RecordingRedis
from tests.lanes.test_cluster import every_verb
from tests.lanes.test_scripts import VERBS

SHAS = {script(verb).text.encode(): script(verb).sha for verb in VERBS}
BY_SHA = {script(verb).sha: verb for verb in VERBS}


@pytest.fixture
async def calls(valkey: EmbeddedValkey, redis_url: str) -> AsyncIterator[list[Call]]:
    """Every script at least once, as its caller sends it and as it is answered."""
    assert redis_url == valkey.url
    async with RecordingRedis(valkey.socket_path, SHAS) as client:
        await every_verb(Lanes(client, "cm", max_attempts=1))
        yield client.calls


@pytest.mark.parametrize("verb", VERBS)
def test_the_first_assignments_bind_what_the_header_names_in_its_order(verb: str) -> None:
    told = header(verb)
    assert told.keys == ("base",)
    assert told.locals == tuple(argument.name for argument in told.arguments)
    for position, (argument, source) in enumerate(zip(told.arguments, told.sources, strict=True), 1):
        if argument.many:
            assert source == (f"{{ unpack(ARGV, {position}) }}" if position > 1 else "ARGV")
        else:
            assert re.search(rf"\bARGV\[{position}\]", source)


async def test_what_is_sent_and_answered_is_what_the_header_says(calls: list[Call]) -> None:
    assert {BY_SHA[call.sha] for call in calls} == set(VERBS)
    for call in calls:
        verb = BY_SHA[call.sha]
        assert call.keys == [b"emq:{cm}:"], verb
        assert header(verb).takes(call.words), f"{verb} was sent {call.words}"
        assert header(verb).gives(call.reply), f"{verb} answered {call.reply}, not {header(verb).returns}"


@pytest.mark.parametrize(
    ("verb", "meanings"),
    [
        ("enqueue", ADMISSIONS),
        ("complete", {code: word for code, word in VERDICTS.items() if word != "dead"}),
        ("release", {code: word for code, word in VERDICTS.items() if word != "dead"}),
        ("extend", {code: word for code, word in VERDICTS.items() if word != "dead"}),
        ("retry", VERDICTS),
        ("reassign", REASSIGNMENTS),
        ("job", STATES),
    ],
)
def test_reply_codes_mean_to_the_caller_what_they_mean_to_the_script(verb: str, meanings: dict[int, str]) -> None:
    assert dict(header(verb).codes) == {code: str(word) for code, word in meanings.items()}


@pytest.mark.parametrize("verb", VERBS)
def test_no_script_returns_a_code_that_its_header_does_not_name(verb: str) -> None:
    told = header(verb)
    literal = {int(code) for code in re.findall(r"^\s*return \{ (-?\d+)[ ,]", script(verb).text, re.MULTILINE)}
    literal |= {int(code) for code in re.findall(r"then return \{ (-?\d+)[ ,]", script(verb).text)}
    named = {code for code, _ in told.codes} | {int(code) for code in re.findall(r"\{(-?\d+)[,}]", told.returns)}
    assert literal <= named
