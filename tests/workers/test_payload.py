"""A guess as bytes: what is written is read, anything else is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game.model import Source
from engine.game.ports import GuessJob
from engine.ids import RoundId
from engine.workers.payload import BadPayload, decode, encode

CODE = st.integers(0, 255).map(lambda number: f"{number:02x}00")
ROUND = RoundId("GAM0KHTOWnGLuC")


@given(
    st.lists(CODE, min_size=6, max_size=6).map(tuple),
    st.integers(-(2**52), 2**52),
    st.integers(0, 2**31),
    st.integers(0, 2**45),
)
def test_what_is_written_is_read(codes: tuple[str, ...], chat: int, message: int, accepted_ms: int) -> None:
    guess = GuessJob(ROUND, codes, Source(chat, message), accepted_ms)
    assert decode(encode(guess)) == guess


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_by_name(payload: bytes) -> None:
    with pytest.raises(BadPayload):
        decode(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b'["ROM0KHTOWnGLuC","000001000200030004000500",1,1,1]',
        b'["GAM0KHTOWnGLuC","00000100020003000400",1,1,1]',
        b'["GAM0KHTOWnGLuC",["0000"],1,1,1]',
        b'["GAM0KHTOWnGLuC","000001000200030004000500",1,1]',
        b'["GAM0KHTOWnGLuC","000001000200030004000500",1.5,1,1]',
        b'["GAM0KHTOWnGLuC","000001000200030004000500",true,1,1]',
        b'{"round":"GAM0KHTOWnGLuC"}',
    ],
)
def test_json_of_another_shape_is_refused_by_name(payload: bytes) -> None:
    with pytest.raises(BadPayload):
        decode(payload)


def test_a_payload_carries_no_secret_and_stays_small() -> None:
    guess = GuessJob(ROUND, ("0000",) * 6, Source(-1001234567890, 123456), 1_800_000_000_000)
    assert len(encode(guess)) < 100
