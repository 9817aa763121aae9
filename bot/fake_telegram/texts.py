"""The text of a message, as strictly as Telegram takes it."""

from __future__ import annotations

from typing import Any, Final

from bot.entities import BadMarkup, Entity, Marked, read_html, units
from bot.fake_telegram.calls import Call
from bot.fake_telegram.errors import Refused, bad_request
from bot.fake_telegram.judge import Judge, Wrong

_LONGEST: Final = 4_096
_MOST_ENTITIES: Final = 100


def read_text(call: Call, judge: Judge, too_long: str = "message is too long") -> Marked:
    """The text that ``call`` wants shown. Of its entities, those past the hundredth are dropped.

    Raises:
        Refused: Telegram would not take it.
    """
    try:
        marked = _read(call)
    except BadMarkup as error:
        judge.note(Wrong.BAD_MARKUP, call, str(error))
        raise bad_request(f"can't parse entities: {error}") from None
    if not marked.text.strip():
        raise bad_request("message text is empty")
    if units(marked.text) > _LONGEST:
        judge.note(Wrong.TOO_BIG, call, f"a text of {units(marked.text)}")
        raise bad_request(too_long)
    if len(marked.entities) > _MOST_ENTITIES:
        judge.note(Wrong.TOO_BIG, call, f"{len(marked.entities)} entities")
        return Marked(marked.text, marked.entities[:_MOST_ENTITIES])
    return marked


def _read(call: Call) -> Marked:
    text = call.text("text")
    mode = call.text("parse_mode")
    if mode.upper() == "HTML":
        return read_html(text)
    if mode:
        raise bad_request("unsupported parse_mode")
    entities = call.value("entities")
    return Marked(text, tuple(_entity(it) for it in entities)) if isinstance(entities, list) else Marked(text)


def _entity(told: Any) -> Entity:
    try:
        return Entity(told["type"], int(told["offset"]), int(told["length"]), told.get("url"))
    except (TypeError, KeyError, ValueError):
        raise _bad_entity() from None


def _bad_entity() -> Refused:
    return bad_request("can't parse entities: Can't parse MessageEntity")
