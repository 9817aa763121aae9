"""Names of the bot's log events; ids and counts are fields beside them."""

from __future__ import annotations

from typing import Final

CONNECTED: Final = "connected"
CONNECTING_FAILED: Final = "connecting_failed"
HEARS_ONLY_REPLIES: Final = "hears_only_replies"
MENU_FAILED: Final = "menu_failed"
POLLING_BEGAN: Final = "polling_began"
POLLING_ENDED: Final = "polling_ended"
POLLING_FAILED: Final = "polling_failed"
POLLED_ELSEWHERE: Final = "polled_elsewhere"
LEASE_LOST: Final = "poll_lease_lost"
LEASING_FAILED: Final = "poll_leasing_failed"
UPDATE_FAILED: Final = "update_failed"
UPDATE_SET_ASIDE: Final = "update_set_aside"
MARKUP_REFUSED: Final = "markup_refused"
SEND_UNCERTAIN: Final = "send_uncertain"
APOLOGY_FAILED: Final = "apology_failed"
BUDGET_ALONE: Final = "budget_alone"
BUDGET_SHARED: Final = "budget_shared"
