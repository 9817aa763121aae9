"""A guess as bytes on its lane: compact JSON, and refused where it is not exactly that."""

from __future__ import annotations

import json

from engine.game.model import SECRET_LENGTH, Source
from engine.game.ports import GuessJob
from engine.ids import ROUND, BadId, RoundId, check


class BadPayload(ValueError):  # noqa: N818 - reads as the thing it is
    """The bytes on the lane are no guess: written by another version, or damaged."""


def encode(guess: GuessJob) -> bytes:
    """Write ``guess`` as ``[round, codes, chat_ref, message_ref, accepted_ms]``."""
    return json.dumps(
        [guess.round, "".join(guess.codes), guess.source.chat_ref, guess.source.message_ref, guess.accepted_ms],
        separators=(",", ":"),
    ).encode()


def decode(payload: bytes) -> GuessJob:
    """Read what ``encode`` wrote.

    Raises:
        BadPayload: it is anything else.
    """
    try:
        round_, codes, chat_ref, message_ref, accepted_ms = json.loads(payload)
        round_ = check(round_, kind=ROUND, argument="round")
    except (ValueError, TypeError, BadId) as error:
        raise BadPayload(f"a guess's payload can't be read: {type(error).__name__}") from error
    width = 4
    whole = all(type(number) is int for number in (chat_ref, message_ref, accepted_ms))
    if not whole or not isinstance(codes, str) or len(codes) != width * SECRET_LENGTH:
        raise BadPayload("a guess's payload has fields of the wrong shape")
    split = tuple(codes[at : at + width] for at in range(0, len(codes), width))
    return GuessJob(RoundId(round_), split, Source(chat_ref, message_ref), accepted_ms)
