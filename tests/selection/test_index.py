"""The search index: right results whatever happened to its file, and never an error."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import math
import multiprocessing
import os
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import derived, files, layout, prompt, refresh
from rose import text as texts
from rose.selection import index, index_file, index_rows, index_score
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUERY = ["alpha", "beta", "gamma"]


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/one.md", "# One\n\nalpha beta beta\n")
    a_lesson_file(made, "nodes/two.md", "# Two\n\nalpha " + "filler " * 30 + "\n")
    a_lesson_file(made, "nodes/three.md", "# Three\n\ngamma max_tokens 运行测试 हिन्दी E501 ci\n")
    a_lesson_file(made, "nodes/deploy/four.md", "# Four\n\nnothing of it\n")
    return made


def found(store, *terms: str, k=10, **options):
    with contextlib.closing(index.open_index([lessons.hold(store)])) as opened:
        return opened.hits(terms or QUERY, k, **options)


def rebuilt(store):
    """Return what an index that never saw a file finds."""
    shelf = index.Index([index._Shelf(lessons.hold(store), frozenset(), None)])
    with contextlib.closing(shelf) as opened:
        for one in opened._shelves:
            one.close()
            one._open(index_file.in_memory(lessons.hold(store)))
        return opened.hits(QUERY, 10)


def plain_bm25(documents, terms):
    """Return BM25 of each document, worked out one by one."""
    average = sum(map(len, documents.values())) / len(documents) or 1
    scores = {}
    for name, words in documents.items():
        score = 0.0
        for term in dict.fromkeys(terms):
            n = sum(term in other for other in documents.values())
            worth = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
            times = words.count(term)
            score += worth * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words) / average))
        if score:
            scores[name] = score
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def pages_of(documents):
    return [
        index_rows.Page(f"nodes/{name}.md", name, "v", words) for name, words in documents.items()
    ]


def volume_of(documents):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    index_rows.create(connection)
    for page in pages_of(documents):
        index_rows.put(connection, page)
    return connection, index_score.Volume(connection)


WORDS = st.lists(st.sampled_from("abcdefg"), max_size=12)


@settings(max_examples=100)
@given(
    documents=st.dictionaries(st.sampled_from("pqrstuvwxyz"), WORDS, min_size=1, max_size=11),
    terms=WORDS,
    k=st.integers(1, 12),
    parted=st.integers(0, 11),
)
def test_scores_are_those_of_plain_bm25_over_all_indexes_together(documents, terms, k, parted):
    names = sorted(documents)
    halves = [{n: documents[n] for n in part} for part in (names[:parted], names[parted:])]
    made = [volume_of(half) for half in halves]
    got = index_score.best([volume for _, volume in made], [None, None], terms, k)
    for connection, _ in made:
        connection.close()
    wanted = plain_bm25(documents, terms)
    assert [score for _, score in got] == pytest.approx([s for _, s in wanted[:k]])
    assert dict(got) == pytest.approx({name: dict(wanted)[name] for name, _ in got})
    assert got == sorted(got, key=lambda item: (-item[1], item[0]))


@settings(max_examples=100)
@given(
    documents=st.dictionaries(st.sampled_from("pqrstuvwxyz"), WORDS, min_size=1, max_size=11),
    terms=WORDS,
    most=st.integers(1, 30),
)
def test_what_is_not_read_through_still_counts_for_what_the_rarer_terms_found(
    documents, terms, most
):
    connection, volume = volume_of(documents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_score, "MOST_POSTINGS", most)
        bounded = index_score.best([volume], [None], terms, 12)
    connection.close()
    exact = dict(plain_bm25(documents, terms))
    assert dict(bounded) == pytest.approx({name: exact[name] for name, _ in bounded})
    assert bool(bounded) == bool(exact)


def test_the_rarest_terms_choose_where_not_all_can_be_read(monkeypatch):
    documents = {f"d{n:02}": ["common"] for n in range(20)} | {"rare": ["rare", "common"]}
    monkeypatch.setattr(index_score, "MOST_POSTINGS", 5)
    connection, volume = volume_of(documents)
    with contextlib.closing(connection):
        assert [name for name, _ in _best(volume, ["common", "rare"])] == ["rare"]
        assert len(_best(volume, ["common"])) == 3
        narrowed = index_score.best([volume], [{4, 5}], ["common", "rare"], 3)
        assert [name for name, _ in narrowed] == ["d03", "d04"]


def _best(volume, terms):
    return index_score.best([volume], [None], terms, 3)


def test_a_short_lesson_about_it_beats_a_long_one_that_mentions_it_twice(store):
    a_lesson_file(store, "nodes/long.md", "# Long\n\nbeta " + "filler " * 300 + "beta\n")
    a_lesson_file(store, "nodes/short.md", "# Short\n\nbeta is the thing\n")
    assert [name for name, _ in found(store, "beta")] == ["one", "short", "long"]


def test_equal_scores_come_in_order_of_id(store):
    for name in ("zz", "nn", "cc"):
        a_lesson_file(store, f"nodes/{name}.md", "# x\n\nomega\n")
    assert [name for name, _ in found(store, "omega", k=2)] == ["cc", "nn"]


@pytest.mark.parametrize("query", ["ci", "MAX_TOKENS", "tokens", "测试", "हिन्दी", "e501", "three"])
def test_a_word_of_any_script_and_length_is_found(store, query):
    assert [name for name, _ in found(store, *texts.words(query))] == ["three"]


def test_path_and_title_are_found_and_count_for_more_than_the_text(store):
    a_lesson_file(store, "nodes/five.md", "# Five\n\ndeploy\n")
    a_lesson_file(store, "nodes/six.md", "# Deploy\n\nx\n")
    assert [name for name, _ in found(store, "deploy")] == ["six", "deploy/four", "five"]


HEADER = """---
id: five-ids
title: Zebras
description: Where the okapi lives.
tags: [lemur, "tapir"]
status: active
origin: manual
created: 2026-12-01
globs: [savannah/**]
evidence:
  - quote: The gnu was there.
---
Something else.
"""


@pytest.mark.parametrize(
    "query",
    ["origin", "manual", "title", "tags", "description", "status", "created", "2026", "globs"],
)
@pytest.mark.parametrize("header", [HEADER, HEADER.replace("title: Z", "title: [Z")])
def test_a_header_is_not_what_a_lesson_is_found_by(store, header, query):
    a_lesson_file(store, "nodes/five.md", header)
    assert found(store, query, "savannah", "gnu") == []


@pytest.mark.parametrize("query", ["okapi", "lemur", "tapir", "something", "zebras"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_what_a_lesson_says_of_itself_is(store, query, newline, bom):
    a_lesson_file(store, "nodes/five.md", bom + HEADER.replace("\n", newline))
    assert [name for name, _ in found(store, query)] == ["five-ids"]


@pytest.mark.parametrize("query", ["okapi", "lemur", "something"])
def test_what_a_broken_header_seems_to_say_of_it_is_too(store, query):
    a_lesson_file(store, "nodes/five.md", HEADER.replace("origin: m", "origin: [m"))
    assert [name for name, _ in found(store, query)] == ["five"]


def test_a_header_without_a_word_of_the_lesson_moves_no_score(store):
    text = "# Five\n\nomega and some more words\n"
    a_lesson_file(store, "nodes/five.md", text)
    [(_, before)] = found(store, "omega")
    header = "---\norigin: manual\ncreated: 2026-12-01\nlong: many other words here\n---\n"
    a_lesson_file(store, "nodes/five.md", header + text)
    assert found(store, "omega") == [("five", before)]


def test_only_lessons_in_use_are_found(store):
    a_lesson_file(store, "nodes/one.md", "---\nstatus: archived\n---\nalpha beta\n")
    assert [name for name, _ in found(store, "alpha")] == ["two"]


def test_within_narrows_the_result_and_not_the_worth_of_a_term(store):
    whole = dict(found(store, "alpha"))
    assert found(store, "alpha", within={"two", "three"}) == [("two", whole["two"])]


@pytest.mark.parametrize("terms", [[], ["nowhere"], [""], ['"'], ["a b"]])
def test_terms_that_no_lesson_holds_find_nothing(store, terms):
    with contextlib.closing(index.open_index([lessons.hold(store)])) as opened:
        assert opened.hits(terms, 5) == []


def test_an_empty_store_finds_nothing(tmp_path):
    assert found(a_store(tmp_path)) == []


def test_two_stores_are_answered_as_one_and_the_first_hides_an_equal_id(tmp_path, store):
    base = tmp_path / "home" / ".rose"
    base.mkdir()
    home = layout.Store(str(base), str(base), "home")
    a_lesson_file(home, "nodes/one.md", "# Hidden\n\nalpha alpha alpha\n")
    a_lesson_file(home, "nodes/far.md", "# Far\n\nalpha alpha\n")
    holdings = [lessons.hold(store), lessons.hold(home)]
    with contextlib.closing(index.open_index(holdings)) as opened:
        names = [name for name, _ in opened.hits(["alpha"], 10)]
        assert opened.hits(["hidden"], 10) == []
        assert opened.hits(["alpha"], 10, within={"far"})[0][0] == "far"
    assert sorted(names) == ["far", "one", "two"]
    assert names[0] == "far"


# What becomes of the file


def believed(store) -> bool:
    book = index_file.reopen(store, index_file.parts_of(lessons.hold(store).shelf.active()))
    if book is not None:
        book.connection.close()
    return book is not None


def test_a_file_that_is_up_to_date_is_only_read(store):
    first = found(store)
    stamp = files.stat_stamp(store.search)
    with contextlib.closing(index.open_index([lessons.hold(store)])) as opened:
        assert [opened.hits(QUERY, 10) for _ in range(3)] == [first] * 3
    assert files.stat_stamp(store.search) == stamp
    assert believed(store)


def test_after_any_changes_the_file_gives_what_a_new_one_gives(store):
    found(store)
    a_lesson_file(store, "nodes/one.md", "# One\n\ngamma gamma\n")
    os.unlink(os.path.join(store.base, "nodes/two.md"))
    a_lesson_file(store, "nodes/five.md", "# Five\n\nbeta\n")
    changed = found(store)
    os.rename(os.path.join(store.base, "nodes/five.md"), os.path.join(store.base, "nodes/six.md"))
    a_lesson_file(store, "nodes/three.md", "---\nid: renamed\n---\nalpha\n")
    moved = found(store)
    assert believed(store)
    assert {name for name, _ in changed} == {"one", "three", "five"}
    assert {name for name, _ in moved} == {"one", "renamed", "six"}
    assert moved == rebuilt(store)


def test_only_what_changed_is_read_again(store):
    found(store)
    a_lesson_file(store, "nodes/one.md", "# One\n\nomega\n")
    told = []
    holding = lessons.hold(store)
    index.open_index([holding], lambda *numbers: told.append(numbers)).close()
    index.open_index([holding], lambda *numbers: told.append(numbers)).close()
    assert told == [(1, 1)]


def some_lessons(count):
    """Return lessons as a scan gives them, each version a digest."""
    made = []
    for number in range(count):
        version = hashlib.sha256(str(number).encode()).hexdigest()[:16]
        known = (f"l{number:05}", f"nodes/l{number:05}.md", "T", "", (), "active", "", "", (), "")
        made.append(lessons.Lesson(*known, version, "project", "nodes"))
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda found: [*found[:700], dataclasses.replace(found[700], version="ff"), *found[701:]],
        lambda found: [*found[:700], dataclasses.replace(found[700], version="00"), *found[701:]],
        lambda found: [*found[:700], *found[701:]],
        lambda found: [*found[:700], dataclasses.replace(found[0], path="nodes/x"), *found[700:]],
    ],
    ids=["edited", "a new border", "lost", "new"],
)
def test_one_change_leaves_nearly_all_parts_as_they_were(change):
    before = some_lessons(5000)
    parts, changed = index_file.parts_of(before), index_file.parts_of(change(before))
    assert [lesson for part in parts.values() for lesson in part] == before
    assert [lesson for part in changed.values() for lesson in part] == change(before)
    assert len(parts) > 10
    assert 1 <= len(changed.keys() - parts.keys()) <= 2


def test_a_store_that_is_trusted_anew_has_no_index_from_before(store):
    found(store)
    refresh.afresh(layout.Stores(store, None, ""), store)
    assert not os.path.exists(store.search)
    assert not os.path.exists(store.search_state)


def _overwrite(store, offset, data):
    with open(store.search, "r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def _foreign(store):
    """Put a database there that would run code of its own on the first change."""
    os.unlink(store.search)
    with contextlib.closing(sqlite3.connect(store.search)) as other:
        index_rows.create(other)
        other.execute("CREATE TABLE ran(n)")
        other.execute(
            "CREATE TRIGGER t AFTER INSERT ON lessons BEGIN INSERT INTO ran VALUES(1); END"
        )
        other.execute("INSERT INTO lessons VALUES(1, 'nodes/one.md', 'evil', 'v', 1)")
        other.execute("INSERT INTO text(rowid, words) VALUES(1, 'alpha')")
        other.commit()


def _link(store):
    target = os.path.join(store.base, "precious.txt")
    os.unlink(store.search)
    os.symlink(target, store.search)


SPOILS = {
    "truncated": lambda store: os.truncate(store.search, os.path.getsize(store.search) // 2),
    "empty": lambda store: os.truncate(store.search, 0),
    "garbage": lambda store: _overwrite(store, 0, b"garbage" * 99),
    "one byte": lambda store: _overwrite(store, os.path.getsize(store.search) - 30, b"\x07"),
    "foreign": _foreign,
    "gone": lambda store: os.unlink(store.search),
    "no state": lambda store: os.unlink(store.search_state),
    "torn state": lambda store: os.truncate(store.search_state, 20),
    "old version": lambda store: derived.save(
        store.search_state, {**derived.load(store.search_state), "v": 0}
    ),
    "wrong shape": lambda store: derived.save(store.search_state, {"v": index_file.VERSION}),
    "a link": _link,
    "a journal": lambda store: a_lesson_file(store, ".rose/local/search.db-journal", "x" * 600),
    "a log": lambda store: a_lesson_file(store, ".rose/local/search.db-wal", "x" * 600),
    "copied": lambda store: (
        os.rename(store.search, store.search + "2"),
        files.replace(store.search, files.read_bytes(store.search + "2")),
    ),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_file_that_is_not_as_its_writer_left_it_is_made_again(store, spoil):
    before = found(store)
    spoil(store)
    assert not believed(store)
    assert found(store) == before
    assert believed(store)
    assert not [name for name in os.listdir(store.local) if name.startswith("search.db-")]
    with contextlib.closing(sqlite3.connect(store.search)) as file:
        kinds = {row[0] for row in file.execute("SELECT type FROM sqlite_master")}
    assert kinds <= {"table", "index"}
    assert not os.path.exists(os.path.join(store.base, "precious.txt"))


def test_a_file_that_breaks_while_it_is_open_costs_no_result(store):
    before = found(store)
    with contextlib.closing(index.open_index([lessons.hold(store)])) as opened:
        _overwrite(store, 4096, b"\xff" * 9000)
        assert opened.hits(QUERY, 10) == before
        assert opened.hits(QUERY, 10) == before
    assert found(store) == before
    assert believed(store)


def test_a_file_that_is_believed_and_broken_is_left_and_made_again(store):
    before = found(store)
    _overwrite(store, 4096, b"\xff" * 9000)
    state = derived.load(store.search_state)
    derived.save(store.search_state, {**state, "stamp": files.stat_stamp(store.search)})
    assert believed(store)
    assert found(store) == before
    assert found(store) == before
    assert believed(store)


def test_a_change_by_another_process_is_seen_by_an_index_that_is_open(store):
    with contextlib.closing(index.open_index([lessons.hold(store)])) as opened:
        assert [name for name, _ in opened.hits(["gamma"], 5)] == ["three"]
        a_lesson_file(store, "nodes/new.md", "# New\n\ngamma gamma\n")
        found(store)
        assert [name for name, _ in opened.hits(["gamma"], 5)] == ["new", "three"]


def test_a_disk_that_takes_no_file_gives_the_same_result(store):
    os.makedirs(store.dot, exist_ok=True)
    with open(store.local, "w", encoding="utf-8") as stream:
        stream.write("a file in place of the folder")
    assert found(store) == rebuilt(store)
    assert os.path.isfile(store.local)


def test_a_folder_of_rose_that_is_a_link_is_not_written_to(store, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.symlink(elsewhere, store.local)
    assert found(store) == rebuilt(store)
    assert list(elsewhere.iterdir()) == []


def test_a_held_lock_is_waited_for_a_while_and_then_done_without(store, monkeypatch):
    found(store)
    monkeypatch.setattr(index_file, "LOCK_WAIT_S", 0.05)
    a_lesson_file(store, "nodes/new.md", "# New\n\nalpha alpha beta\n")
    with files.lock(store.search_lock):
        assert "new" in dict(found(store))
        assert not believed(store)
    assert "new" in dict(found(store))
    assert believed(store)


def test_whoever_waits_for_the_file_is_done_well_before_a_prompt_waits_no_longer():
    # Once to bring it up to date, and once more to take away a file that turns out to be broken.
    assert 2 * (index_file.LOCK_WAIT_S + index_file.BUSY_WAIT_S) < prompt.ALL_S * 2 / 3


def test_a_file_that_another_program_locks_is_done_without(store, monkeypatch):
    before = found(store)
    monkeypatch.setattr(index_file, "BUSY_WAIT_S", 0.05)
    monkeypatch.setattr(index_file, "LOCK_WAIT_S", 0.05)
    with contextlib.closing(sqlite3.connect(store.search, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with files.lock(store.search_lock):
            assert found(store) == before
            a_lesson_file(store, "nodes/new.md", "# New\n\nalpha\n")
            assert "new" in dict(found(store))
        other.execute("ROLLBACK")
    assert "new" in dict(found(store))


def test_a_broken_file_that_nobody_may_mend_is_done_without(store, monkeypatch):
    found(store)
    _overwrite(store, 4096, b"\xff" * 9000)
    state = derived.load(store.search_state)
    derived.save(store.search_state, {**state, "stamp": files.stat_stamp(store.search)})
    monkeypatch.setattr(index_file, "LOCK_WAIT_S", 0.05)
    a_lesson_file(store, "nodes/new.md", "# New\n\nalpha\n")
    with files.lock(store.search_lock):
        assert "new" in dict(found(store))


def test_a_lesson_that_is_gone_before_it_is_read_is_not_found_and_comes_back(store):
    holding = lessons.hold(store)
    full = os.path.join(store.base, "nodes/one.md")
    os.rename(full, full + ".away")
    with contextlib.closing(index.open_index([holding])) as opened:
        assert [name for name, _ in opened.hits(["beta"], 5)] == []
    os.rename(full + ".away", full)
    assert [name for name, _ in found(store, "beta")] == ["one"]


def work(base: str, number: int) -> None:
    """Change lessons and search, as a session beside others does."""
    store = layout.project_store(base)
    for turn in range(6):
        a_lesson_file(store, f"nodes/w{number}.md", f"# W\n\nalpha {'beta ' * turn}omega{number}\n")
        assert [name for name, _ in found(store, f"omega{number}")] == [f"w{number}"]


def test_processes_that_write_and_read_at_once_all_find_their_own(store):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(store.base, n)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    assert found(store) == rebuilt(store)


def test_a_writer_that_is_killed_leaves_nothing_that_is_believed_and_wrong(store):
    for number in range(60):
        a_lesson_file(store, f"nodes/k{number}.md", f"# K\n\nalpha {'filler ' * number}beta\n")
    program = (
        "import sys, os; sys.path.insert(0, sys.argv[1]);"
        "from rose import layout; from rose.store import lessons;"
        "from rose.selection import index, index_rows;"
        "index_rows.BATCH = 10; kill = lambda done, total: done >= 30 and os.kill(os.getpid(), 9);"
        "index.open_index([lessons.hold(layout.project_store(sys.argv[2]))], kill)"
    )
    killed = subprocess.run([sys.executable, "-c", program, ROOT, store.base], check=False)
    assert killed.returncode == -9
    told = []
    index.open_index([lessons.hold(store)], lambda *numbers: told.append(numbers)).close()
    assert told
    assert told[0][1] in (34, 44, 64)
    assert found(store) == rebuilt(store)


def test_a_new_way_to_cut_words_comes_with_a_new_version():
    """Whoever changes the tokenizer raises `index_rows.VERSION`, and then this line."""
    sample = "The max_tokens of HTTPServer2, Straße, 运行测试, हिन्दी か\u3099 E501 don't a/b.md #x"
    cut = hashlib.sha256(" ".join(texts.words(sample)).encode()).hexdigest()[:8]
    tables = hashlib.sha256("".join(index_rows._SCHEMA).encode()).hexdigest()[:8]
    found = (index_rows.VERSION, cut, tables, index_rows.NAME_WEIGHT)
    assert found == (3, "4ec7afcd", "2897b879", 3)


def test_results_are_the_same_under_any_hash_seed(store):
    found(store)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from rose import layout; from rose.store import lessons; from rose.selection import index;"
        "x = index.open_index([lessons.hold(layout.project_store(sys.argv[2]))]);"
        "print(x.hits(['beta', 'gamma', 'alpha', 'filler'], 9)); x.close()"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, ROOT, store.base],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "2", "3", "4", "5")
    }
    assert len(printed) == 1
    assert b"one" in printed.pop()
