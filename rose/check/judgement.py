"""The judgement on a draft's file before it is submitted; it reads, and writes nothing at all.

It calls the very checks that acceptance calls. What only the live run can settle is reported
apart, marked `[acceptance]`: a pass here is no acceptance.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rose import files
from rose.check import context as contexts
from rose.check import drafts, lesson, quotes, review
from rose.errors import RoseError
from rose.findings import Finding
from rose.hosts import base, registry
from rose.routing import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from rose.hosts.base import Region
    from rose.routing.rules import Evidence, Rule
    from rose.store.lessons import Holding

    Regions: TypeAlias = Mapping[str, Sequence[Region]]

# Four bytes for each of the characters that a lesson may have.
MOST_BYTES = 4_000_000
_MEANWHILE = "[acceptance] Not checked: what others write to the store until it is accepted."
_WHOSE = "[acceptance] Not checked: whose session it is."


@dataclass(frozen=True, slots=True)
class Submission:
    """A draft's file, the name of the slot it is meant for, and the transcript it quotes.

    `where` is how findings call the file. An empty slot is that of a new rule or lesson, and
    `is_elsewhere` says that the slot was named: it is then not the file's own place.
    """

    path: str
    where: str
    slot: str = ""
    transcript: str = ""
    is_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found; `incumbent` is the rule or the lesson whose place the draft would take.

    `status` is the one that a rule would be kept under, `waits` why a person must approve it.
    """

    findings: tuple[Finding, ...]
    incumbent: str = ""
    status: str = ""
    waits: str = ""
    residue: tuple[str, ...] = (_MEANWHILE,)


def of_rule(
    holding: Holding,
    given: Submission,
    max_tokens: int,
    shown: Callable[[str], frozenset[str]],
) -> Judgement:
    """Return the judgement on a rule; `shown` gives the lessons that a transcript shows."""
    try:
        text = table.read_file(given.path)
    except table.Unreadable as error:
        return Judgement((error.finding(given.where), *_session(given, ())[1]))
    context = contexts.of_store(holding, max_tokens, cache=False)
    paper = drafts.read(text, given.where, given.slot, context)
    draft = paper.draft
    regions, faults = _session(given, () if draft is None else draft.evidence)
    if draft is None:
        return Judgement((*paper.faults, *faults))
    context = replace(context, regions=regions, rules=_doubted(context.rules, given, regions))
    if draft.origin == "reflection" and draft.effect == "skip" and regions:
        context = replace(context, shown=shown(given.transcript))
    findings = _joined(drafts.check(paper, context), faults)
    status, waits = review.status_of(draft, context)
    return Judgement(findings, draft.replaces or "", status, waits, _residue(draft.evidence))


def _doubted(known: Sequence[Rule], given: Submission, regions: Regions) -> tuple[Rule, ...]:
    """Return the rules; one that is itself the draft proves no quote that can be looked up."""
    own = os.path.realpath(given.path)
    return tuple(
        replace(rule, evidence=_elsewhere(rule.evidence, regions))
        if os.path.realpath(rule.path) == own
        else rule
        for rule in known
    )


def _elsewhere(evidence: Sequence[Evidence], regions: Regions) -> tuple[Evidence, ...]:
    """Return the quotes of sessions that are not at hand."""
    return tuple(item for item in evidence if quotes.session_of(item, regions) not in regions)


def of_lesson(holding: Holding, given: Submission) -> Judgement:
    """Return the judgement on a lesson."""
    try:
        raw = files.read_bytes(given.path, MOST_BYTES)
    except OSError as error:
        fault = _unreadable(given.where, error, "Name a file of text.")
        return Judgement((fault, *_session(given, ())[1]))
    evidence = lesson.evidence_of(raw)
    regions, faults = _session(given, evidence)
    shelf = holding.shelf.lessons
    top = os.path.realpath(holding.store.base)
    own = os.path.relpath(os.path.realpath(given.path), top) if not given.is_elsewhere else ""
    incumbent = next((known for known in shelf if known.path == own), None)
    kept: tuple[Evidence, ...] = ()
    if incumbent is not None:
        kept = _elsewhere(evidence, regions)
    else:
        incumbent, doubts = lesson.incumbent_of(given.slot, shelf)
        faults = [*doubts, *faults]
        if incumbent is not None:
            path = os.path.join(holding.store.base, incumbent.path)
            try:
                kept = lesson.evidence_of(files.read_bytes(path, MOST_BYTES))
            except OSError as error:
                repair = "Make it readable: what it quotes already needs no transcript."
                faults = [_unreadable(incumbent.path, error, repair), *faults]
    draft = lesson.LessonDraft(raw, given.where, incumbent)
    checked = lesson.check_lesson(draft, lesson.LessonContext(shelf, regions, frozenset(kept)))
    path = "" if incumbent is None else incumbent.path
    return Judgement(_joined(checked, faults), path, residue=_residue(evidence))


def _unreadable(where: str, error: OSError, repair: str) -> Finding:
    message = f"The file cannot be read: {error.strerror or error}."
    return Finding("lesson-unreadable", where, message, repair)


def _session(given: Submission, evidence: Iterable[Evidence]) -> tuple[Regions, list[Finding]]:
    """Return the regions of the transcript by its session, and why it cannot be read."""
    if not given.transcript:
        return {}, []
    try:
        transcript = registry.open_transcript(given.transcript)
        session = transcript.head().session
        regions = quotes.gather(evidence, base.regions(transcript))
    except RoseError as error:
        return {}, [_unverified(given, str(error))]
    if not session or transcript.tally.is_foreign:
        return {}, [_unverified(given, "It holds no session that rose can read.")]
    return {session: regions}, []


def _unverified(given: Submission, reason: str) -> Finding:
    message = f"No quote can be looked for. {reason}"
    return Finding("unverified", given.transcript, message, "Name the transcript of the session.")


def _joined(found: Iterable[Finding], faults: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return all findings; a transcript that cannot be read is said once, not for each quote."""
    is_unread = any(fault.rule == "unverified" for fault in faults)
    return (*faults, *(f for f in found if not (is_unread and f.rule == "unverified")))


def _residue(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return (_MEANWHILE, _WHOSE) if evidence else (_MEANWHILE,)
