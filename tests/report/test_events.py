"""What the log tells of rules, line by line."""

from __future__ import annotations

import pytest

from rose.history.past import Revision
from rose.reflection import journal
from rose.report import events
from rose.report.events import Event

AT = "2026-11-30T12:00:00Z"
A, B, C = "r_0000aa", "r_0000bb", "r_0000cc"


def reflected(session: str = "s", **fields: object) -> dict[str, object]:
    return {"v": 1, "at": AT, "session": session, "n": 4, "operations": [], **fields}


def an_operation(kind: str, rule: str | None, **fields: object) -> dict[str, object]:
    accepted = rule is not None
    return {"kind": kind, "rule": rule, "accepted": accepted, "when": "a", "then": "b", **fields}


def told(*lines: dict[str, object]) -> list[tuple[str, str, str]]:
    return [
        (event.what, event.rule, event.detail)
        for event in events.traced(map(journal.line_of, lines))
    ]


def test_each_operation_on_a_rule_is_an_event_and_a_refused_one_is_none():
    operations = [
        an_operation("add", A),
        an_operation("reword", B),
        an_operation("merge", C, others=[A, B]),
        an_operation("retire", C, why="it misleads"),
        an_operation("add", None),
    ]
    retired = [{"rule": B, "reason": "never chosen"}]
    assert told(reflected(operations=operations, retired=retired)) == [
        ("added", A, "- When a: b"),
        ("reworded", B, "- When a: b"),
        ("merged", C, "- When a: b"),
        ("retired", A, f"merged into {C}"),
        ("retired", B, f"merged into {C}"),
        ("retired", C, "it misleads"),
        ("retired", B, "never chosen"),
    ]


def test_an_undo_is_told_of_the_rules_that_it_took_back():
    operations = [an_operation("add", A), an_operation("reword", B)]
    undone = {"at": AT, "session": "s", "n": 4, "undone": True, "left": [B]}
    again = reflected(operations=[an_operation("add", C)])
    found = told(reflected(operations=operations), reflected("other"), undone, again, undone)
    assert [one[:2] for one in found[2:]] == [
        ("taken back", A),
        ("added", C),
        ("taken back", C),
    ]


def test_decisions_and_moves_are_events():
    lines = [
        {"at": AT, "decided": "approve", "rules": [A, B]},
        {"at": AT, "carried": {C: {"nodes/a.md": "nodes/b.md"}}},
    ]
    assert told(*lines) == [
        ("approved", A, ""),
        ("approved", B, ""),
        ("carried", C, "nodes/a.md is now nodes/b.md"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"undone": True, "session": 3},
        {"decided": "explode", "rules": [A]},
        {"decided": "approve", "rules": A},
        {"carried": {A: 3}},
        {"session": "s", "operations": ["x", {"accepted": True, "rule": 3}], "retired": 3},
    ],
)
def test_a_line_of_another_shape_tells_nothing(line):
    assert told(line) == []


def a_commit(subject: str, at: str = AT, session: str = "") -> tuple[Revision, Event]:
    revision = Revision("f" * 40, "Ada", at, subject, session, (("M", f"{A}.md"),))
    return revision, Event(at, "edited", A, session, detail=subject, by="Ada", commit="f" * 40)


@pytest.mark.parametrize(
    ("event", "commit", "is_one"),
    [
        (Event(AT, "added", A, "s"), a_commit("rose: add", session="s"), True),
        (Event(AT, "added", A, "s"), a_commit("rose: add", session="t"), False),
        (Event(AT, "added", A, "s"), a_commit("rose: x (undo of session s)", session="s"), False),
        (
            Event(AT, "taken back", A, "s"),
            a_commit("rose: x (undo of session s)", session="s"),
            True,
        ),
        (Event(AT, "approved", A), a_commit("rose: approve", "2026-11-30T12:01:00Z"), True),
        (Event(AT, "approved", A), a_commit("rose: approve", "2026-11-30T12:30:00Z"), False),
        (Event(AT, "approved", A), a_commit("Approve", "2026-11-30T12:01:00Z"), False),
        (Event(AT, "approved", B), a_commit("rose: approve", "2026-11-30T12:01:00Z"), False),
        (Event("torn", "approved", A), a_commit("rose: approve"), False),
    ],
)
def test_a_commit_of_roses_and_what_it_commits_are_one_event(event, commit, is_one):
    found = events.joined([event], [commit])
    assert len(found) == (1 if is_one else 2)
    assert [one.what for one in found if one.commit] == [event.what if is_one else "edited"]
