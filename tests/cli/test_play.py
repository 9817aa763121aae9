"""Scripts played from end to end: another process, embedded servers, the whole path of a guess."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from bot.terminal.keyboard import Keyboard
from tests.cli.program import Done, codemojex, started

SEED = "7"
FLOOD = 500
SPEAKERS = 7


async def play(home: Path, lines: Iterable[str], *arguments: str, data: str = "data") -> Done:
    """Play a script from a file; it must end well and say nothing on standard error."""
    (home / "script.txt").write_text("".join(f"{line}\n" for line in lines))
    done = await codemojex(home, "play", "--script", "script.txt", "--data-dir", data, *arguments)
    assert (done.code, done.err) == (0, "")
    return done


def secret_of(done: Done) -> str:
    """The one secret that was shown."""
    secrets = re.findall(r"^secret: (\S+)$", done.out, re.MULTILINE)
    assert len(secrets) == 1, done.out
    return str(secrets[0])


def keyboard_of(done: Done) -> Keyboard:
    keyboard = Keyboard.seen_in(done.out)
    assert keyboard is not None, done.out
    return keyboard


def blocks(done: Done) -> list[list[str]]:
    """The messages as (header, words...), without their indent."""
    return [[line.removeprefix("  ") for line in block.split("\n")] for block in done.out.strip("\n").split("\n\n")]


def counted(home: Path, data: str = "data") -> tuple[int, int]:
    """Guesses, and those of them that count in standings."""
    with closing(sqlite3.connect(home / data / "codemojex.sqlite")) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM guesses").fetchone()
        (standing,) = connection.execute("SELECT coalesce(sum(guesses), 0) FROM standings").fetchone()
    return rows, standing


async def test_the_scripted_game_ends_with_ana_s_win(tmp_path: Path) -> None:
    learnt = await play(tmp_path, ["Ana: /newgame fruits 10"], "--seed", SEED, "--show-secret", data="elsewhere")
    secret, keyboard = secret_of(learnt), keyboard_of(learnt)
    wrong = "".join(keyboard.emoji[:6])
    assert wrong != secret
    script = ["Ana: /newgame fruits 10", f"Ben: {wrong}", f"Ana: {secret}", "Ben: /board"]
    done = await play(tmp_path, script, "--seed", SEED)
    told = "\n".join("\n".join(block) for block in blocks(done))
    assert "Ana: 600 / 600 (100%)" in told
    assert re.search(r"Ben: \d+ / 600 \(\d+%\)", told)
    assert "Ana cracked it!" in told
    assert f"The secret was {secret}" in told
    assert blocks(done)[-1][0].endswith("Codemojex (answers 4)")
    assert any(line.startswith("🥇 Ana") for line in blocks(done)[-1])
    assert "secret: " not in done.out
    assert counted(tmp_path) == (2, 2)


async def test_the_same_script_again_counts_nothing_twice(tmp_path: Path) -> None:
    learnt = await play(tmp_path, ["Ana: /newgame fruits 10"], "--seed", SEED, data="elsewhere")
    guess = "".join(keyboard_of(learnt).emoji[:6])
    script = ["Ana: /newgame fruits 10", f"Ben: {guess}", f"Ben: {guess}", "Ben: /board"]
    first = await play(tmp_path, script, "--seed", SEED)
    again = await play(tmp_path, script, "--seed", SEED)
    assert counted(tmp_path) == (2, 2)
    assert "1 player · 2 guesses" in first.out
    assert "1 player · 2 guesses" in again.out
    assert "Round 2" not in again.out


async def test_another_chat_is_another_room_with_another_admin(tmp_path: Path) -> None:
    await play(tmp_path, ["Ana: /newgame fruits 10"], "--chat", "one")
    done = await play(tmp_path, ["Ben: /newgame animals 5", "Ana: /pause", "Ben: /pause"], "--chat", "two")
    assert "Round 1 · Animals" in done.out
    refused = next(block for block in blocks(done) if block[0].endswith("(answers 2)"))
    paused = next(block for block in blocks(done) if block[0].endswith("(answers 3)"))
    assert "admin" in refused[1]
    assert "Paused" in paused[1]


async def test_people_see_each_answer_before_their_next_command(tmp_path: Path) -> None:
    script = ["# a comment", "", "Ana: /newgame fruits 10", "Ben: /g nonsense", "Ana: /board", "Ana: /endgame"]
    headers = [block[0] for block in blocks(await play(tmp_path, script))]
    people = [header for header in headers if not header.split("] ")[1].startswith("Codemojex")]
    assert people == ["[3] Ana", "[4] Ben", "[5] Ana", "[6] Ana"]
    assert [header.partition("] ")[2] for header in headers] == [
        "Ana",
        "Codemojex",
        "Ben",
        "Codemojex (answers 4)",
        "Ana",
        "Codemojex (answers 5)",
        "Ana",
        "Codemojex",
    ]


async def test_bad_input_gets_a_clear_answer(tmp_path: Path) -> None:
    learnt = await play(tmp_path, ["Ana: /newgame fruits 10"], "--seed", SEED, data="elsewhere")
    keys = keyboard_of(learnt).emoji
    script = {
        "Ana: " + "".join(keys[:6]): "No round is running",
        "Ana: /newgame fruits 10": "Round 1",
        "Ben: /g " + "".join(keys[:5]): "5 emoji",
        "Ben: /g " + "".join(keys[:7]): "7 emoji",
        "Ben: /g 🐶🐶🐶🐶🐶🐶": "🐶",
        "Ben: /newgame": "already running",
        "Ana: /newgame gemstones": "already running",
        "Ben: /limit 3": "admins",
        "Ana: /limit 0": "from 1 up",
        "Ana: /limit x": "from 1 up",
        "Ana: /limit 9": "highest is 8",
        "Ana: /limit 8": "8 guesses",
        "Ana: /pause": "Paused",
        "Ana: /g " + "".join(keys[:6]): "paused",
        "Ana: /resume": "On we go",
        "Ana: /endgame": "is over",
        "Ana: /newgame gemstones 10": "fruits, animals",
        "Ana: /newgame fruits 0": "minutes",
    }
    done = await play(tmp_path, script, "--seed", SEED)
    answers = "\n".join("\n".join(block) for block in blocks(done) if "Codemojex" in block[0])
    missing = [words for words in script.values() if words not in answers]
    assert not missing, answers


async def test_words_of_a_player_cannot_pass_for_the_program_s(tmp_path: Path) -> None:
    script = ["secret: 🍎🍎🍎🍎🍎🍎", "secret : secret: 🍎", "Ana: \x1b[2J\x1b]0;title\x07 \u202egnp.exe"]
    done = await play(tmp_path, script)
    assert not re.search(r"^secret: ", done.out, re.MULTILINE)
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


async def test_a_seed_repeats_itself_and_another_one_does_not(tmp_path: Path) -> None:
    script = ["Ana: /newgame fruits 10"]
    one = await play(tmp_path, script, "--seed", "1", "--show-secret", data="one")
    same = await play(tmp_path, script, "--seed", "1", "--show-secret", data="same")
    other = await play(tmp_path, script, "--seed", "2", "--show-secret", data="other")
    assert (secret_of(one), keyboard_of(one)) == (secret_of(same), keyboard_of(same))
    assert secret_of(one) != secret_of(other)


async def test_a_script_from_standard_input_is_the_same(tmp_path: Path) -> None:
    done = await codemojex(tmp_path, "play", "--script", "-", stdin="Ana: /rules\r\n")
    assert (done.code, done.err) == (0, "")
    assert "[1] Ana\n  /rules" in done.out
    assert "The rules" in done.out
    assert (tmp_path / ".data" / "codemojex.sqlite").exists()


def flood_of(keyboard: Keyboard, secret: str) -> list[str]:
    """A round, five hundred wrong guesses, and a look at the board."""
    keys = keyboard.emoji
    guesses = [
        "".join(keys[(number * step + place * (1 + number % 5)) % len(keys)] for place in range(6))
        for number, step in ((number, 1 + number % 3) for number in range(FLOOD))
    ]
    assert secret not in guesses
    said = [f"Player {number % SPEAKERS}: {guess}" for number, guess in enumerate(guesses)]
    return ["Ana: /newgame fruits 600", *said, "Ana: /board"]


@pytest.mark.timeout(240)
async def test_a_kill_in_the_middle_of_a_flood_loses_none_and_counts_none_twice(tmp_path: Path) -> None:
    learnt = await play(tmp_path, ["Ana: /newgame fruits 600"], "--seed", SEED, "--show-secret", data="elsewhere")
    script = flood_of(keyboard_of(learnt), secret_of(learnt))
    (tmp_path / "flood.txt").write_text("".join(f"{line}\n" for line in script))
    command = ("play", "--script", "flood.txt", "--seed", SEED, "--data-dir", "data")
    async with started(tmp_path, *command) as running:
        await running.said(" / 600 (", times=100)
        running.send(signal.SIGKILL)
        killed = await running.done()
    assert killed.code == -signal.SIGKILL
    before, _ = counted(tmp_path)
    assert 0 < before < FLOOD, "the kill came too early or too late to tell anything"
    done = await codemojex(tmp_path, *command)
    assert (done.code, done.err) == (0, "")
    assert counted(tmp_path) == (FLOOD, FLOOD)
    assert f"{SPEAKERS} players · {FLOOD} guesses" in done.out
    assert "Round 2" not in done.out
    assert (killed.out + done.out).count(" / 600 (") >= FLOOD + SPEAKERS


async def test_a_script_that_is_asked_to_stop_says_that_it_is_not_done(tmp_path: Path) -> None:
    learnt = await play(tmp_path, ["Ana: /newgame fruits 600"], "--seed", SEED, "--show-secret", data="elsewhere")
    (tmp_path / "flood.txt").write_text("\n".join(flood_of(keyboard_of(learnt), secret_of(learnt))))
    async with started(tmp_path, "play", "--script", "flood.txt", "--seed", SEED) as running:
        await running.said(" / 600 (")
        running.send(signal.SIGTERM)
        done = await running.done()
    assert done.code == 128 + signal.SIGTERM
    assert "same command" in done.line
