"""Delivery: what was sent, and what the host shows to have arrived."""

from __future__ import annotations

import os

import pytest

from rose import files, layout, session
from rose.hosts.base import Injection
from rose.reflection import delivery
from tests import factories

LINE = "- When the task is a: read nodes/a.md"
OTHER = "- When the task is b: read nodes/b.md"
BLOCK = f"rose routing layer v1: x\nStore: /repo\n{LINE}\n{OTHER}"
RULES = ["r_00000a", "r_00000b"]


@pytest.fixture
def store(tmp_path):
    store = factories.a_store(tmp_path)
    files.replace(os.path.join(store.blocks, "0123456789abcdef.txt"), BLOCK)
    return store


def note(store, rules=RULES, block="0123456789abcdef"):
    path = session.note_path(store.sessions, layout.session_name("claude-code", "s"))
    layer = {"digest": block, "revision": "1", "rules": rules}
    files.append_line(path, session.sent_line("UserPromptSubmit", None, layer))


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
