"""How a model's answer is read: item by item, and nothing is mended.

An item that breaks the shape or contradicts itself is set aside with its findings, and the others
stand. Texts stay as they came, so that the check sees and refuses what is in them.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from rose import redact
from rose.findings import Finding
from rose.reflection import schema

Answer = Literal["yes", "no", "unknown"]
Kind = Literal["add", "reword", "merge", "retire"]
_Items: TypeAlias = Iterator[tuple[str, dict[str, Any]]]

_SHOWN_CHARS = 500


@dataclass(frozen=True, slots=True)
class UsedClaim:
    """A lesson, by its id, that the model says was used."""

    lesson: str
    why: str


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """What the model says of one delivered rule."""

    rule: str
    applied: Answer
    followed: Answer
    paid: Answer
    why: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the session; `region` and `lines` tell one occurrence from another."""

    quote: str
    region: int | None = None
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One change to the rules. `rule` is the one that changes or stays, empty for a new one.

    `others` are the rules that a merge takes in, `restates` is the rule that a new one says
    again. A retirement has no texts.
    """

    kind: Kind
    rule: str = ""
    others: tuple[str, ...] = ()
    when: str = ""
    then: str = ""
    effect: str = "prefer"
    match: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    restates: str = ""
    why: str = ""

    def named(self) -> tuple[str, ...]:
        """Return the ids of the rules that the operation speaks of, each once."""
        return tuple(dict.fromkeys(filter(None, (self.rule, *self.others, self.restates))))


@dataclass(frozen=True, slots=True)
class NewLesson:
    """A lesson that ought to exist."""

    title: str
    body: str
    quote: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """An item that was set aside; `item` shows it on one line, without secrets and cut short."""

    where: str
    item: str
    findings: tuple[Finding, ...]

    def is_shape_of(self, part: str) -> bool:
        """Tell whether a part of the answer, or all of it, has not the shape that was asked for."""
        rules = {finding.rule for finding in self.findings}
        return "answer-shape" in rules or (
            self.where.split()[0] == part and "said-twice" not in rules
        )

    def lines(self) -> list[str]:
        """Return the findings as lines, without secrets."""
        return [redact.redact(finding.line()) for finding in self.findings]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer, as far as it has the shape that was asked for."""

    used: tuple[UsedClaim, ...] = ()
    rules: tuple[RuleClaim, ...] = ()
    operations: tuple[Operation, ...] = ()
    lessons: tuple[NewLesson, ...] = ()
    malformed: tuple[Malformed, ...] = ()


def parse(value: object) -> Proposal:
    """Return the proposal in an answer; what is malformed is set aside with its findings."""
    aside: list[Malformed] = []
    if not isinstance(value, Mapping) or not any(name in value for name in schema.PARTS):
        message = f"This is no object with {', '.join(schema.PARTS)}."
        _set_aside(aside, value, Finding("answer-shape", "answer", message, schema.AGAIN))
        return Proposal(malformed=tuple(aside))
    unknown = [name for name in value if name not in schema.PARTS]
    if unknown:
        message = f"{len(unknown)} parts are unknown."
        _set_aside(aside, unknown, Finding("field-unknown", "answer", message, schema.AGAIN))
    used = _once(_items(value, "used", aside), "lesson", aside)
    claims = _once(_items(value, "rules", aside), "rule", aside)
    return Proposal(
        used=tuple(UsedClaim(**item) for _, item in used),
        rules=tuple(RuleClaim(**item) for _, item in claims),
        operations=tuple(_operations(_items(value, "operations", aside), aside)),
        lessons=tuple(NewLesson(**item) for _, item in _items(value, "lessons", aside)),
        malformed=tuple(aside),
    )


def _items(value: Mapping[str, object], name: str, aside: list[Malformed]) -> _Items:
    """Yield the items of one part that have the shape, each with its place."""
    part = schema.PARTS[name]
    listed, most = value.get(name), part["maxItems"]
    if not isinstance(listed, list):
        message = f"`{name}` is no list."
        _set_aside(aside, listed, Finding("field-type", name, message, schema.AGAIN))
        return
    for number, item in enumerate(listed[:most], 1):
        where = f"{name} {number}"
        faults = tuple(schema.faults(part["items"], item, where))
        if faults:
            _set_aside(aside, item, *faults, where=where)
        else:
            yield where, cast("dict[str, Any]", item)
    if len(listed) > most:
        where = f"{name} {most + 1} to {len(listed)}"
        message = f"There are {len(listed)} items, and {most} are read."
        fault = Finding("too-many", where, message, "Keep those that matter most.")
        _set_aside(aside, listed[most:], fault)


def _once(items: _Items, key: str, aside: list[Malformed]) -> _Items:
    """Yield the items but those whose key was there before: two claims may contradict."""
    seen: set[str] = set()
    for where, item in items:
        if item[key] in seen:
            message = f"`{key}` was named before."
            _set_aside(aside, item, Finding("said-twice", where, message, "Name it once."))
        else:
            seen.add(item[key])
            yield where, item


def _operations(items: _Items, aside: list[Malformed]) -> Iterator[Operation]:
    """Yield the operations that make sense, and speak of no rule that an earlier one speaks of."""
    named: set[str] = set()
    for where, item in items:
        operation = _operation(item)
        faults = tuple(_contradictions(operation, item["quotes"], where))
        if named.intersection(operation.named()):
            message = "An earlier operation speaks of the same rule."
            faults = (*faults, Finding("said-twice", where, message, "Say one thing of one rule."))
        if faults:
            _set_aside(aside, item, *faults, where=where)
        else:
            named.update(operation.named())
            yield operation


def _operation(item: Mapping[str, Any]) -> Operation:
    kind, rule, others, why = item["kind"], item["rule"], tuple(item["others"]), item["why"]
    if kind == "retire":
        return Operation(kind, rule, others, restates=item["restates"], why=why)
    return Operation(
        kind=kind,
        rule=rule,
        others=others,
        when=item["when"],
        then=item["then"],
        effect=item["effect"],
        match=tuple(item["match"]),
        quotes=tuple(_quote(quote) for quote in item["quotes"]),
        restates=item["restates"],
        why=why,
    )


def _quote(item: Mapping[str, Any]) -> Quote:
    lines = item["lines"]
    return Quote(
        item["quote"],
        item["region"] or None,
        (lines[0], lines[1]) if len(lines) == 2 else None,  # noqa: PLR2004 - first and last
    )


def _contradictions(
    operation: Operation, quotes: list[dict[str, Any]], where: str
) -> Iterator[Finding]:
    kind, rule, others = operation.kind, operation.rule, operation.others
    if (kind == "add") == bool(rule):
        message = "A new rule has no id yet." if rule else f"`{kind}` needs a rule."
        yield Finding("operation-shape", f"{where}: rule", message, "Correct `rule` or `kind`.")
    if bool(others) != (kind == "merge") or rule in others or len(set(others)) < len(others):
        message = f"`{kind}` does not go with these others."
        repair = "A merge names each rule that goes into `rule` once, and nothing else has others."
        yield Finding("operation-shape", f"{where}: others", message, repair)
    if kind != "add" and operation.restates not in ("", rule):
        message = f"`{kind}` restates no other rule."
        yield Finding("operation-shape", f"{where}: restates", message, "Leave it empty.")
    if kind == "retire":
        return
    if not quotes:
        message = "There is no quote for this text."
        yield Finding("evidence-missing", f"{where}: quotes", message, "Quote the session.")
    for number, quote in enumerate(quotes, 1):
        lines = quote["lines"]
        if lines and not _is_span(lines, quote["region"]):
            message = "These are no lines of a region."
            repair = "Give the first and the last line and the region, or []."
            yield Finding("quote-place", f"{where}: quotes {number}", message, repair)


def _is_span(lines: list[int], region: int) -> bool:
    return len(lines) == 2 and 1 <= lines[0] <= lines[1] and region > 0  # noqa: PLR2004 - first and last


def _set_aside(aside: list[Malformed], item: object, *faults: Finding, where: str = "") -> None:
    # Once more as a whole: a name can make a secret of what stands beside it.
    shown = redact.redact(_SHOWN.repr(item))[:_SHOWN_CHARS]
    aside.append(Malformed(where or faults[0].where, shown, faults))


class _Shown(reprlib.Repr):
    """Shows a value of any size on one short line; what looks like a secret is never shown."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 120
        self.maxdict = 12

    def repr_str(self, value: str, level: int) -> str:
        # Cut before it is read, so that a huge text costs no more than a long one.
        return super().repr_str(redact.beginning(value, 2 * self.maxstring), level)


_SHOWN = _Shown()
