"""Commitments: the design's vector, and that nothing else fits one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game.commitment import commit, verify

CODES = ["0000", "0100", "0200", "0300", "0400", "0500"]
NONCE = "00112233445566778899aabbccddeeff"
COMMITMENT = "318ee9fd7bc2b9718a444df37750001ba96a69c2b25fb412c6061ccc4baa5f04"


def test_the_designs_vector_is_committed() -> None:
    assert commit(CODES, NONCE) == COMMITMENT


def test_what_was_revealed_is_verified() -> None:
    assert verify(CODES, NONCE, COMMITMENT)


@given(st.permutations(CODES))
def test_another_order_of_the_same_codes_does_not_verify(codes: list[str]) -> None:
    assert verify(codes, NONCE, COMMITMENT) is (codes == CODES)


@pytest.mark.parametrize(
    ("codes", "nonce", "commitment"),
    [
        ([*CODES[:5], "0600"], NONCE, COMMITMENT),
        (CODES, NONCE[:-1] + "e", COMMITMENT),
        (CODES, NONCE, COMMITMENT[:-1] + "5"),
        (CODES[:5], NONCE, COMMITMENT),
        ([*CODES, NONCE], "", COMMITMENT),
        (CODES, NONCE, ""),
    ],
)
def test_another_code_nonce_or_commitment_does_not_verify(codes: list[str], nonce: str, commitment: str) -> None:
    assert not verify(codes, nonce, commitment)


def test_only_six_codes_are_committed() -> None:
    with pytest.raises(ValueError, match="6 emoji codes, got 5"):
        commit(CODES[:5], NONCE)
