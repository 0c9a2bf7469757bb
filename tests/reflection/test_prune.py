from __future__ import annotations

import os

import pytest

from rose import files, layout, refresh, session
from rose.errors import Locked
from rose.reflection import prune
from rose.selection import trace
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


def test_what_a_killed_write_left_beside_a_lesson_goes_after_a_day(store, tmp_path):
    """Nothing that a person may have named, and nothing behind a link, is taken for it."""
    files.replace(store.config, "lessons:\n  paths: [nodes, docs]\n")
    names = ["nodes/learned/l1.md.1.x.tmp", "nodes/l2.md.12.tmp", "nodes/l.12.ab.tmp"]
    names += ["nodes/l3.md.12.ab.tmp.bak", "src/l4.md.12.ab.tmp", "nodes/.git/l6.md.12.ab.tmp"]
    kept = [a_file(os.path.join(store.base, name), 9) for name in names]
    kept.append(a_file(os.path.join(store.base, "nodes/l5.md.12.ab.tmp"), 0.5))
    kept.append(a_file(str(tmp_path / "mine" / "l7.md.12.ab.tmp"), 9))
    os.symlink(tmp_path / "mine", os.path.join(store.base, "nodes/linked"))
    names = ["nodes/learned/l1.md.4711.2f0a.tmp", "docs/a.mdc.1.0.tmp"]
    gone = [a_file(os.path.join(store.base, name), 2) for name in names]
    prune.prune(store, NOW)
    assert [path for path in gone if os.path.exists(path)] == []
    assert [path for path in kept if not os.path.exists(path)] == []


def test_nothing_goes_that_a_link_in_the_store_leads_to(store, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    old = a_file(str(mine / "notes.jsonl"), 90)
    os.symlink(mine, store.sessions)
    prune.prune(store, NOW)
    assert os.path.exists(old)


def test_traces_beyond_their_limit_lose_the_oldest_and_no_line_is_torn(store):
    files.append_line(store.selections, '{"id":"t_old"}')
    os.truncate(store.selections, trace.MOST_BYTES)
    prune.prune(store, NOW)
    assert os.path.getsize(store.selections) == trace.MOST_BYTES
    files.append_line(store.selections, '{"id":"t_1"}')
    files.append_line(store.selections, '{"id":"t_2"}')
    prune.prune(store, NOW)
    assert files.read_text(store.selections) == '{"id":"t_1"}\n{"id":"t_2"}\n'


def test_what_a_killed_shortening_left_goes_too(store):
    old = a_file(f"{store.selections}.12.ab.tmp", 2)
    prune.prune(store, NOW)
    assert not os.path.exists(old)


def test_traces_that_somebody_is_writing_to_are_not_shortened(store):
    files.append_line(store.selections, "{}")
    os.truncate(store.selections, trace.MOST_BYTES + 1)
    with files.lock(store.selections_lock), pytest.raises(Locked):
        trace.shorten(store, wait_s=0)
    assert os.path.getsize(store.selections) == trace.MOST_BYTES + 1


def test_an_empty_store_is_no_reason_to_fail(tmp_path):
    assert prune.prune(layout.project_store(str(tmp_path)), NOW) == 0
