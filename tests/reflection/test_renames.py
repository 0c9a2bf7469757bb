"""Rules follow their lessons where git knows of the move, and by nothing but the path."""

from __future__ import annotations

import os

import pytest

from rose import files, yamltext
from rose.layout import Stores
from rose.reflection import renames, undo
from rose.reflection.renames import Ground
from rose.routing import forgotten, ledger, table
from rose.routing.evidence import standings
from rose.routing.rules import Rule
from rose.store import lessons
from tests import factories
from tests.history.repos import git, in_head
from tests.reflection import several

AT = "2026-11-30T12:00:00Z"
RULE = "r_0000aa"
BODY = "# {}\n\n" + "".join(f"Line {number} of it.\n" for number in range(20))


def heirs(target: str, paths, moves) -> dict[str, str]:
    return Ground(sorted(paths), moves, ("nodes",)).heirs([target])


@pytest.mark.parametrize(
    ("target", "new"),
    [
        ("nodes/old/a.md", "nodes/new/a.md"),
        ("nodes/old/", "nodes/new/"),
        ("nodes/old", "nodes/new"),
        ("nodes/old/*.md", "nodes/new/*.md"),
        ("nodes/old/sub/", "nodes/new/sub/"),
        ("nodes/old/**/c*.md", "nodes/new/**/c*.md"),
    ],
)
def test_files_folders_and_globs_follow_a_folder_that_was_renamed_as_a_whole(target, new):
    inside = ("a.md", "b.md", "sub/c.md")
    moves = {f"nodes/old/{name}": f"nodes/new/{name}" for name in inside}
    assert heirs(target, moves.values(), moves) == {target: new}


@pytest.mark.parametrize(
    ("target", "paths", "moves"),
    [
        ("nodes/a.md", ["nodes/a.md", "nodes/b.md"], {"nodes/a.md": "nodes/b.md"}),
        ("nodes/a.md", ["nodes/c.md"], {"nodes/a.md": "nodes/b.md"}),
        ("nodes/a.md", ["nodes/my file.md"], {"nodes/a.md": "nodes/my file.md"}),
        ("nodes/a.md", ["nodes/</x>.md"], {"nodes/a.md": "nodes/</x>.md"}),
        ("nodes/a.md", ["nodes/b\u202e.md"], {"nodes/a.md": "nodes/b\u202e.md"}),
        (
            "nodes/old/",
            ["nodes/x/a.md", "nodes/y/b.md"],
            {"nodes/old/a.md": "nodes/x/a.md", "nodes/old/b.md": "nodes/y/b.md"},
        ),
        ("nodes/old/", ["nodes/a.md"], {"nodes/old/a.md": "nodes/a.md"}),
        (
            "nodes/old/",
            ["nodes/misc/a.md", "nodes/misc/b.md", "nodes/misc/c.md"],
            {"nodes/old/a.md": "nodes/misc/a.md"},
        ),
        ("nodes/old/", ["nodes/new/a.md"], {"nodes/old/sub/a.md": "nodes/new/a.md"}),
    ],
    ids=[
        "still there",
        "gone again",
        "a name that is two words",
        "a name that is markup",
        "a name that hides text",
        "split in two",
        "into the lessons folder itself",
        "into a larger folder",
        "taken apart",
    ],
)
def test_a_target_without_a_sure_heir_is_left(target, paths, moves):
    assert heirs(target, paths, moves) == {}


def test_moved_names_the_rules_and_what_becomes_of_their_targets():
    one = Rule(RULE, "a", "read nodes/a.md and nodes/b.md", targets=("nodes/a.md", "nodes/b.md"))
    other = Rule("r_0000bb", "b", "read nodes/b.md", targets=("nodes/b.md",))
    known = Ground(["nodes/b.md", "nodes/c.md"], {"nodes/a.md": "nodes/c.md"}, ("nodes",))
    assert renames.moved([one, other], known) == [(one, {"nodes/a.md": "nodes/c.md"})]


def test_only_the_path_in_a_then_changes():
    then = 'first "./nodes/a.md",  then (nodes/a.md) - not nodes/a.md.old; see nodes/a.md.'
    assert renames.reworded(then, {"nodes/a.md": "nodes/b.md"}) == (
        'first "./nodes/b.md",  then (nodes/b.md) - not nodes/a.md.old; see nodes/b.md.'
    )


@pytest.fixture
def store(tmp_path):
    """Return a store in a repository, with lessons in two folders and no rule."""
    store = factories.a_store(tmp_path)
    for name in ("testing/db", "testing/fixtures", "deploy/rollback"):
        factories.a_lesson_file(store, f"nodes/{name}.md", BODY.format(name))
    files.replace(os.path.join(store.base, ".gitignore"), ".rose/local/\n.rose/index.md\n")
    git(store.base, "init", "-q", "-b", "main")
    save(store)
    return store


def save(store, message: str = "start") -> None:
    git(store.base, "add", "-A")
    git(store.base, "commit", "-q", "-m", message)


def move(store, old: str, new: str) -> None:
    os.makedirs(os.path.dirname(os.path.join(store.base, new)), exist_ok=True)
    git(store.base, "mv", old, new)


def carry(store) -> list[str]:
    return renames.carry(lessons.hold(store), AT)


def rule_of(store, rule_id: str = RULE) -> Rule:
    return next(rule for rule in table.read(store, ("nodes",)).rules if rule.id == rule_id)


def text_of(store, rule_id: str = RULE) -> str:
    return files.read_text(table.path_of(store, rule_id))


def test_a_persons_rule_follows_a_committed_rename_by_its_path_alone(store):
    text = (
        "---\n# mine\nwhen: the task is a test   # of the database\n"
        "then: read ./nodes/testing/db.md, twice.\n"
        "priority: high\nborn: 3\ncreated: 2026-11-30T09:12:44Z\n---\nMy reason.\n"
    )
    files.replace(table.path_of(store, RULE), text)
    move(store, "nodes/testing/db.md", "nodes/testing/postgres.md")
    save(store, "rename")
    assert carry(store) == [RULE]
    assert text_of(store) == text.replace(
        "nodes/testing/db.md", "nodes/testing/postgres.md"
    ).replace(
        "then: read ./nodes/testing/postgres.md, twice.\n",
        'then: "read ./nodes/testing/postgres.md, twice."\n',
    ).replace("---\nMy", "formerly: [nodes/testing/db.md]\n---\nMy")
    assert rule_of(store).targets == ("nodes/testing/postgres.md",)
    assert carry(store) == []


def test_then_and_targets_both_change_and_the_rest_of_a_rule_stays(store):
    factories.a_rule_file(
        store,
        id=RULE,
        then="read nodes/testing/ and nodes/deploy/rollback.md",
        targets=["nodes/testing/", "nodes/deploy/rollback.md"],
        match=["folder:nodes/testing/"],
        origin="reflection",
        status="retired",
        born="7",
        evidence=[{"session": "s", "quote": "see nodes/testing/db.md"}],
    )
    before = rule_of(store)
    move(store, "nodes/testing", "nodes/qa")
    save(store, "rename")
    assert carry(store) == [RULE]
    after = rule_of(store)
    assert after.then == "read nodes/qa/ and nodes/deploy/rollback.md"
    assert after.targets == ("nodes/qa/", "nodes/deploy/rollback.md")
    assert after.formerly == ("nodes/testing/",)
    for field in ("when", "match", "born", "status", "evidence", "origin", "note"):
        assert getattr(after, field) == getattr(before, field)


def test_a_staged_rename_counts_and_chains_are_followed_to_their_end(store):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    move(store, "nodes/testing/db.md", "nodes/testing/one.md")
    save(store, "one")
    move(store, "nodes/testing/one.md", "nodes/testing/two.md")
    save(store, "two")
    move(store, "nodes/testing/two.md", "nodes/deploy/three.md")
    assert carry(store) == [RULE]
    assert rule_of(store).then == "read nodes/deploy/three.md"


def test_a_rename_on_a_merged_branch_counts(store):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    git(store.base, "checkout", "-q", "-b", "side")
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    save(store, "rename")
    git(store.base, "checkout", "-q", "main")
    git(store.base, "commit", "-q", "--allow-empty", "-m", "meanwhile")
    git(store.base, "merge", "-q", "--no-edit", "side")
    assert carry(store) == [RULE]


def test_a_store_below_the_top_of_a_repository_sees_its_own_renames(tmp_path):
    store = factories.a_store(tmp_path / "top", "sub")
    factories.a_lesson_file(store, "nodes/a.md", BODY)
    factories.a_rule_file(store, id=RULE, then="read nodes/a.md")
    git(tmp_path / "top", "init", "-q")
    save(store)
    move(store, "nodes/a.md", "nodes/b.md")
    assert carry(store) == [RULE]
    assert rule_of(store).targets == ("nodes/b.md",)


def test_a_path_that_was_used_again_and_left_again_leads_to_its_latest_file(store):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    move(store, "nodes/testing/db.md", "nodes/testing/first.md")
    save(store, "first")
    factories.a_lesson_file(store, "nodes/testing/db.md", "# Other\n\n" + "Words.\n" * 20)
    save(store, "again")
    move(store, "nodes/testing/db.md", "nodes/testing/second.md")
    save(store, "second")
    carry(store)
    assert rule_of(store).targets == ("nodes/testing/second.md",)


def test_without_git_or_a_known_move_nothing_changes(store, tmp_path, monkeypatch):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    text = text_of(store)
    os.rename(
        os.path.join(store.base, "nodes/testing/db.md"),
        os.path.join(store.base, "nodes/testing/by-hand.md"),
    )
    assert carry(store) == []
    git(store.base, "add", "-A")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        assert carry(store) == []
    assert text_of(store) == text
    assert carry(store) == [RULE]


def test_git_is_not_asked_while_every_target_is_there(store, tmp_path, monkeypatch):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/")
    said = tmp_path / "asked"
    program = tmp_path / "bin" / "git"
    files.replace(str(program), f"#!/bin/sh\n: > {said}\n")
    os.chmod(program, 0o700)
    monkeypatch.setenv("PATH", str(program.parent))
    assert carry(store) == []
    assert not said.exists()
    factories.a_rule_file(store, id="r_0000bb", then="read nodes/gone.md")
    assert carry(store) == []
    assert said.exists()


def test_a_rule_keeps_its_past_where_lessons_are_known_by_their_paths(store):
    match = ["command:pytest"]
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md", match=match)
    for number in range(3):
        line = {"v": 1, "session": f"s{number}", "kinds": match, "used": ["testing/db"]}
        factories.a_ledger_line(store, lambda _, line=line: line)

    def standing():
        by_id = {lesson.id: lesson.path for lesson in lessons.hold(store).shelf.lessons}
        path = lambda lesson: by_id.get(lesson, f"nodes/{lesson}.md")  # noqa: E731
        return standings([rule_of(store)], ledger.read(store).cases, path)[RULE]

    before = standing()
    assert (before.helped, before.wasted) == (3, 0)
    move(store, "nodes/testing/db.md", "nodes/qa/sql.md")
    carry(store)
    assert standing() == before
    line = {"v": 1, "session": "new", "kinds": match, "used": ["qa/sql"]}
    factories.a_ledger_line(store, lambda _: line)
    assert standing().helped == 4


def test_what_a_person_forgot_does_not_come_back_by_its_new_path(store):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md", match=["command:x"])
    forgotten.write(store, rule_of(store), AT)
    table.delete(store, RULE)
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    assert carry(store) == []
    is_forgotten = forgotten.test_of([store])
    assert is_forgotten(["command:x"], ["nodes/testing/sql.md"])


def test_a_file_that_cannot_be_changed_exactly_stops_no_other(store):
    path = table.path_of(store, RULE)
    files.replace(path, "---\nwhen: a: b\nthen: read nodes/testing/db.md\n---\n")
    factories.a_rule_file(store, id="r_0000bb", then="read nodes/testing/db.md")
    before = text_of(store)
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    assert carry(store) == ["r_0000bb"]
    assert text_of(store) == before


def test_while_the_store_is_locked_nothing_is_carried_and_nothing_raised(store, monkeypatch):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    monkeypatch.setattr(files, "LOCK_WAIT_S", 0.1)
    with files.lock(store.lock):
        assert carry(store) == []
    assert carry(store) == [RULE]


def test_a_reflection_whose_rule_was_carried_along_can_still_be_taken_back(store):
    several.standing_rules(store)
    factories.a_lesson_file(store, "nodes/testing/integration-db.md", BODY.format("i"))
    save(store)
    several.reflect(Stores(store, None, "test"))
    move(store, "nodes/testing/integration-db.md", "nodes/testing/sql.md")
    assert carry(store) == [*several.TOUCHED[1:]]
    undone = undo.take_back(Stores(store, None, "test"))
    assert (undone.restored, undone.left) == (several.TOUCHED[1:], ())
    assert rule_of(store, several.KEPT).when == f"the task is {several.KEPT}"


def test_where_commits_are_asked_for_carrying_is_one(store):
    files.replace(store.config, yamltext.dump({"git.commit": "auto"}))
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    factories.a_rule_file(store, id="r_0000bb", then="read nodes/testing/db.md")
    save(store)
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    save(store, "rename")
    path = table.path_of(store, "r_0000bb")
    files.replace(path, files.read_text(path) + "Mine.\n")
    assert carry(store) == [RULE, "r_0000bb"]
    assert in_head(store.base) == [f".rose/routing/{RULE}.md"]
    said = git(store.base, "log", "-1", "--format=%B")
    assert said.startswith("rose: carry r_0000aa, carry r_0000bb\n\nCarry r_0000aa:\n")
    assert "  why: nodes/testing/db.md is now nodes/testing/sql.md\n" in said


def test_the_log_says_which_rules_were_carried_where(store):
    factories.a_rule_file(store, id=RULE, then="read nodes/testing/db.md")
    move(store, "nodes/testing/db.md", "nodes/testing/sql.md")
    carry(store)
    moves = {RULE: {"nodes/testing/db.md": "nodes/testing/sql.md"}}
    lines = [line for _, line in files.read_jsonl(store.trace)]
    assert lines == [{"v": 1, "at": AT, "carried": moves}]
