"""Telegram's budget: one account of calls for any number of processes, kept on Redis by the server's clock."""

from __future__ import annotations

from bot.budget.limiter import Called, Limiter
from bot.budget.limits import Budget, Chat, Limits, Permit, Wait
from bot.budget.shared import SharedBudget

__all__ = ["Budget", "Called", "Chat", "Limiter", "Limits", "Permit", "SharedBudget", "Wait"]
