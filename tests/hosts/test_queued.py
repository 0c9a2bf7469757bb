"""Messages typed while the model was at work count once, however the host wrote them down."""

from __future__ import annotations

import pytest

from rose.hosts.queued import Queue

NOTICE = "<task-notification>\n<task-id>b0</task-id>\n</task-notification>"


def replay(*steps: tuple[str, str]):
    """Return the prompts that a series of (operation, text) gives; `row` and `attach` are rows."""
    queue = Queue()
    found = []
    for operation, text in steps:
        if operation in ("row", "attach"):
            if queue.arrived(text, by_attachment=operation == "attach"):
                found.append(text)
        elif operation == "answer":
            queue.settle()
        elif prompt := queue.operate(operation, text):
            found.append(prompt)
    return found


@pytest.mark.parametrize(
    "steps",
    [
        [("enqueue", "again"), ("dequeue", ""), ("row", "again")],
        [("enqueue", "again"), ("row", "again"), ("dequeue", "")],
        [("enqueue", "again"), ("remove", "")],
        [("enqueue", "again"), ("remove", ""), ("attach", "again")],
        [("enqueue", "again"), ("attach", "again"), ("remove", "")],
        [("enqueue", "again"), ("remove", ""), ("row", "again")],
        [("enqueue", NOTICE), ("enqueue", "again"), ("remove", "")],
        [("enqueue", NOTICE), ("enqueue", "again"), ("remove", ""), ("remove", "")],
        [("enqueue", NOTICE), ("enqueue", "again"), ("attach", "again"), ("remove", "")],
        [("row", "again")],
        [("enqueue", "other"), ("popAll", ""), ("remove", ""), ("row", "again")],
        [("enqueue", "other"), ("enqueue", "again"), ("remove", "again")],
    ],
)
def test_a_queued_message_counts_once(steps):
    assert replay(*steps) == ["again"]


def test_a_message_that_was_taken_back_does_not_count():
    assert replay(("enqueue", "no"), ("popAll", ""), ("remove", "")) == []


def test_a_notice_is_never_a_prompt():
    assert replay(("enqueue", NOTICE), ("remove", "")) == []


def test_the_same_words_after_an_answer_are_a_new_message():
    steps = [("enqueue", "go on"), ("remove", ""), ("answer", ""), ("row", "go on")]

    assert replay(*steps) == ["go on", "go on"]


def test_an_operation_nobody_knows_changes_nothing():
    assert replay(("enqueue", "a"), ("shuffle", "a"), ("enqueue", " "), ("remove", "")) == ["a"]
