"""Branded ids: the design's vectors, its refusals, and minting that never repeats or goes back."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import ids
from engine.ids import BadId, Minter, NodeLost

VECTORS = {
    0: "00000000000",
    61: "0000000000z",
    62: "00000000010",
    63: "00000000011",
    4194304: "0000000Hb84",
    12345678901234: "0003VLrOWLi",
    274557032793636864: "0KHTOWnGLuC",
    320636799581945856: "0NgWEfAEJfs",
    2**63 - 1: "AzL8n0Y58m7",
}
SNOWFLAKES = st.integers(0, ids.MAX_SNOWFLAKE)
EPOCH_MS = 1_704_067_200_000


class Clock:
    """A wall clock that the test sets."""

    def __init__(self, now_ms: int = EPOCH_MS + 1_000_000) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def parts(value: str) -> tuple[int, int, int]:
    number = ids.decode(value[3:])
    return (number >> 22) + EPOCH_MS, number >> 12 & 1023, number & 4095


@pytest.mark.parametrize(("number", "digits"), VECTORS.items())
def test_the_designs_vectors_hold_both_ways(number: int, digits: str) -> None:
    assert ids.encode(number) == digits
    assert ids.decode(digits) == number


@pytest.mark.parametrize(
    ("value", "when"),
    [
        ("USR0KHTOWnGLuC", datetime(2026, 1, 27, 15, 11, 37, 641000, UTC)),
        ("ROM0NgWEfAEJfs", datetime(2026, 6, 3, 18, 56, 10, 164000, UTC)),
    ],
)
def test_an_id_tells_when_it_was_minted(value: str, when: datetime) -> None:
    assert ids.minted_ms(value) == int(when.timestamp() * 1000)


@given(SNOWFLAKES)
def test_decoding_undoes_encoding(number: int) -> None:
    assert ids.decode(ids.encode(number)) == number


@given(SNOWFLAKES, SNOWFLAKES)
def test_byte_order_is_integer_order(one: int, other: int) -> None:
    assert (ids.encode(one).encode() < ids.encode(other).encode()) == (one < other)


@pytest.mark.parametrize("number", [-1, 2**63])
def test_a_number_beyond_63_bits_is_not_encoded(number: int) -> None:
    with pytest.raises(ValueError, match="2\\^63-1"):
        ids.encode(number)


@pytest.mark.case("L27")
@pytest.mark.parametrize(
    "value",
    [
        "USRzzzzzzzzzzz",
        "USRAzL8n0Y58m8",
        "usr0KHTOWnGLuC",
        "Usr0KHTOWnGLuC",
        "U1R0KHTOWnGLuC",
        "USR0KHTOWnGLu",
        "USR0KHTOWnGLuCC",
        "USR0KHTOWnGLu-",
        "USR0KHTOWnGLu_",
        "USR0KHTOWnGL\x00C",
        "USR0KHTOWnGLuC\n",
        "\nUSR0KHTOWnGLu",
        "USR0KHTOWnGLu\u0663",  # a digit, but not of the alphabet
        "ÜSR0KHTOWnGLuC",
        "",
        "*",
        "{x}",
        "a:b",
        "R" * 10_240,
        None,
        7,
        b"USR0KHTOWnGLuC",
    ],
)
def test_anything_but_fourteen_well_formed_bytes_is_refused(value: object) -> None:
    with pytest.raises(BadId) as raised:
        ids.check(value)
    assert len(str(raised.value)) < 200
    assert "\n" not in str(raised.value)


def test_the_largest_and_the_smallest_id_are_ids() -> None:
    assert ids.check("ROMAzL8n0Y58m7") == "ROMAzL8n0Y58m7"
    assert ids.check("ROM00000000000") == "ROM00000000000"


def test_a_kind_that_was_asked_for_is_insisted_on() -> None:
    assert ids.check("ROM0KHTOWnGLuC", kind="ROM") == "ROM0KHTOWnGLuC"
    with pytest.raises(BadId, match="room must be a ROM id"):
        ids.check("PLR0KHTOWnGLuC", kind="ROM", argument="room")


@pytest.mark.parametrize("digits", ["", "0", "0" * 12, "0000000000-", "AzL8n0Y58m8", "zzzzzzzzzzz"])
def test_digits_that_are_no_number_are_refused(digits: str) -> None:
    with pytest.raises(BadId):
        ids.decode(digits)


@pytest.mark.parametrize("kind", ["", "RO", "ROMS", "rom", "R1M", "ROM\n"])
def test_a_kind_is_three_capitals(kind: str) -> None:
    with pytest.raises(BadId):
        ids.brand(kind, 1)


def test_another_kind_keeps_the_digits() -> None:
    assert ids.rebrand("JOB0KHTOWnGLuC", ids.GUESS) == "GES0KHTOWnGLuC"
    with pytest.raises(BadId):
        ids.rebrand("JOB0KHTOWnGLu", ids.GUESS)


def test_a_minted_id_carries_time_node_and_place() -> None:
    clock = Clock()
    minter = Minter(513, now_ms=clock)
    assert [parts(minter.mint(ids.JOB)) for _ in range(3)] == [(clock.now_ms, 513, n) for n in range(3)]
    clock.now_ms += 5
    assert parts(minter.mint(ids.ROOM)) == (clock.now_ms, 513, 0)
    assert minter.last_ms == clock.now_ms


def test_more_than_4096_in_a_millisecond_run_on_into_the_next() -> None:
    clock = Clock()
    minter = Minter(1, now_ms=clock)
    minted = [minter.mint(ids.JOB) for _ in range(3 * 4096 + 1)]
    assert minted == sorted(set(minted))
    assert parts(minted[4095]) == (clock.now_ms, 1, 4095)
    assert parts(minted[4096]) == (clock.now_ms + 1, 1, 0)
    assert parts(minted[-1]) == (clock.now_ms + 3, 1, 0)


@pytest.mark.parametrize("now_ms", [EPOCH_MS + 999_999, EPOCH_MS, 0])
def test_a_clock_that_steps_back_keeps_counting_from_the_last_value(now_ms: int) -> None:
    clock = Clock()
    minter = Minter(1, now_ms=clock)
    first = minter.mint(ids.JOB)
    clock.now_ms = now_ms
    assert parts(minter.mint(ids.JOB)) == (parts(first)[0], 1, 1)


def test_a_clock_before_the_epoch_still_mints_ascending_ids() -> None:
    minter = Minter(1, now_ms=lambda: 0)
    minted = [minter.mint(ids.JOB) for _ in range(10)]
    assert minted == sorted(set(minted))


def test_nothing_is_minted_at_or_before_the_floor() -> None:
    clock = Clock()
    minter = Minter(1, now_ms=clock, floor_ms=clock.now_ms + 7)
    assert parts(minter.mint(ids.JOB)) == (clock.now_ms + 8, 1, 0)


def test_the_next_holder_of_a_node_starts_where_the_last_one_ended() -> None:
    clock = Clock()
    former = Minter(1, now_ms=clock)
    minted = [former.mint(ids.JOB) for _ in range(5000)]
    latter = Minter(1, now_ms=clock, floor_ms=former.last_ms)
    assert latter.mint(ids.JOB) > max(minted)


def test_nothing_is_minted_without_the_node() -> None:
    held = True
    minter = Minter(9, held=lambda: held)
    minter.mint(ids.JOB)
    held = False
    with pytest.raises(NodeLost, match="node 9"):
        minter.mint(ids.JOB)


@pytest.mark.parametrize("node", [-1, 1024])
def test_a_node_is_a_number_of_ten_bits(node: int) -> None:
    with pytest.raises(ValueError, match="node"):
        Minter(node)


def test_threads_share_a_minter_without_a_duplicate() -> None:
    minter = Minter(3)
    minted: list[list[str]] = [[] for _ in range(4)]
    start = threading.Barrier(4)

    def mint(into: list[str]) -> None:
        start.wait()
        into.extend(minter.mint(ids.JOB) for _ in range(3000))

    threads = [threading.Thread(target=mint, args=(into,)) for into in minted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == sorted(each) for each in minted)
    assert len({value for each in minted for value in each}) == 12_000


MINT = """
import sys
from engine.ids import JOB, Minter
minter = Minter(int(sys.argv[1]))
sys.stdin.readline()
print("\\n".join(minter.mint(JOB) for _ in range(5000)))
"""


def test_eight_processes_mint_at_once_without_a_duplicate() -> None:
    processes = [
        subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", MINT, str(node)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for node in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    minted = [process.communicate()[0].split() for process in processes]
    assert all(each == sorted(each) for each in minted)
    assert len({value for each in minted for value in each}) == 8 * 5000
