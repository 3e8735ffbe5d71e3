"""Drift: whether what is kept moves away from what is useful, and what to do about it. Judges numbers only."""

from collections.abc import Iterator, Mapping

from memoranda.domain.governance import SEVERITIES, Drift, Finding, Severity

UNKNOWN_WARNS = 0.2
UNKNOWN_SERIOUS = 0.5
RISE_WARNS = 0.1
CROWDED = 0.5
"""When half of everything must be remembered, nothing stands out; when half is to be ignored, most is ballast."""
MOVED = 0.15
STALE_NOTES = 0.5
WAITING_WARNS = 50
FEWEST = 10
"""With fewer memories a share says nothing."""
UNHEARD = 50
"""So many messages without anything kept is a capture that does not work."""
UNTRACKED = ("what was never recalled: a recall writes nothing down about what it found",)


def findings(drift: Drift) -> tuple[Finding, ...]:
    """What stands out, the worst first."""
    found = [*_grades(drift), *_age(drift), *_content(drift), *_capture(drift)]
    return tuple(sorted(found, key=lambda each: -SEVERITIES.index(each.severity)))


def share(counts: Mapping[str, int], name: str) -> float | None:
    """The part that has this grade; None when there is nothing."""
    total = sum(counts.values())
    return counts.get(name, 0) / total if total else None


def _grades(drift: Drift) -> Iterator[Finding]:
    if drift.live < FEWEST:
        return
    unknown, before = drift.unknown_share or 0.0, drift.unknown_share_before
    told = f"{drift.grades['unknown']:,} of {drift.live:,} live memories have no importance ({unknown:.0%})"
    if unknown >= UNKNOWN_WARNS:
        severity: Severity = "serious" if unknown >= UNKNOWN_SERIOUS else "warning"
        yield Finding("unknown importance", severity, told, "Run: memoranda regrade --dry-run")
    elif before is not None and drift.live_before >= FEWEST and unknown - before >= RISE_WARNS:
        yield Finding(
            "unknown importance", "warning", f"{told}; it was {before:.0%}", "Run: memoranda regrade --dry-run"
        )
    must, ignored = share(drift.grades, "must_remember") or 0.0, share(drift.grades, "ignore") or 0.0
    if must >= CROWDED:
        yield Finding(
            "everything is important",
            "warning",
            f"{must:.0%} must be remembered, so that nothing stands out",
            "Run: memoranda list --grade must_remember, then memoranda grade ID medium",
        )
    if ignored >= CROWDED:
        yield Finding(
            "mostly ignored",
            "note",
            f"{ignored:.0%} are to be ignored and only take space",
            "Run: memoranda list --grade ignore, then memoranda forget ID",
        )
    was = share(drift.grades_before, "must_remember")
    if was is not None and drift.live_before >= FEWEST and abs(must - was) >= MOVED:
        yield Finding(
            "grades moved",
            "note",
            f"{must:.0%} must be remembered; {drift.days} days ago it was {was:.0%}",
            "Run: memoranda audit --action graded",
        )


def _age(drift: Drift) -> Iterator[Finding]:
    if drift.live >= FEWEST and drift.stale / drift.live >= STALE_NOTES:
        yield Finding(
            "stale",
            "note",
            f"{drift.stale:,} of {drift.live:,} have not changed for {drift.stale_days:g} days",
            "Run: memoranda list --order oldest, then memoranda archive ID",
        )
    if drift.lapsed:
        yield Finding(
            "no longer holds",
            "note",
            f"{drift.lapsed:,} are live though their time is over",
            "Run: memoranda maintain",
        )


def _content(drift: Drift) -> Iterator[Finding]:
    if drift.duplicates:
        yield Finding(
            "duplicates",
            "warning" if drift.duplicates >= max(FEWEST, drift.live // 10) else "note",
            f"{drift.duplicates:,} say word for word what another one says ({drift.duplicate_groups:,} groups)",
            "Run: memoranda consolidate",
        )
    if drift.repeated_misses:
        times = sum(each.times for each in drift.repeated_misses)
        yield Finding(
            "repeated misses",
            "warning",
            f"{len(drift.repeated_misses):,} questions were asked {times:,} times and found nothing",
            "Run: memoranda remember TEXT, with what was asked for; memoranda drift --json lists them",
        )
    if drift.waiting:
        yield Finding(
            "waiting for review",
            "warning" if drift.waiting >= WAITING_WARNS else "note",
            f"{drift.waiting:,} may not speak until somebody decides",
            "Run: memoranda review",
        )


def _capture(drift: Drift) -> Iterator[Finding]:
    seen = drift.capture.get("messages", 0)
    kept = sum(drift.capture.get(name, 0) for name in ("kept", "duplicate", "waiting"))
    if seen >= UNHEARD and not kept:
        yield Finding(
            "capture keeps nothing",
            "warning",
            f"{seen:,} messages were looked at and nothing was kept",
            "Run: memoranda capture --help, and look at the setting capture_mode",
        )
