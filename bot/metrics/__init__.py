"""What a process counts, and what it reads of the queues when Prometheus asks: see docs/metrics.md.

How many series there are does not depend on how many rooms there are. Nothing here waits for a server while work is
done: counting is a few additions for each claim, post or call.
"""

from __future__ import annotations

from bot.metrics.meters import Meters
from bot.metrics.page import MetricsPage
from bot.metrics.queues import QueueMeter
from bot.metrics.reading import Readings

__all__ = ["Meters", "MetricsPage", "QueueMeter", "Readings"]
