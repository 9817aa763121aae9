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
COUNTING_FAILED: Final = "update_counting_failed"
LISTENING: Final = "listening"
WEBHOOK_SET: Final = "webhook_set"
WEBHOOK_FAILED: Final = "webhook_setting_failed"
WEBHOOK_ELSEWHERE: Final = "webhook_elsewhere"
POST_REFUSED: Final = "post_refused"
POST_FAILED: Final = "post_failed"
UNHEALTHY: Final = "unhealthy"
HEALTHY: Final = "healthy"
MARKUP_REFUSED: Final = "markup_refused"
SEND_UNCERTAIN: Final = "send_uncertain"
