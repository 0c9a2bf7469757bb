"""What a session was sent, and what it lacks."""

from __future__ import annotations

import os
import time

import pytest

from rose import files, session

LAYER = {"digest": "d1", "revision": "r1", "rules": ["r_0000aa", "r_0000bb"]}


def sent(agent: str | None = None, **changed: object) -> dict[str, object]:
    line = session.sent_line("UserPromptSubmit", agent, {**LAYER, **changed})
    return files.parse_json(line)


def reset(agent: str | None = None) -> dict[str, object]:
    return files.parse_json(session.reset_line("compact", agent))


@pytest.mark.parametrize(
    ("notes", "agent", "is_due"),
    [
        ([], None, True),
        ([sent()], None, False),
        ([sent(digest="d0")], None, False),
        ([sent(digest="d0", revision="r0")], None, True),
        ([sent(revision="r0")], None, False),
        ([sent(), reset()], None, True),
        ([sent(), reset(), sent()], None, False),
        ([sent(), reset("a1")], None, False),
        ([sent(), {"v": 1, "reset": "compact"}], None, True),
        ([sent(digest="d0", revision="r0"), sent()], None, False),
        ([sent(), sent(digest="d2", revision="r2")], None, True),
        ([sent()], "a1", True),
        ([sent("a1")], None, True),
        ([sent("a1")], "a1", False),
        ([sent("a1"), reset()], "a1", False),
        ([sent("a1"), reset("a1")], "a1", True),
        ([sent("a1"), reset("a1"), sent("a1")], "a1", False),
        ([sent("a1"), reset("a2")], "a1", False),
        ([sent("a1", digest="d0", revision="r0")], "a1", False),
        ([sent("a1")], "a2", True),
        ([{"v": 1, "at": "2026"}, {}], None, True),
    ],
)
def test_an_agent_is_due_what_it_lacks_and_nothing_twice(notes, agent, is_due):
    assert session.is_due(notes, agent, LAYER) is is_due


def test_a_sent_line_says_what_went_to_whom():
    line = sent('a"1\n')
    assert time.strptime(str(line["at"]), session.TIME)
    assert line == {
        "v": 1,
        "at": line["at"],
        "event": "UserPromptSubmit",
        "agent": 'a"1\n',
        "block": "d1",
        "revision": "r1",
        "rules": ["r_0000aa", "r_0000bb"],
    }


def test_a_layer_without_rules_is_noted_as_one():
    assert sent(rules=[])["rules"] == []


def test_a_note_reads_back_in_order_without_its_torn_lines(tmp_path):
    path = session.note_path(str(tmp_path / "sessions"), "0123")
    assert path == str(tmp_path / "sessions" / "0123.jsonl")
    files.append_line(path, session.sent_line("UserPromptSubmit", None, LAYER))
    files.append_line(path, '{"v":1,"agent"')
    files.append_line(path, session.reset_line("clear"))
    first, second = session.read(path)
    assert (first["block"], second["reset"]) == ("d1", "clear")


def test_a_note_that_is_missing_or_cannot_be_read_holds_nothing(tmp_path):
    os.mkdir(tmp_path / "folder.jsonl")
    assert session.read(str(tmp_path / "none.jsonl")) == []
    assert session.read(str(tmp_path / "folder.jsonl")) == []
