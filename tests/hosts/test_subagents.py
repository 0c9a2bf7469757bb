"""Subagents' files: merged by time, and never a way out of the session's own folder."""

from __future__ import annotations

import os

import pytest

from rose.hosts.base import Call, Said
from rose.hosts.claude_code import ClaudeCode
from tests.hosts.making import attachment, call, result, said, user, write


def a_session(tmp_path):
    """Return the path of a session with rows at 0, 10 and 20 seconds."""
    rows = [
        user("go", 0),
        said("one", 10),
        said("two", 20),
    ]
    return write(tmp_path / "s.jsonl", rows)


def an_agent(tmp_path, name="agent-a1.jsonl", second=12):
    """Write a subagent's file into the session's folder."""
    rows = [
        user("look there", second, isSidechain=True, agentId="a1"),
        call("Read", {"file_path": "/x"}, second=second + 1, isSidechain=True, agentId="a1"),
        result("text", second=second + 2, isSidechain=True, agentId="a1"),
    ]
    return write(tmp_path / "s" / "subagents" / name, rows)


def kinds(path):
    """Return the events as (type, agent), and the tally."""
    session = ClaudeCode(path)
    return [(type(e).__name__, getattr(e, "agent", None)) for e in session.events()], session.tally


def test_a_subagents_events_stand_where_they_happened(tmp_path):
    path = a_session(tmp_path)
    an_agent(tmp_path)

    assert kinds(path)[0] == [("Prompt", None), ("Said", None), ("Call", "a1"), ("Said", None)]


def test_what_a_model_asks_of_a_subagent_is_no_prompt_and_opens_no_turn(tmp_path):
    path = a_session(tmp_path)
    an_agent(tmp_path)

    assert {event.turn for event in ClaudeCode(path).events()} == {1}


def test_an_injection_into_a_subagent_names_it(tmp_path):
    path = a_session(tmp_path)
    row = attachment("hook_additional_context", 11, content=["words"], hookEvent="SubagentStart")
    write(tmp_path / "s" / "subagents" / "agent-a2.jsonl", [row])

    injection = next(e for e in ClaudeCode(path).events() if type(e).__name__ == "Injection")

    assert (injection.event, injection.text, injection.agent) == ("SubagentStart", "words", "a2")


@pytest.mark.parametrize("name", ["agent-acompact-1.jsonl", "other.jsonl", "agent-a1.txt"])
def test_other_files_in_the_folder_are_passed_over(tmp_path, name):
    path = a_session(tmp_path)
    an_agent(tmp_path, name)

    assert kinds(path)[0] == [("Prompt", None), ("Said", None), ("Said", None)]


def test_an_unreadable_subagent_is_counted_and_costs_nothing_else(tmp_path):
    path = a_session(tmp_path)
    an_agent(tmp_path)
    (tmp_path / "s" / "subagents" / "agent-b.jsonl").mkdir()

    events, tally = kinds(path)

    assert ("Call", "a1") in events
    assert tally.unread == 1


def test_a_file_in_place_of_the_folder_is_counted(tmp_path):
    path = a_session(tmp_path)
    write(tmp_path / "s" / "subagents", ["x"])

    events, tally = kinds(path)

    assert len(events) == 3
    assert tally.unread == 1


def test_a_link_out_of_the_sessions_folder_is_not_followed(tmp_path):
    path = a_session(tmp_path)
    outside = write(tmp_path / "outside" / "agent-z.jsonl", [said("secret", 5)])
    an_agent(tmp_path)
    os.symlink(outside, tmp_path / "s" / "subagents" / "agent-z.jsonl")

    events, tally = kinds(path)

    assert ("Said", "z") not in events
    assert tally.unread == 1


@pytest.mark.parametrize("link", ["s", "s/subagents"])
def test_a_folder_that_is_a_link_elsewhere_is_not_followed(tmp_path, link):
    path = a_session(tmp_path)
    write(tmp_path / "other" / "subagents" / "agent-z.jsonl", [said("secret", 5)])
    (tmp_path / link).parent.mkdir(exist_ok=True)
    os.symlink(tmp_path / "other" / os.path.relpath(link, "s"), tmp_path / link)

    events, tally = kinds(path)

    assert ("Said", "z") not in events
    assert tally.unread == 1


def test_a_session_reached_through_a_link_keeps_its_subagents(tmp_path):
    real = tmp_path / "real"
    a_session(real)
    an_agent(real)
    os.symlink(real, tmp_path / "link")

    assert ("Call", "a1") in kinds(str(tmp_path / "link" / "s.jsonl"))[0]


def test_many_subagents_do_not_need_a_file_handle_each(tmp_path):
    resource = pytest.importorskip("resource")
    path = a_session(tmp_path)
    paths = [an_agent(tmp_path, f"agent-{n:03d}.jsonl", 30 + n * 3) for n in range(100)]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 20, limits[1]))
    try:
        events = list(ClaudeCode(path).events())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert sum(isinstance(event, Call) for event in events) == len(paths)


def test_rows_of_older_versions_inside_the_main_file_are_a_subagents(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        [user("go"), user("look", 1, isSidechain=True), said("there", 2, isSidechain=True)],
    )

    assert [e for e in ClaudeCode(path).events() if isinstance(e, Said)] == [
        Said(1, "there", "sidechain")
    ]
    assert kinds(path)[0] == [("Prompt", None), ("Said", "sidechain")]
