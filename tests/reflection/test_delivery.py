"""Delivery: what was sent, and what the host shows to have arrived."""

from __future__ import annotations

import os

import pytest

from rose import files, layout, session
from rose.hosts import registry
from rose.hosts.base import Injection
from rose.reflection import delivery
from rose.reflection.delivery import Arrival
from tests import factories
from tests.hosts import making
from tests.reflection.scene import with_block

LINE = "- When the task is a: read nodes/a.md"
OTHER = "- When the task is b: read nodes/b.md"
BLOCK = f"rose routing layer v1: x\nStore: /repo\n{LINE}\n{OTHER}"
RULES = ["r_00000a", "r_00000b"]


@pytest.fixture
def store(tmp_path):
    store = factories.a_store(tmp_path)
    files.replace(os.path.join(store.blocks, "0123456789abcdef.txt"), BLOCK)
    return store


def note(store, rules=RULES, block="0123456789abcdef", event="UserPromptSubmit", agent=None):
    path = session.note_path(store.sessions, layout.session_name("claude-code", "s"))
    layer = {"digest": block, "revision": "1", "rules": rules}
    files.append_line(path, session.sent_line(event, agent, layer))


def arrived(store, *texts: str, host="claude-code"):
    arrivals = delivery.Arrivals(delivery.read_sent(store, "claude-code", "s"), host)
    for at, text in enumerate(texts):
        arrivals.take(at, Injection(1, "UserPromptSubmit", text))
    return arrivals.delivered()


def test_a_whole_line_in_an_injection_is_delivered(store):
    note(store)
    assert arrived(store, BLOCK) == tuple(RULES)


def test_a_line_that_was_cut_is_not_delivered(store):
    note(store)
    assert arrived(store, BLOCK[:-3]) == ("r_00000a",)


def test_a_line_inside_another_line_is_not_delivered(store):
    note(store)
    assert arrived(store, f"see {LINE}", f"{LINE} and more") == ()


def test_line_ends_of_another_system_do_not_matter(store):
    note(store)
    assert arrived(store, BLOCK.replace("\n", "\r\n")) == tuple(RULES)


def test_what_was_sent_and_did_not_arrive_is_not_delivered(store):
    note(store)
    assert arrived(store) == ()


def test_nothing_sent_is_nothing_delivered_on_any_host(store):
    assert arrived(store, BLOCK) == ()
    assert arrived(store, BLOCK, host="other") == ()


def test_a_host_that_writes_no_injections_down_cannot_tell(store):
    note(store)
    assert arrived(store, BLOCK, host="other") is None


@pytest.mark.parametrize("block", ["fedcba9876543210", "../../config", ""])
def test_a_block_that_is_gone_cannot_tell(store, block):
    note(store, block=block)
    assert arrived(store, BLOCK) is None


def test_a_note_that_does_not_fit_its_block_cannot_tell(store):
    note(store, rules=["r_00000a"])
    assert arrived(store, BLOCK) is None


def test_several_notes_add_up(store):
    files.replace(os.path.join(store.blocks, "aaaaaaaaaaaaaaaa.txt"), f"x\n{OTHER}")
    note(store, rules=["r_00000b"], block="aaaaaaaaaaaaaaaa")
    note(store)
    sent = delivery.read_sent(store, "claude-code", "s")
    assert sent.rules == ("r_00000b", "r_00000a")
    assert arrived(store, LINE) == ("r_00000a",)


def came(store, *texts: str, host="claude-code", agents=(None,)):
    """Return the arrivals of a session that shows these texts, and something of these agents."""
    arrivals = delivery.Arrivals(delivery.read_sent(store, "claude-code", "s"), host)
    for agent in agents:
        arrivals.meet(agent)
    for at, text in enumerate(texts):
        arrivals.take(at, Injection(1, "UserPromptSubmit", text))
    return arrivals.by_event()


# What Claude Code and Codex leave of a text that is too long, as the real clients wrote it.
CLAUDE_STUB = (
    f"<persisted-output>\nOutput too large (14.5KB).\n\nPreview (first 2KB):\n{BLOCK[:-9]}"
)
CODEX_STUB = (
    "Warning: truncated output (original token count: 99)\nTotal output lines: 4\n\n"
    f"{BLOCK[:60]}…9 tokens truncated…{BLOCK[-9:]}\n\nFull hook output saved to: /tmp/x.txt"
)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((BLOCK,), Arrival("UserPromptSubmit", whole=1)),
        ((f"before\n\n{BLOCK}\n\nafter",), Arrival("UserPromptSubmit", whole=1)),
        ((BLOCK.replace("\n", "\r\n"),), Arrival("UserPromptSubmit", whole=1)),
        ((CLAUDE_STUB,), Arrival("UserPromptSubmit", cut=1)),
        ((CODEX_STUB,), Arrival("UserPromptSubmit", cut=1)),
        (("what another hook has to say",), Arrival("UserPromptSubmit", none=1)),
        ((), Arrival("UserPromptSubmit", none=1)),
    ],
)
def test_a_block_arrives_whole_cut_or_not_at_all(store, texts, expected):
    note(store)
    assert came(store, *texts) == (expected,)


def test_each_injection_stands_for_one_sending(store):
    for _ in range(4):
        note(store)
    assert came(store, CLAUDE_STUB, BLOCK, "other", BLOCK) == (
        Arrival("UserPromptSubmit", whole=2, cut=1, none=1),
    )


def test_a_block_that_is_lost_takes_no_other_block_s_place(store):
    note(store, block="fedcba9876543210")
    note(store)
    lost = BLOCK.replace("task is a", "task was another")
    assert came(store, lost, BLOCK) == (Arrival("UserPromptSubmit", whole=1, unknown=1),)


def test_a_subagent_s_block_is_looked_for_among_its_own_rows(store):
    note(store)
    note(store, event="SubagentStart", agent="a1")
    note(store, event="SubagentStart", agent="a2")
    found = came(store, BLOCK, agents=(None, "a1"))
    assert found == (
        Arrival("UserPromptSubmit", whole=1),
        Arrival("SubagentStart", none=1, unknown=1),
    )


def test_what_a_subagent_got_is_not_what_the_main_agent_got(store):
    note(store)
    note(store, event="SubagentStart", agent="a1")
    arrivals = delivery.Arrivals(delivery.read_sent(store, "claude-code", "s"), "claude-code")
    for agent in (None, "a1"):
        arrivals.meet(agent)
    arrivals.take(1, Injection(1, "SubagentStart", BLOCK, "a1"))
    assert arrivals.by_event() == (
        Arrival("UserPromptSubmit", none=1),
        Arrival("SubagentStart", whole=1),
    )


def test_a_host_that_writes_no_injections_down_leaves_all_unknown(store):
    note(store)
    assert came(store, host="cursor") == (Arrival("UserPromptSubmit", unknown=1),)


def test_a_note_that_a_resumed_session_holds_the_layer_is_no_sending(store):
    note(store, event="SessionStart")
    assert came(store, BLOCK) == ()
    assert delivery.read_sent(store, "claude-code", "s").rules == tuple(RULES)
    assert delivery.read_sent(store, "claude-code", "s").blocks == ()


def reset(store, agent=None):
    path = session.note_path(store.sessions, layout.session_name("claude-code", "s"))
    files.append_line(path, session.reset_line("compact", agent))


def test_what_the_start_after_a_compaction_sent_is_a_sending(store):
    note(store)
    reset(store)
    note(store, event="SubagentStart", agent="a1")
    note(store, event="SessionStart")
    found = came(store, BLOCK, BLOCK, agents=(None,))
    assert found == (
        Arrival("UserPromptSubmit", whole=1),
        Arrival("SubagentStart", unknown=1),
        Arrival("SessionStart", whole=1),
    )


def test_a_compaction_that_took_a_layer_out_of_a_resumed_session_brings_one_sending(store):
    note(store, event="SessionStart")
    reset(store)
    note(store, event="SessionStart")
    assert came(store, BLOCK) == (Arrival("SessionStart", whole=1),)


@pytest.mark.parametrize(
    ("name", "more", "end"), [("work-cut", "\n- and more", "cut"), ("work-routed", "", "whole")]
)
def test_a_real_session_shows_how_its_block_arrived(name, more, end):
    transcript = registry.open_transcript(making.capture(f"claude/{name}.jsonl"))
    shown = next(event.text for event in transcript.events() if isinstance(event, Injection))
    text = shown[shown.index("rose routing layer") :].partition("\n...")[0] + more
    block = delivery.Block("UserPromptSubmit", None, text)
    arrivals = delivery.Arrivals(delivery.Sent(blocks=(block,)), "claude-code")
    for at, event in enumerate(transcript.events()):
        if isinstance(event, Injection):
            arrivals.meet(event.agent)
            arrivals.take(at, event)
    assert arrivals.by_event() == (Arrival("UserPromptSubmit", **{end: 1}),)


@pytest.mark.parametrize(
    ("shown", "end"), [(str, "whole"), (lambda block: CLAUDE_STUB[:80] + block[:-9], "cut")]
)
def test_the_log_of_a_reflection_says_how_the_layer_arrived(scene, shown, end):
    factories.a_rule_file(scene.store, then="read nodes/testing/")
    block = scene.send("40000000-0000-4000-8000-0000000000a4")
    path = scene.capture("work-routed", lambda text: with_block(text, shown(block)))
    facts = scene.reflect(path).facts
    (line,) = [line for _, line in files.read_jsonl(scene.store.trace)]
    assert facts.arrivals == (Arrival("UserPromptSubmit", **{end: 1}),)
    assert line["arrivals"] == delivery.as_json(facts.arrivals)
    assert (facts.delivered == facts.sent) == (end == "whole")


def test_arrivals_are_read_as_they_were_written():
    arrivals = [Arrival("UserPromptSubmit", 3, 2, 1, 0), Arrival("SubagentStart", unknown=1)]
    assert delivery.from_json(files.parse_json(files.dump_json(delivery.as_json(arrivals)))) == (
        arrivals
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("whole", None),
        ([{"event": "Rose", "whole": 1}, 5, {}], []),
        ([{"event": "Stop", "whole": "1", "cut": -1, "none": True}], [Arrival("Stop")]),
    ],
)
def test_a_line_that_somebody_edited_says_nothing(value, expected):
    assert delivery.from_json(value) == expected
