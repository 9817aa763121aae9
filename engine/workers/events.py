"""Names of the log events of the workers; ids and counts are fields beside them."""

from __future__ import annotations

from typing import Final

CLAIMED: Final = "claimed"
SCORED: Final = "scored"
CRACKED: Final = "cracked"
SETTLED: Final = "settled"
SAID: Final = "said"
PUT_OFF: Final = "put_off"
DROPPED: Final = "dropped"
POISONED: Final = "poisoned"
RELEASED: Final = "released"
MOVED: Final = "moved"
PRUNED: Final = "pruned"
SWEPT: Final = "swept"
LOOP_FAILED: Final = "loop_failed"
LOOP_RECOVERED: Final = "loop_recovered"
HAND_OVER_FAILED: Final = "hand_over_failed"
MARKING_FAILED: Final = "marking_failed"
NODE_LEASED: Final = "node_leased"
LEASE_LOST: Final = "lease_lost"
LEASES_LOST: Final = "leases_lost"
CLOCK_STEPPED: Final = "clock_stepped"
SETTLEMENT_NOT_ASKED_FOR: Final = "settlement_not_asked_for"
