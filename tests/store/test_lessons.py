from __future__ import annotations

import os

import pytest

from rose import files, racy
from rose.config import Settings
from rose.errors import RoseError
from rose.store import cache, lessons


@pytest.fixture
def scan(store):
    """Return a function that reads the store's lessons from the given folders."""

    def run(*roots: str, use_cache=True):
        return lessons.scan(store, Settings(lessons_paths=roots or ("nodes",)), cache=use_cache)

    return run


def ids(shelf):
    return [lesson.id for lesson in shelf.lessons]


def rules(shelf):
    return [(finding.rule, finding.where) for finding in shelf.findings]


def test_an_empty_store_has_no_lessons_and_no_findings(scan):
    assert scan() == lessons.Shelf((), ())


def test_an_id_is_the_path_below_the_root_without_its_ending(put, scan):
    put("nodes/testing/db.md", "# DB\n")
    put("nodes/a note.md", "# Note\n")
    assert ids(scan()) == ["a note", "testing/db"]


def test_an_editor_rule_is_a_lesson_and_shares_no_id(put, scan):
    put("nodes/a.md", "# One\n")
    put("nodes/a.mdc", "# Two\n")
    put("nodes/b.mdc", "# Three\n")
    shelf = scan()
    assert [(x.id, x.title) for x in shelf.lessons] == [
        ("a", "One"),
        ("nodes/a", "Two"),
        ("b", "Three"),
    ]
    assert rules(shelf) == [("lesson-id", "nodes/a.mdc")]
    assert lessons.resolve([shelf], "a.mdc").title == "Two"
    assert lessons.resolve([shelf], "nodes/b.mdc").title == "Three"


def test_a_lesson_may_name_its_id(put, scan):
    put("nodes/a.md", "---\nid: testing/db\n---\n")
    shelf = scan()
    assert ids(shelf) == ["testing/db"]
    assert rules(shelf) == []


@pytest.mark.parametrize(
    "name",
    ["../x", "/x", "a b", "a//b", "a/../b", ".", "a\\\\b", "a\\u0007", "x" * 201, "a\\u202e"],
)
def test_an_unsafe_id_is_not_taken(put, scan, name):
    put("nodes/a.md", f'---\nid: "{name}"\n---\n')
    shelf = scan()
    assert ids(shelf) == ["a"]
    assert rules(shelf) == [("lesson-id", "nodes/a.md")]


def test_an_id_that_is_taken_stays_with_the_path_that_gives_it(put, scan):
    put("nodes/a.md", "---\nid: b\n---\n")
    put("nodes/b.md", "# B\n")
    shelf = scan()
    assert {lesson.path: lesson.id for lesson in shelf.lessons} == {
        "nodes/a.md": "a",
        "nodes/b.md": "b",
    }
    assert rules(shelf) == [("lesson-id", "nodes/a.md")]


def test_of_two_roots_the_later_keeps_its_whole_path_as_id(put, scan):
    put("nodes/a.md")
    put("docs/a.md")
    put("nodes/docs/b.md")
    put("docs/b.md")
    shelf = scan("nodes", "docs")
    assert ids(shelf) == ["a", "docs/b", "docs/a", "b"]
    assert ("lesson-id", "docs/a.md") in rules(shelf)


def test_ids_are_never_given_twice(put, scan):
    for number in range(4):
        put(f"nodes/{number}.md", "---\nid: same\n---\n")
    put("docs/0.md", "---\nid: same\n---\n")
    put("nodes/docs/0.md")
    found = ids(scan("nodes", "docs"))
    assert len(set(found)) == 6


def test_one_broken_file_among_fifty_leaves_the_others_alone(put, scan):
    for number in range(49):
        put(f"nodes/{number:02}.md", f"---\ntitle: T{number}\n---\n")
    put("nodes/zz.md", "---\ntitle: [x\nb: y\n---\n# Still here\n")
    shelf = scan()
    assert len(shelf.lessons) == 50
    assert shelf.lessons[-1].title == "Still here"
    assert rules(shelf) == [("frontmatter", "nodes/zz.md:3")]


def test_a_file_that_vanishes_or_cannot_be_read_is_reported(put, store, scan, monkeypatch):
    put("nodes/a.md", "# A\n")
    path = put("nodes/b.md", "# B\n")
    real = lessons.parse.read

    def read(name):
        if name == path:
            os.unlink(path)
        return real(name)

    monkeypatch.setattr(lessons.parse, "read", read)
    shelf = scan()
    assert ids(shelf) == ["a"]
    assert rules(shelf) == [("lesson-unreadable", "nodes/b.md")]


def test_a_scan_from_the_cache_is_the_same_scan(put, store, scan):
    put("nodes/a.md", "---\ntags: [x, y]\nevidence: [e]\nstatus: gone\n---\n# A\n\nText.\n")
    put("nodes/b.md", "---\na: 1\na: 2\n---\n")
    first = scan()
    assert scan() == first == scan(use_cache=False)


def test_an_unchanged_file_is_not_read_again(put, store, scan, monkeypatch):
    put("nodes/a.md", "# A\n")
    monkeypatch.setattr(racy, "TICK_NS", 0)
    first = scan()
    monkeypatch.setattr(lessons.parse, "read", None)
    assert scan() == first


def test_a_changed_file_is_read_again(put, scan, monkeypatch):
    monkeypatch.setattr(racy, "TICK_NS", 0)
    put("nodes/a.md", "# A\n")
    put("nodes/b.md", "# B\n")
    scan()
    put("nodes/a.md", "# Another\n")
    assert [lesson.title for lesson in scan().lessons] == ["Another", "B"]


def test_a_file_changed_within_the_tick_of_its_reading_is_read_again(put, scan):
    titles = []
    for number in range(20):
        put("nodes/a.md", f"# {number:02}\n")
        titles.append(scan().lessons[0].title)
    assert titles == [f"{number:02}" for number in range(20)]


def test_a_deleted_file_leaves_the_cache(put, store, scan, monkeypatch):
    monkeypatch.setattr(racy, "TICK_NS", 0)
    put("nodes/b.md", "# B\n")
    path = put("nodes/a.md", "# A\n")
    scan()
    os.unlink(path)
    scan()
    assert list(cache.load(store)) == ["nodes/b.md"]


@pytest.fixture
def large(put, store, scan, monkeypatch):
    """Return a store whose cache counts as large, all of it cached."""
    monkeypatch.setattr(racy, "TICK_NS", 0)
    monkeypatch.setattr(cache, "LEAST_APART", 4)
    monkeypatch.setattr(cache, "LARGEST_SHARE", 0.5)
    for number in range(8):
        put(f"nodes/{number}.md", f"# {number}\n")
    scan()
    return store


def test_in_a_large_store_a_change_is_written_apart_until_it_is_much(put, scan, large):
    base = files.stat_stamp(large.lessons_cache)
    put("nodes/1.md", "# One\n")
    assert scan() == scan(use_cache=False)
    os.unlink(os.path.join(large.base, "nodes/2.md"))
    put("nodes/new.md", "# New\n")
    assert scan() == scan(use_cache=False)
    apart = files.stat_stamp(large.lessons_changes)
    assert scan() == scan(use_cache=False)
    assert sorted(cache.load(large)) == [f"nodes/{x}.md" for x in (*"0134567", "new")]
    # The file itself is as it was, and what is known by now is not written again.
    assert files.stat_stamp(large.lessons_cache) == base
    assert files.stat_stamp(large.lessons_changes) == apart
    for number in (3, 4, 5):
        put(f"nodes/{number}.md", f"# Now {number}\n")
    assert scan() == scan(use_cache=False)
    assert files.stat_stamp(large.lessons_cache) != base
    assert not os.path.exists(large.lessons_changes)


def test_changes_that_stayed_behind_or_broke_change_no_result(put, scan, large):
    put("nodes/1.md", "# One\n")
    os.unlink(os.path.join(large.base, "nodes/2.md"))
    scan()
    left = files.read_bytes(large.lessons_changes)
    put("nodes/1.md", "# Other\n")
    put("nodes/2.md", "# Back\n")
    os.unlink(large.lessons_cache)
    wanted = scan()
    assert wanted == scan(use_cache=False)
    for content in (left, b"", b"{", left[:-2]):
        put(".rose/local/lessons.changes.json", content)
        assert scan() == scan() == wanted


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"v":1}', '{"v":99,"files":{}}', '{"v":1,"files":{"nodes/a.md":[1,2]}}'],
)
def test_a_broken_cache_is_no_cache(put, store, scan, content):
    put("nodes/a.md", "# A\n")
    put(".rose/local/lessons.json", content)
    assert ids(scan()) == ["a"]


def test_a_cache_row_of_another_shape_is_read_anew(put, store, scan, monkeypatch):
    monkeypatch.setattr(racy, "TICK_NS", 0)
    put("nodes/a.md", "# A\n")
    first = scan()
    rows = cache.load(store)
    rows["nodes/a.md"][1] = [None] * 11
    cache.save(store, {}, rows, rows)
    assert scan() == first


def test_a_disk_that_takes_no_cache_costs_only_time(put, store, scan):
    put("nodes/a.md", "# A\n")
    put(".rose/local", "a file in place of the folder")
    assert ids(scan()) == ["a"]
    assert ids(scan()) == ["a"]


def test_the_body_is_the_whole_text(put, store, scan):
    put("nodes/a.md", b"---\r\ntitle: A\r\n---\r\n\xe9\r\n")
    lesson = scan().lessons[0]
    assert lessons.body(store, lesson) == "---\r\ntitle: A\r\n---\r\n\ufffd\r\n"


@pytest.fixture
def shelf(put, scan):
    for path in ("testing/db", "testing/fixtures", "deploy/db", "deploy/rollback"):
        put(f"nodes/{path}.md", f"# {path}\n")
    put("docs/links.md", "# Links\n")
    return scan("nodes", "docs")


@pytest.mark.parametrize(
    ("ref", "wanted"),
    [
        ("testing/db", "testing/db"),
        ("nodes/testing/db.md", "testing/db"),
        ("nodes/testing/db", "testing/db"),
        ("./nodes/testing/db.md", "testing/db"),
        ("rollback", "deploy/rollback"),
        ("rollback.md", "deploy/rollback"),
        ("ures", "testing/fixtures"),
        ("xtur", "testing/fixtures"),
        ("links", "links"),
        ("docs/links.md", "links"),
        (" links ", "links"),
    ],
)
def test_a_lesson_is_named_by_its_id_its_path_or_the_end_of_one(shelf, ref, wanted):
    assert lessons.resolve([shelf], ref).id == wanted


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("db", "'db' names several lessons: deploy/db, testing/db"),
        ("s", "No lesson 's'. Did you mean"),
        ("testing/fixtrue", "Did you mean testing/fixtures"),
        ("rolback", "deploy/rollback"),
        ("zzzzzz", "rose list"),
        ("r_e5fea0", "rose route --explain"),
        ("", "No lesson"),
        ("../../etc/passwd", "No lesson"),
        ("/etc/passwd", "No lesson"),
        ("a\x1b[31m", "\\\\x1b"),
        ("x" * 1000, "No lesson"),
    ],
)
def test_what_names_no_lesson_or_several_is_refused_with_candidates(shelf, ref, words):
    with pytest.raises(RoseError, match=words):
        lessons.resolve([shelf], ref)


@pytest.mark.parametrize(
    ("ref", "wanted"), [("rollback", "deploy/rollback"), ("docs/links.md", "links")]
)
def test_a_whole_name_is_enough_where_a_part_is_not(shelf, ref, wanted):
    assert lessons.resolve([shelf], ref, whole=True).id == wanted
    with pytest.raises(RoseError, match="Did you mean"):
        lessons.resolve([shelf], ref.removesuffix(".md")[2:], whole=True)


def test_a_numbered_lesson_stands_after_its_namesake(put, scan):
    for name in ("same-2", "same", "same-10"):
        put(f"nodes/{name}.md")
    assert [lesson.id for lesson in scan().lessons] == ["same", "same-10", "same-2"]


def test_at_most_five_candidates_are_named(put, scan):
    for number in range(9):
        put(f"nodes/{number}/same.md")
    with pytest.raises(RoseError) as refusal:
        lessons.resolve([scan()], "same")
    assert str(refusal.value).count("/same") == 5


def test_an_exact_id_wins_over_the_end_of_another(put, scan):
    put("nodes/a.md")
    put("nodes/b/a.md")
    assert lessons.resolve([scan()], "a").path == "nodes/a.md"


def test_an_empty_store_says_how_to_add_a_lesson(scan):
    with pytest.raises(RoseError, match="rose add"):
        lessons.resolve([scan()], "x")


def test_the_projects_lesson_hides_one_of_home_with_the_same_id(shelf):
    at_home = lessons.Shelf(
        tuple(lessons.replace(lesson, store="home") for lesson in shelf.lessons), ()
    )
    assert lessons.resolve([shelf, at_home], "rollback").store == "project"
    assert lessons.resolve([lessons.Shelf((), ()), at_home], "rollback").store == "home"
