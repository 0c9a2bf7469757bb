"""The checks on a draft of a rule: one generator of findings, whoever wrote the draft.

`rose route`, `rose check` and reflection all reach it, so equal bytes give equal findings. Each
finding has a repair; rose never applies one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rose import redact
from rose import text as texts
from rose.check import learned, quotes
from rose.findings import Finding, Severity
from rose.routing import conditions, features, layer, questions, rules, wording
from rose.routing import targets as target
from rose.routing.rules import Evidence, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rose.hosts.base import Region
    from rose.routing.forgotten import Forgotten

# Keyboards put these behind an emoji to choose its look. They hide nothing.
LOOKS = {0xFE0E: None, 0xFE0F: None}


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule that is not yet checked.

    `replaces` is the id of the rule whose place it takes, `merges` are those that retire with it.
    """

    when: str
    then: str
    effect: str = "prefer"
    match: tuple[str, ...] = ()
    origin: str = "manual"
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    status: str = "active"
    approval: str | None = None
    replaces: str | None = None
    merges: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        """Return the condition as it would be kept; without one it is rendered from `match`."""
        return wording.condition(self.when) or features.when_from_match(self.match)

    def takes_over(self, rule: Rule) -> bool:
        """Tell whether the draft takes the place of a rule, alone or with others."""
        return rule.id == self.replaces or rule.id in self.merges


@dataclass(frozen=True, slots=True)
class Context:
    """What a draft is held against.

    `has_lesson` tells whether a target matches a lesson, `cost` the tokens of a rendered line,
    `base` is given for the home store, whose rules render absolute paths. `regions` are the
    texts of each session that quotes are looked for in, `shown` the store paths of the lessons
    that the session was shown, `active` those of all lessons in use. `archived` maps the store
    paths of lessons out of use to the path of what took their place, empty where nothing did;
    `root` is the folder that paths begin at. `forgotten` are the rules that a person deleted,
    `review` is the setting `routing.review`. `versions` are those of the lessons in use, by path.
    """

    rules: tuple[Rule, ...]
    roots: tuple[str, ...]
    has_lesson: Callable[[str], bool]
    max_tokens: int
    cost: Callable[[str], int]
    lessons: frozenset[str] = frozenset()
    base: str | None = None
    regions: Mapping[str, Sequence[Region]] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    active: tuple[str, ...] = ()
    archived: Mapping[str, str] = field(default_factory=dict)
    root: str = ""
    forgotten: tuple[Forgotten, ...] = ()
    review: str = "auto"
    versions: Mapping[str, str] = field(default_factory=dict)

    def taken_over(self, draft: Draft) -> list[Rule]:
        """Return the standing rules whose place a draft takes."""
        return [rule for rule in self.rules if draft.takes_over(rule)]

    def kept(self, draft: Draft) -> frozenset[Evidence]:
        """Return the evidence of those rules: it was matched when they came in."""
        return frozenset(item for rule in self.taken_over(draft) for item in rule.evidence)


def check_rule(draft: Draft, context: Context) -> Iterator[Finding]:
    """Yield everything that is wrong with a draft; independent faults come together."""
    # A file keeps no white space around a text, so none counts.
    draft = replace(draft, when=draft.when.strip(), then=draft.then.strip())
    yield from _fields(draft)
    yield from _approval(draft, context)
    yield from _wording(draft)
    if draft.condition:
        yield from _condition(draft, context)
        yield from _restatement(draft, context)
    if wording.clause(draft.then):
        yield from _targets(draft, context)
        yield from _effect(draft)
        yield from _size(draft, context)
    if draft.origin == "reflection":
        yield from learned.check(draft, context)
    if draft.evidence:
        yield from quotes.check(draft.evidence, context.kept(draft), context.regions)


def _fields(draft: Draft) -> Iterator[Finding]:
    if not texts.clean_line(draft.condition):
        repair = "Say which kind of task the rule is for."
        yield Finding("when-missing", "when", "There is no condition.", repair)
    if not texts.clean_line(wording.clause(draft.then)):
        repair = "Say where the knowledge lies, such as: read nodes/testing/ first."
        yield Finding("then-missing", "then", "There is nothing to do.", repair)
    closed = (
        ("effect", draft.effect, rules.EFFECTS),
        ("origin", draft.origin, rules.ORIGINS),
        ("status", draft.status, rules.STATUSES),
    )
    for name, value, allowed in closed:
        if value not in allowed:
            expected = " or ".join(allowed)
            message = f"`{name}` is {value!r}."
            yield Finding("field-value", name, message, f"Write {expected}.", expected=expected)
    for feature in draft.match:
        reason = features.fault(feature)
        if reason is not None and not redact.holds_secret(feature):
            yield Finding("match-invalid", "match", f"{reason}.", "Mend or drop that feature.")


def _approval(draft: Draft, context: Context) -> Iterator[Finding]:
    decided = {rule.approval for rule in context.taken_over(draft)}
    if draft.approval is not None and draft.approval not in decided:
        message = f"`approval` is {draft.approval!r}, which a draft cannot give itself."
        repair = "Leave it out; `rose route --approve` or `--decline` decides."
        yield Finding("approval-set", "approval", message, repair)


def _wording(draft: Draft) -> Iterator[Finding]:
    for name, value in (("when", draft.when), ("then", draft.then)):
        if len(value.splitlines()) > 1:
            message = f"`{name}` has more than one line."
            yield Finding("one-line", name, message, "Write it on one line.")
        flat = texts.normalise(value)
        hidden = texts.hostile_characters(flat.translate(LOOKS))
        if hidden:
            message = f"`{name}` holds what a reader does not see: {', '.join(hidden)}."
            yield Finding("hostile-characters", name, message, "Take them out.")
        mark = wording.markup(flat)
        if mark is not None:
            shown = redact.beginning(mark, 40)
            message = f"`{name}` holds markup that could close rose's block: {shown}."
            repair = "Write it without angle brackets and code fences."
            yield Finding("hostile-characters", name, message, repair)
    yield from _note(draft.note)
    parts = (("when", draft.when), ("then", draft.then), ("note", draft.note))
    quoted = [("evidence", item.quote) for item in draft.evidence]
    met = [("match", feature) for feature in draft.match]
    for name, value in (*parts, *quoted, *met):
        if redact.holds_secret(value):
            message = f"`{name}` holds something that looks like a secret."
            yield Finding("secret", name, message, "Write the rule without it.")


def _note(note: str) -> Iterator[Finding]:
    hidden = texts.hostile_characters(note)
    if hidden:
        message = f"The note holds what a reader does not see: {', '.join(hidden)}."
        yield Finding("hostile-characters", "note", message, "Take them out.")
    if len(note) > wording.MOST_CHARS:
        message = f"The note has more than {wording.MOST_CHARS} characters."
        yield Finding("too-large", "note", message, "Shorten it.")
    if "<<<<<<< " in note:
        message = "The note holds a merge-conflict marker: its file could not be read."
        yield Finding("merge-conflict", "note", message, "Write it without.")


def _condition(draft: Draft, context: Context) -> Iterator[Finding]:
    when = draft.condition
    named = conditions.named_lesson(when, context.roots, context.lessons, draft.match)
    if conditions.is_vacuous(when):
        message = f"`{redact.beginning(when, 60)}` holds for every task."
        yield Finding("when-vacuous", "when", message, "Name a kind of task.")
    elif named is not None:
        message = (
            f"The condition is about `{redact.beginning(named, 60)}`, not about a kind of task."
        )
        repair = "Name the kind of task, and the lesson in `then`."
        yield Finding("when-names-a-lesson", "when", message, repair)


def _restatement(draft: Draft, context: Context) -> Iterator[Finding]:
    key = conditions.key(draft.condition)
    targets = target.targets_of(draft.then, context.roots)
    others = [rule for rule in context.rules if not draft.takes_over(rule)]
    for rule in others:
        is_same = rule.effect == draft.effect and rule.status not in questions.SILENT
        if is_same and conditions.key(rule.when) == key:
            yield Finding(
                "restates",
                "when",
                f"{rule.id} has this condition already: {rule.then}.",
                f"Widen {rule.id} by editing its file, or `rose route --forget {rule.id}` first.",
                expected=rule.id,
            )
    for rule in questions.opponents(key, draft.effect, targets, others):
        yield Finding(
            "opposes",
            "when",
            f"{rule.id} says the opposite of the same lessons: {rule.then}.",
            "Both are kept until `rose route --approve` or `--decline` says which one holds.",
            severity="warning",
        )


def _targets(draft: Draft, context: Context) -> Iterator[Finding]:
    severity: Severity = "error" if draft.origin == "reflection" else "warning"
    targets = target.targets_of(draft.then, context.roots)
    roots = " or ".join(f"{root}/" for root in context.roots)
    outside = _outside(draft.then, context.root)
    # Beside a target, what begins at the root may be no file: a call of an API, say. A person
    # means it so; a model's text came from anywhere.
    if not targets or ".." in outside or (outside and draft.origin == "reflection"):
        message = f"{outside} lies outside the project." if outside else "`then` names no lesson."
        repair = f"Name a file, a folder or a glob under {roots}, from the project's folder on."
        # No session can be held against a skip rule without a target, so it would stay for good.
        is_blind = draft.effect == "skip" and not targets
        severe: Severity = "error" if is_blind else severity
        yield Finding("no-target", "then", message, repair, severity=severe)
    for path in targets:
        if not context.has_lesson(path):
            yield Finding("no-target", "then", *_missing(path, context), severity=severity)


def _outside(then: str, root: str) -> str:
    """Return the first path of a `then` that leads out of the project."""
    for token in map(target.strip, then.split()):
        is_away = token.startswith(("/", "~/")) and not (root and token.startswith(root + "/"))
        if is_away or ".." in token.split("/"):
            return token
    return ""


def _missing(path: str, context: Context) -> tuple[str, str]:
    """Return what is wrong with a target that leads to no lesson in use, and the repair."""
    out_of_use = [old for old in context.archived if target.matches(path, old)]
    if not out_of_use:
        return f"No lesson matches {path}.", "Correct the path; `rose list` shows the lessons."
    newer = list(dict.fromkeys(filter(None, (context.archived[old] for old in out_of_use))))
    repair = f"Name {' or '.join(newer)} instead." if newer else "Name a lesson that is in use."
    return f"What {path} leads to is archived.", repair


def _effect(draft: Draft) -> Iterator[Finding]:
    """Hint at a `then` whose first word says the other effect; `--skip` alone decides it."""
    first = " ".join(texts.canonical(draft.then).split()[:2])
    word = first.partition(" ")[0]
    if draft.origin != "manual":
        return
    if draft.effect == "prefer" and (first == "nothing in" or word in ("skip", "ignore")):
        message = "`then` sounds like lessons to skip, but the rule is kept as one to follow."
        repair = "Forget it and teach it with --skip if those lessons do not apply."
    elif draft.effect == "skip" and word == "read":
        message = "`then` sounds like lessons to read, but --skip says that they do not apply."
        repair = "Forget it and teach it without --skip if they are to be read."
    else:
        return
    yield Finding("effect-unclear", "then", message, repair, severity="warning")


def _size(draft: Draft, context: Context) -> Iterator[Finding]:
    for where, value in (("when", draft.when), ("then", draft.then)):
        if len(value) > wording.MOST_CHARS:
            message = f"`{where}` has more than {wording.MOST_CHARS} characters."
            yield Finding("too-large", where, message, "Shorten it.")
            return
    # A cap of 0 switches the layer off; it says nothing about what a rule may cost.
    if not context.max_tokens:
        return
    rule = Rule("", draft.condition, wording.clause(draft.then))
    targets = target.targets_of(rule.then, context.roots)
    line = rules.line(Rule("", rule.when, rule.then, targets=targets), context.base)
    cap = layer.Cap(context.max_tokens, context.cost, context.cost)
    if layer.is_oversized(line, cap):
        message = (
            f"The rule costs {context.cost(line)} tokens, more than a quarter of the cap of "
            f"{context.max_tokens}."
        )
        expected = f"at most {context.max_tokens // layer.SHARE} tokens"
        yield Finding("too-large", "then", message, "Shorten it.", expected=expected)
