"""What a run is held to: each bound is an option ``--assert-...`` of the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from bot.flood.plan import PLACES, BadPlan, Plan

_WHOLE: Final = ("lost", "double", "unanswered", "untaken")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What must hold; None, or False: nothing is asked.

    Args:
        ratio: most that the quiet rooms' p99 to scored may be under the flood, over even load.
        quiet_p99_ms: most that it may be under the flood.
        jain: least that Jain's index of what quiet rooms were served may be.
        done_at_service: by which service of the flooded room the quiet rooms' backlogs are done.
        ceiling: no look finds more of the flooded room in flight than its ceiling.
        exactly_once: no guess is lost, double, left or without its answer, and every refusal is told with an ETA.
    """

    ratio: float | None = None
    quiet_p99_ms: float | None = None
    jain: float | None = None
    done_at_service: int | None = None
    ceiling: bool = False
    exactly_once: bool = False

    def check(self, plan: Plan) -> None:
        """See that the bounds can be kept at all.

        Raises:
            BadPlan: one contradicts itself, the plan or another.
        """
        for name, value in (("ratio", self.ratio), ("quiet-p99-ms", self.quiet_p99_ms)):
            if value is not None and value <= 0:
                raise BadPlan(f"--assert-{name} {value} can't be kept by anything; give a number above 0")
        if self.jain is not None and not 0 < self.jain <= 1:
            raise BadPlan(f"--assert-jain {self.jain} can't be kept by anything; Jain's index is above 0 and at most 1")
        if self.done_at_service is not None and self.done_at_service < 1:
            raise BadPlan(f"--assert-done-at-service {self.done_at_service} can't be kept; give 1 or more")
        if self.ceiling and plan.engine and plan.ceiling >= plan.workers * PLACES:
            raise BadPlan(
                f"--assert-ceiling can't be broken: {plan.workers} worker(s) have no more than "
                f"{plan.workers * PLACES} jobs in flight; give more --workers, or a --ceiling below that"
            )
        if self.quiet_p99_ms is not None and plan.engine and self.quiet_p99_ms < plan.job_ms:
            raise BadPlan(
                f"--assert-quiet-p99-ms {self.quiet_p99_ms} contradicts --job-ms {plan.job_ms}: "
                "a job alone takes as long"
            )

    def broken(self, told: dict[str, Any]) -> Iterator[str]:
        """Sentences about those that ``told``, a report, breaks; what was not measured keeps no bound."""
        yield from _at_most("quiet_p99_ratio", told, self.ratio)
        yield from _at_most("quiet_p99_ms_flood", told, self.quiet_p99_ms)
        yield from _at_most("quiet_done_at_service", told, self.done_at_service)
        if self.ceiling:
            yield from _at_most("max_in_flight_flooded", told, told["ceiling"])
        if self.jain is not None and not (told["jain_index"] or 0) >= self.jain:
            yield f"jain_index is {_shown(told['jain_index'])}, and must be at least {self.jain}"
        if self.exactly_once:
            for name in _WHOLE:
                yield from _at_most(name, told, 0)
            if told["refused_told"] != told["refused"]:
                yield f"{told['refused'] - told['refused_told']} of {told['refused']} refusals were told without an ETA"


def _at_most(name: str, told: dict[str, Any], most: float | None) -> Iterator[str]:
    value: float | None = told[name]
    if most is not None and (value is None or value > most):
        yield f"{name} is {_shown(value)}, and must be at most {most}"


def _shown(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.6g}"
