from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from rose import derived
from rose.errors import Unwritable
from rose.routing import cases, ledger
from tests.factories import a_ledger_line
from tests.routing.samples import a_store, record, tree, write


def _line(session: str, n: int = 0, **fields: object) -> dict[str, object]:
    return {"v": 1, "session": session, "n": n, "rows": 1, **fields}


def test_a_store_without_a_ledger_has_an_empty_record(tmp_path):
    assert ledger.read(a_store(tmp_path)) == cases.Record()


def test_every_line_gets_the_next_n(tmp_path):
    store = a_store(tmp_path)
    assert [a_ledger_line(store, lambda n: _line(f"s{n}")) for _ in range(3)] == [1, 2, 3]
    assert [case.session for case in ledger.read(store).cases] == ["s1", "s2", "s3"]


def test_the_next_n_is_above_every_writer_and_both_places(tmp_path):
    store = a_store(tmp_path)
    record(store, _line("a", 5), writer="aaaaaaaaaaaa")
    write(f"{store.ledger('commit')}/bbbbbbbbbbbb.jsonl", json.dumps(_line("b", 8)) + "\n")
    assert a_ledger_line(store, lambda n: _line("c", n)) == 9
    assert [case.session for case in ledger.read(store).cases] == ["a", "b", "c"]


def test_torn_and_foreign_lines_are_counted_and_the_others_stand(tmp_path):
    store = a_store(tmp_path)
    whole = json.dumps(_line("a", 1))
    text = f'{whole}\r\n{{"torn\n\n[1]\n"x"\n\xff\n{"[" * 100_000}\n{json.dumps(_line("b", 2))}'
    write(f"{store.ledger('local')}/x.jsonl", text.encode("latin-1"))
    found = ledger.read(store)
    assert [case.session for case in found.cases] == ["a", "b"]
    assert found.foreign == 5


def test_a_line_after_a_torn_tail_is_not_lost(tmp_path):
    store = a_store(tmp_path)
    path = f"{store.ledger('local')}/{ledger.writer_name(store)}.jsonl"
    write(path, json.dumps(_line("a", 1)) + '\n{"session":"b","n"')
    a_ledger_line(store, lambda n: _line("c", n))
    assert [case.session for case in ledger.read(store).cases] == ["a", "c"]


def test_a_session_is_taken_back_and_may_count_again(tmp_path):
    store = a_store(tmp_path)
    a_ledger_line(store, lambda n: _line("a", n))
    ledger.undo_locked(store, "local", "a")
    assert ledger.read(store).undone == {"a"}
    a_ledger_line(store, lambda n: _line("a", n))
    assert [case.n for case in ledger.read(store).cases] == [3]


def test_appends_at_the_same_time_are_all_kept(tmp_path):
    store = a_store(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        given = list(
            pool.map(lambda i: a_ledger_line(store, lambda n: _line(f"s{i}", n)), range(40))
        )
    assert sorted(given) == list(range(1, 41))
    assert len(ledger.read(store).cases) == 40


def test_a_refused_write_is_said_and_leaves_the_tree_as_it_was(tmp_path):
    store = a_store(tmp_path)
    write(store.local, "a file in place of the folder")
    before = tree(store.base)
    with pytest.raises(Unwritable):
        a_ledger_line(store, lambda n: _line("a", n))
    assert tree(store.base) == before


def test_the_writers_name_stays(tmp_path):
    store = a_store(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: a_ledger_line(store, lambda n: _line(f"s{i}", n)), range(32)))
    assert len(os.listdir(store.ledger("local"))) == 1


@pytest.mark.parametrize("content", [b"", b"../../x", b"\xff", b"0123456789AB\n"])
def test_a_spoilt_writers_name_is_made_anew(tmp_path, content):
    store = a_store(tmp_path)
    write(f"{store.local}/writer", content)
    name = ledger.writer_name(store)
    assert len(name) == 12
    assert ledger.writer_name(store) == name


@pytest.fixture
def snapshot(monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_AFTER_BYTES", 0)


def test_a_snapshot_and_its_tail_give_the_same_as_the_files(tmp_path, snapshot):
    store = a_store(tmp_path)
    for number in range(4):
        a_ledger_line(store, lambda n, i=number: _line(f"s{i}", n))
        ledger.read(store)
    ledger.undo_locked(store, "local", "s1")
    assert os.path.exists(store.ledger_cache)
    assert ledger.read(store) == ledger.read(store, cache=False)


def test_a_rewritten_ledger_is_read_again(tmp_path, snapshot):
    store = a_store(tmp_path)
    record(store, _line("a", 1), _line("b", 2))
    ledger.read(store)
    record(store, _line("c", 1), _line("b", 2), _line("d", 3))
    assert [case.session for case in ledger.read(store).cases] == ["c", "b", "d"]


def test_a_deleted_ledger_counts_no_more(tmp_path, snapshot):
    store = a_store(tmp_path)
    record(store, _line("a", 1))
    ledger.read(store)
    os.unlink(f"{store.ledger('local')}/0123456789ab.jsonl")
    assert ledger.read(store) == cases.Record()


@pytest.mark.parametrize("field", ["size", "n", "foreign", "lines", "undone", "digest"])
@pytest.mark.parametrize("value", [None, "x", -1, {"a": "b"}, {"a": 1}, {"a": [1]}])
def test_a_spoilt_snapshot_never_crashes(tmp_path, snapshot, field, value):
    store = a_store(tmp_path)
    record(store, _line("a", 1))
    ledger.read(store)
    stored = derived.load(store.ledger_cache)
    for row in stored["files"].values():
        row[field] = value
    derived.save(store.ledger_cache, stored)
    assert ledger.read(store).next_n >= 1
