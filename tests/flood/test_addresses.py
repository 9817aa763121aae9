"""What a flood takes for this machine: as whoever opens an address reads it, not as it looks."""

from __future__ import annotations

import pytest

from bot.flood.plan import BadPlan
from bot.flood.servers import check_loopback

AWAY_REDIS = (
    "redis://10.1.2.3:6379/0",
    "redis://localhost.evil.org/0",
    "redis://127.0.0.1.nip.io",
    "redis://127.0.0.1,10.1.2.3:6379/0",
    "redis:///0?host=10.1.2.3",
    "redis://127.0.0.1@10.1.2.3/0",
    "redis://%31%30.1.2.3",
)
AWAY_DATABASES = (
    "postgresql://cm@db.example.org/cm",
    "postgresql://cm@/cm?host=10.1.2.3",
    "postgresql://localhost:5/x@10.1.2.3/cm",
    "postgresql://cm@/cm?host=/tmp,10.1.2.3&port=1,2",
    "postgresql://cm@/cm?host=/tmp:1&host=10.1.2.3:2",
    "postgresql://127.0.0.1.nip.io/cm",
    "postgresql:///cm",  # PGHOST may lead anywhere
)


@pytest.mark.parametrize("url", AWAY_REDIS)
def test_a_redis_of_another_machine_is_refused(url: str) -> None:
    with pytest.raises(BadPlan, match="--redis-url"):
        check_loopback(url, None)


@pytest.mark.parametrize("url", AWAY_DATABASES)
def test_a_database_of_another_machine_is_refused(url: str) -> None:
    with pytest.raises(BadPlan, match="--database-url"):
        check_loopback(None, url)


@pytest.mark.parametrize("redis_url", ["redis://[::1]:6379/0", "redis://LOCALHOST", "unix:///tmp/redis.sock", None])
@pytest.mark.parametrize(
    "database_url", ["sqlite:////tmp/x.sqlite", "postgresql://cm@/cm?host=%2Ftmp", "postgres://u:p@127.0.0.1:5/cm"]
)
def test_this_machine_may_be_flooded(redis_url: str | None, database_url: str) -> None:
    check_loopback(redis_url, database_url)
