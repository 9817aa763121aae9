"""What ``codemojex lanes status`` draws: pure, whatever the groups are called, however narrow the terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from bot.commands.lanes.options import QueueName
from bot.commands.lanes.picture import bar, picture, sparks
from bot.commands.lanes.watching import Look, Row, span, state_of
from engine.lanes import GroupStats, OtherStats, Stats

GROUP = GroupStats(
    group="ROM0KHTOWnGLuC",
    depth=5,
    in_flight=1,
    ceiling=8,
    weight=1,
    cap=None,
    lane_cap=None,
    paused=False,
    held_ms=0,
    taken=False,
    unserved_ms=3,
    oldest_ms=1_500,
)
ROW = Row("ROM0KHTOWnGLuC", "Chess club", 1_234, 3, 8, 2, 0.5, 0.25, 61_000, "in turn")
STATS = Stats(
    at_ms=1,
    waiting=1_234,
    scheduled=1,
    leased=3,
    dead=2,
    groups=1,
    servable=1,
    paused=0,
    held=0,
    all_paused=False,
    granted=9,
    lapsed=0,
    starvation_ms=12,
    top=(GROUP,),
    other=OtherStats(0, 0),
)
LOOK = Look(QueueName.GUESSES, STATS, (ROW,), 20.0, (0.0, 10.0, 20.0))


def drawn(look: Look, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(picture(look))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_row_tells_all_of_its_group() -> None:
    line = next(line for line in drawn(LOOK).splitlines() if "ROM" in line)
    for words in ("Chess club", "1,234", "3/8", " 2 ", "50% (25%)", "1.0 m", "in turn"):
        assert words in line


def test_the_headline_tells_all_of_the_queue() -> None:
    head = drawn(LOOK).splitlines()[0]
    for words in ("cm", "1,234 waiting", "3 in flight", "1 scheduled", "2 dead", "20/s", "▁▅█"):
        assert words in head
    assert "longest since a turn: 12 ms" in drawn(LOOK)


def test_groups_beyond_the_table_are_counted() -> None:
    assert "and 7 more groups, in which 99 wait" in drawn(replace(LOOK, stats=replace(STATS, other=OtherStats(7, 99))))


@pytest.mark.parametrize("title", ["[red]x[/red]", "\x1b[2J", "\u202eevil", "a\nb", "👩\u200d👩\u200d👧" * 40])
def test_a_hostile_title_stays_in_its_cell(title: str) -> None:
    picture_ = drawn(replace(LOOK, rows=(replace(ROW, title=title),)))
    assert "\x1b" not in picture_
    assert "\u202e" not in picture_
    line = next(line for line in picture_.splitlines() if "3/8" in line)
    assert line.endswith("in turn")
    if title.startswith("[red]"):
        assert title in picture_


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in drawn(LOOK, width).splitlines()) <= width


@pytest.mark.parametrize("title", ["", "Chess club", "A chat with a name that is as long as names may be"])
def test_an_id_can_be_read_and_copied_on_80_columns(title: str) -> None:
    row = replace(ROW, title=title, share=1.0, due=1.0, state="scheduled")
    line = next(line for line in drawn(replace(LOOK, rows=(row,)), 80).splitlines() if "ROM" in line)
    for words in (GROUP.group, "1,234", "3/8", "100% (100%)", "1.0 m", "scheduled"):
        assert words in line


def test_nothing_at_all_is_told_too() -> None:
    assert "nothing waits" in drawn(replace(LOOK, rows=(), per_second=None, paces=()))


@pytest.mark.parametrize(
    ("part", "drawing"), [(-1.0, ""), (0.0, ""), (0.5, "██▌"), (1.0, "█" * 5), (9.0, "█" * 5), (1 / 64, "▏")]
)
def test_a_bar_is_as_long_as_its_part(part: float, drawing: str) -> None:
    assert bar(part) == drawing.ljust(5)


@pytest.mark.parametrize(("numbers", "curve"), [((), ""), ((0.0, 0.0), ""), ((1.0,), "█"), ((0.0, 7.0), "▁█")])
def test_sparks_follow_the_numbers(numbers: tuple[float, ...], curve: str) -> None:
    assert sparks(numbers) == curve


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (60_000, "1.0 m"), (5_400_000, "1.5 h"), (172_800_000, "2.0 d")],
)
def test_a_span_is_told_in_its_own_size(ms: int, words: str) -> None:
    assert span(ms) == words


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "in turn"),
        ({"paused": True, "held_ms": 5}, "paused"),
        ({"held_ms": 5_000}, "held 5.0 s"),
        ({"taken": True}, "spoken for"),
        ({"in_flight": 8}, "full"),
        ({"ceiling": None, "in_flight": 800}, "in turn"),
        ({"unserved_ms": None}, "scheduled"),
    ],
)
def test_a_state_says_why_a_group_is_served_or_is_not(change: dict[str, int | None], state: str) -> None:
    assert state_of(replace(GROUP, **change)) == state  # type: ignore[arg-type] # each is right for its field
