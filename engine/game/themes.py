"""The emoji sets that keyboards are drawn from.

A published theme is for ever: rounds are stored by emoji codes, and a code is the emoji's index. So emoji are only
ever added at the end, and an id never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from engine.game.errors import UnknownEmoji, UnknownTheme
from engine.game.glyphs import bare
from engine.ids import EmojiSetId

__all__ = ["THEMES", "Theme", "UnknownEmoji", "UnknownTheme", "theme"]


@dataclass(frozen=True, slots=True)
class Theme:
    """An ordered set of at most 256 emoji.

    The code of an emoji is four lower-case hex digits: its index in the set, then a reserved zero byte.

    Args:
        id: of the kind EMS.
        name: what ``/newgame`` takes, lower case.
        title: what people read.
        emoji: each as its fully-qualified sequence.
    """

    id: EmojiSetId
    name: str
    title: str
    emoji: tuple[str, ...]
    codes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    alphabet: Mapping[str, str] = field(init=False, repr=False, compare=False)
    lengths: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _emoji_of: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codes = tuple(f"{index:02x}00" for index in range(len(self.emoji)))
        alphabet = {bare(emoji): code for emoji, code in zip(self.emoji, codes, strict=True)}
        derived = {
            "codes": codes,
            "alphabet": MappingProxyType(alphabet),
            "lengths": tuple(sorted({len(emoji) for emoji in alphabet if emoji}, reverse=True)),
            "_emoji_of": MappingProxyType(dict(zip(codes, self.emoji, strict=True))),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def code(self, emoji: str) -> str:
        """The code of ``emoji``, however a client spells it.

        Raises:
            UnknownEmoji: the set doesn't have it.
        """
        try:
            return self.alphabet[bare(emoji)]
        except KeyError:
            raise UnknownEmoji(emoji, self.name) from None

    def emoji_of(self, code: str) -> str:
        """The emoji of ``code``, as its fully-qualified sequence.

        Raises:
            UnknownEmoji: no emoji of the set has that code.
        """
        try:
            return self._emoji_of[code]
        except KeyError:
            raise UnknownEmoji(code, self.name) from None

    def show(self, codes: Iterable[str]) -> str:
        """The emoji of ``codes``, one after another.

        Raises:
            UnknownEmoji: a code is not of this set.
        """
        return "".join(map(self.emoji_of, codes))


def _set(id_: str, name: str, title: str, emoji: str) -> Theme:
    return Theme(EmojiSetId(id_), name, title, tuple(emoji.split()))


_PUBLISHED: Final = (
    _set(
        "EMS00000000001",
        "fruits",
        "Fruits and garden",
        "🍎 🍐 🍊 🍋 🍌 🍉 🍇 🍓 🍒 🍑 🍍 🥝 🥥 🥑 🍆 🥔 🥕 🌽 🌶️ 🥒 🥦 🍄 🥜 🌰",
    ),
    _set(
        "EMS00000000002",
        "animals",
        "Animals",
        "🐶 🐱 🐰 🦊 🐼 🐨 🦁 🐷 🐸 🐵 🐧 🦉 🦄 🐝 🦋 🐌 🐞 🐢 🐍 🐙 🦀 🐳 🐘 🦒 🦔 🦩",
    ),
    _set(
        "EMS00000000003",
        "food",
        "Food and drink",
        "🍞 🥐 🥨 🧀 🥚 🥓 🍔 🍟 🍕 🌭 🌮 🍿 🍣 🍤 🍦 🍩 🍪 🎂 🍫 🍭 🍯 🥛 ☕ 🥗 🍜 🍙",
    ),
    _set(
        "EMS00000000004",
        "sports",
        "Sports and games",
        "⚽ 🏀 🏈 ⚾ 🎾 🎱 🏓 🏸 🥊 🥋 🎯 ⛳ 🎣 🎿 🛷 🏹 🛹 🏆 🥇 🎳 🏒 🥌 ⛸️ 🎲 🚲 🪁",
    ),
    _set(
        "EMS00000000005",
        "travel",
        "Travel",
        "🚗 🚌 🚑 🚒 🚜 🛵 🚂 ✈️ 🚀 🚁 ⛵ 🚢 ⚓ 🚦 ⛽ 🗽 🏰 🎡 ⛺ 🌋 🏝️ ⛲ 🗼 🎪 🧳",
    ),
    _set(
        "EMS00000000006",
        "nature",
        "Sky and nature",
        "🌞 🌙 ⭐ ⚡ ☔ ❄️ 🔥 🌈 🌊 🌵 🌲 🌴 🍀 🍁 🌻 🌹 🌷 ⛄ ☁️ 🪐 🌍 🐚 🌾 💧 💎",
    ),
)

THEMES: Final[Mapping[str, Theme]] = MappingProxyType({published.name: published for published in _PUBLISHED})


def theme(name: str) -> Theme:
    """The theme of that name, in any case.

    Raises:
        UnknownTheme: there is none.
    """
    try:
        return THEMES[name.strip().casefold()]
    except KeyError:
        raise UnknownTheme(name, tuple(THEMES)) from None
