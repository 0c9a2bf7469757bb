from __future__ import annotations

import os

import pytest

from rose import files, layout, refresh, session
from rose.reflection import prune
from tests.factories import a_lesson_file, a_rule_file, a_store

NOW = 2_000_000_000.0
DAY = prune.DAY_S


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md")
    a_rule_file(made)
    refresh.everything(layout.Stores(made, None, ""))
    return made


def a_file(path: str, days_old: float, text: str = "x\n") -> str:
    files.replace(path, text)
    os.utime(path, (NOW - days_old * DAY,) * 2)
    return path


def test_a_note_goes_after_sixty_days_and_not_before(store):
    old = a_file(os.path.join(store.sessions, "a.jsonl"), 61)
    young = a_file(os.path.join(store.sessions, "b.jsonl"), 59)
    prune.prune(store, NOW)
    assert (os.path.exists(old), os.path.exists(young)) == (False, True)


def test_a_block_stays_as_long_as_a_note_names_it(store):
    layer = {"digest": "named", "revision": "r", "rules": []}
    note = session.sent_line("UserPromptSubmit", None, layer)
    a_file(os.path.join(store.sessions, "a.jsonl"), 1, note + "\n")
    kept = a_file(os.path.join(store.blocks, "named.txt"), 30)
    gone = a_file(os.path.join(store.blocks, "unnamed.txt"), 30)
    fresh = a_file(os.path.join(store.blocks, "fresh.txt"), 0.5)
    prune.prune(store, NOW)
    assert [os.path.exists(path) for path in (kept, gone, fresh)] == [True, False, True]


def test_the_block_of_the_present_layer_stays(store):
    [name] = os.listdir(store.blocks)
    os.utime(os.path.join(store.blocks, name), (NOW - 90 * DAY,) * 2)
    prune.prune(store, NOW)
    assert os.listdir(store.blocks) == [name]


@pytest.mark.parametrize(
    ("folder", "suffix", "kept"),
    [("sessions", ".rows", prune.KEPT_ROWS), ("undo", ".json", prune.KEPT_UNDOS)],
)
def test_the_newest_of_their_kind_stay(store, folder, suffix, kept):
    base = getattr(store, folder)
    for number in range(kept + 3):
        a_file(os.path.join(base, f"{number:04}{suffix}"), number / 100)
    prune.prune(store, NOW)
    assert sorted(os.listdir(base)) == [f"{number:04}{suffix}" for number in range(kept)]


def test_what_a_killed_write_left_goes_after_a_day(store):
    old = a_file(os.path.join(store.routing, "r_000001.md.12.ab.tmp"), 2)
    young = a_file(os.path.join(store.routing, "r_000002.md.12.ab.tmp"), 0.1)
    rules = [name for name in os.listdir(store.routing) if name.endswith(".md")]
    prune.prune(store, NOW)
    assert (os.path.exists(old), os.path.exists(young)) == (False, True)
    assert [name for name in os.listdir(store.routing) if name.endswith(".md")] == rules


def test_nothing_goes_that_a_link_in_the_store_leads_to(store, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    old = a_file(str(mine / "notes.jsonl"), 90)
    os.symlink(mine, store.sessions)
    prune.prune(store, NOW)
    assert os.path.exists(old)


def test_an_empty_store_is_no_reason_to_fail(tmp_path):
    assert prune.prune(layout.project_store(str(tmp_path)), NOW) == 0
