"""What the lessons of a skip rule were when somebody last looked at them, and whether they are."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.check import accept, context, decide
from rose.check.checks import Draft
from rose.routing import cases, skips
from rose.routing.rules import Rule
from rose.routing.skips import Noted
from rose.store import lessons
from tests.factories import a_ledger_line, a_lesson_file, a_rule_file, a_store

SKIP = Rule("r_0000aa", "w", "t", "skip", targets=("nodes/deploy/",))
LESSONS = {"nodes/deploy/a.md": "v1", "nodes/deploy/b.md": "v2", "nodes/other.md": "v3"}


def test_the_last_note_on_a_rule_counts_and_names_its_own_lessons(tmp_path):
    store = a_store(tmp_path)
    assert skips.read(store) == {}
    skips.note(store, SKIP, LESSONS, 3)
    skips.note(store, SKIP, {**LESSONS, "nodes/deploy/a.md": "v9"}, 4)
    noted = {"nodes/deploy/a.md": "v9", "nodes/deploy/b.md": "v2"}
    assert skips.read(store) == {"r_0000aa": Noted(4, noted)}


def test_a_prefer_rule_leaves_no_note(tmp_path):
    store = a_store(tmp_path)
    prefer = Rule("r_0000bb", "w", "t", targets=("nodes/deploy/",))
    assert skips.note(store, prefer, LESSONS, 1) == []
    assert not os.path.exists(store.skips)


def test_of_more_lessons_than_are_named_a_digest_tells_whether_they_are_the_same(tmp_path):
    store = a_store(tmp_path)
    many = {f"nodes/deploy/{n}.md": f"v{n}" for n in range(skips.MOST_LESSONS + 1)}
    assert skips.note(store, SKIP, many, 1) == []
    noted = skips.read(store)["r_0000aa"]
    assert (noted.n, noted.lessons) == (1, {})
    moved = {path.replace("deploy/", "deploy/old/"): version for path, version in many.items()}
    for now in (many, moved):
        assert skips.differences(noted, now) == []
    for now in ({**many, "nodes/deploy/7.md": "v"}, {**many, "nodes/deploy/new.md": "v"}, {}):
        assert [*skips.differences(noted, now)] == [("one or more of 1,001 lessons", "changed")]


@pytest.mark.parametrize("what", ["folder", "link", "no folder"])
def test_a_note_that_cannot_be_written_is_said_and_costs_nothing_else(tmp_path, what):
    store = a_store(tmp_path)
    if what == "no folder":
        files.replace(store.local, "a file in place of the folder")
    else:
        os.makedirs(store.local if what == "link" else store.skips)
    if what == "link":
        os.symlink(os.path.join(tmp_path, "elsewhere"), store.skips)
    [finding] = skips.note(store, SKIP, LESSONS, 1)
    assert (finding.rule, finding.severity) == ("skip-unnoted", "warning")
    assert "rose route --approve r_0000aa" in finding.repair
    assert not os.path.exists(os.path.join(tmp_path, "elsewhere"))


def test_whoever_accepts_or_approves_a_skip_rule_hears_that_it_is_not_noted(store):
    rule = taught(store)
    files.delete(store.skips)
    os.makedirs(store.skips)
    approved = decide.approve(store, rule.id, against(store))
    draft = Draft("the task is a port", THEN, effect="skip")
    accepted = accept.accept_rule(store, draft, against(store), created="now")
    reworded = Draft("the task is a change of pages", THEN, effect="skip", replaces=rule.id)
    changed = accept.accept_rule(store, reworded, against(store), created="now")
    for done in (approved, accepted, changed):
        assert "skip-unnoted" in [one.rule for one in done.warnings]


def test_foreign_lines_are_passed_over(tmp_path):
    store = a_store(tmp_path)
    for line in ("[]", '{"rule":7}', '{"rule":"r_0000aa","lessons":[]}', '{"torn'):
        files.append_line(store.skips, line)
    skips.note(store, SKIP, LESSONS, 1)
    files.append_line(store.skips, '{"rule":"r_0000bb","n":-3,"lessons":{"a":7}}')
    assert skips.read(store)["r_0000bb"] == Noted(0, {"a": "7"})
    assert set(skips.read(store)) == {"r_0000aa", "r_0000bb"}


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ({"a": "1", "b": "2"}, []),
        ({"a": "9", "b": "2"}, [("a", "changed")]),
        ({"a": "1", "b": "2", "c": "3"}, [("c", "new")]),
        ({"a": "1"}, [("b", "gone")]),
        ({"a": "1", "moved/b": "2"}, []),
        ({"a": "2", "b": "1"}, [("a", "changed"), ("b", "changed")]),
        ({}, [("a", "gone"), ("b", "gone")]),
    ],
)
def test_a_lesson_is_known_by_its_path_and_its_content(now, found):
    assert [*skips.differences(Noted(1, {"a": "1", "b": "2"}), now)] == found


THEN = "nothing in nodes/deploy/ applies"


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host, then wait.\n")
    a_lesson_file(made, "nodes/testing/db.md", "# Database\n\nThe tests need port 5432.\n")
    return made


def against(store):
    return context.of_store(lessons.hold(store), 800)


def taught(store, when="the task is a docs change", **fields):
    draft = Draft(when, THEN, **{"effect": "skip", **fields})
    return accept.accept_rule(store, draft, against(store), created="now").rule


def looked(store):
    held = lessons.hold(store)
    versions = {lesson.path: lesson.version for lesson in held.shelf.active()}
    paths = {lesson.id: lesson.path for lesson in held.shelf.lessons}
    return skips.look(store, held.settings.lessons_paths, versions, paths)


def used(store, *names: str, session="s1", verdicts=None):
    case = cases.Case(session=session, n=0, used=names, verdicts=verdicts or {})
    a_ledger_line(store, lambda n: {**cases.line_of(case), "n": n})


def test_a_rule_whose_lessons_are_as_they_were_is_not_listed(store):
    taught(store)
    used(store, "testing/db")
    assert looked(store) == ((), (), 1)


def test_changed_new_and_vanished_lessons_are_named(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    a_lesson_file(store, "nodes/deploy/new.md", "# New\n\nNew.\n")
    a_lesson_file(store, "nodes/other.md", "# Other\n\nNew too.\n")
    [skip] = looked(store).found
    assert (skip.rule.id, skip.changes) == (
        rule.id,
        (("nodes/deploy/canary.md", "changed"), ("nodes/deploy/new.md", "new")),
    )
    assert skip.line == f"- When the task is a docs change: {THEN}"
    os.unlink(os.path.join(store.base, "nodes/deploy/canary.md"))
    assert looked(store).found[0].changes[-1] == ("nodes/deploy/canary.md", "gone")


def test_an_archived_lesson_is_gone(store):
    taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "---\nstatus: archived\n---\n# Canary\n")
    assert looked(store).found[0].changes == (("nodes/deploy/canary.md", "gone"),)


def test_use_since_it_was_written_counts_and_use_before_does_not(store):
    used(store, "deploy/canary", session="before")
    rule = taught(store)
    assert looked(store).found == ()
    used(store, "deploy/canary", "testing/db", session="s2")
    used(store, "deploy/canary", session="s3", verdicts={rule.id: "misled"})
    [skip] = looked(store).found
    assert (skip.changes, dict(skip.used), skip.misled) == ((), {"deploy/canary": 2}, 1)


def test_a_person_who_looks_again_settles_it(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    used(store, "deploy/canary")
    assert [one.rule.id for one in looked(store).found] == [rule.id]
    decide.approve(store, rule.id, against(store))
    assert looked(store).found == ()
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to three hosts.\n")
    assert looked(store).found[0].rule.approval == "approved"
    decide.approve(store, rule.id, against(store))
    assert looked(store) == ((), (), 1)


def test_a_rule_that_nobody_noted_is_said_to_be_unchecked_and_its_use_still_counts(store):
    rule = a_rule_file(store, effect="skip", when="a docs change", then=THEN)
    assert looked(store) == ((), ((rule, skips.UNNOTED),), 1)
    used(store, "deploy/canary")
    found = looked(store)
    assert [one.rule.id for one in found.found] == [rule]
    assert len(found.unchecked) == 1


def test_notes_that_cannot_be_read_and_broken_rules_are_said(store):
    rule = taught(store)
    files.delete(store.skips)
    os.makedirs(store.skips)
    files.replace(os.path.join(store.routing, "r_0000bb.md"), "---\nwhen: [\n---\n")
    found = looked(store)
    assert [what.partition(":")[0] for what, _ in found.unchecked] == [
        ".rose/routing/r_0000bb.md",
        rule.id,
    ]
    assert "cannot be read" in found.unchecked[1][1]


@pytest.mark.parametrize(
    "fields", [{"effect": "prefer"}, {"status": "retired"}, {"status": "proposed"}]
)
def test_only_skip_rules_in_use_are_looked_at(store, fields):
    a_rule_file(store, when="a docs change", then=THEN, **{"effect": "skip", **fields})
    assert looked(store) == ((), (), 0)


def test_a_reworded_rule_is_of_the_lessons_of_that_moment(store):
    rule = taught(store)
    a_lesson_file(store, "nodes/deploy/canary.md", "# Canary\n\nShip to two hosts.\n")
    draft = Draft("the task is a change of pages", THEN, effect="skip", replaces=rule.id)
    accept.accept_rule(store, draft, against(store), created="now")
    assert looked(store) == ((), (), 1)
