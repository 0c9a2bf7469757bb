"""Undo: the files as they were, unless a person changed them since; the credit is taken back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from rose import files, layout, yamltext
from rose.errors import RoseError
from rose.reflection import notes, undo
from rose.routing import ledger, table
from tests.clirun import ROOT
from tests.history.repos import git, head, hook, in_head, state
from tests.hosts import making
from tests.reflection import several
from tests.reflection.scene import DB, DB_LINE, bash, read, session_id


def learn(scene):
    scene.reflect(scene.capture("work-1"))
    return scene.reflect(scene.capture("work-2"))


def widen(scene):
    """Reflect on a third session, which widens the rule, and return its id."""
    rows = [making.user("Check the billing suite", 0), *read(f"nodes/{DB}.md", DB_LINE, 1, 1)]
    rows += bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", 1, 2)
    scene.reflect(scene.session(1, *rows))
    return session_id(1)


def rule_files(scene):
    return {
        name: files.read_bytes(os.path.join(scene.store.routing, name))
        for name in sorted(os.listdir(scene.store.routing))
    }


def sessions(scene):
    return [case.session for case in ledger.read(scene.store).cases]


def test_the_last_reflection_is_taken_back(scene):
    first = scene.reflect(scene.capture("work-1"))
    second = scene.reflect(scene.capture("work-2"))
    undone = undo.take_back(scene.stores)
    assert (undone.session, undone.n) == (second.facts.session, 2)
    assert undone.deleted == second.learned
    assert (undone.restored, undone.left) == ((), ())
    assert rule_files(scene) == {}
    assert sessions(scene) == [first.facts.session]
    assert ledger.read(scene.store).undone == {second.facts.session}


def test_a_widened_rule_gets_its_bytes_back(scene):
    rule = learn(scene).learned[0]
    before = rule_files(scene)
    widen(scene)
    assert rule_files(scene) != before
    assert undo.take_back(scene.stores).restored == (rule,)
    assert rule_files(scene) == before


def test_a_named_reflection_is_taken_back(scene):
    first = scene.reflect(scene.capture("work-1"))
    scene.reflect(scene.capture("work-docs"))
    assert undo.take_back(scene.stores, first.facts.session).n == 1
    assert len(sessions(scene)) == 1


def test_what_a_person_edited_since_is_left_and_named(scene):
    rule = learn(scene).learned[0]
    table.update(scene.store, rule, {"then": f"skim nodes/{DB}.md"}, ("nodes",))
    before = rule_files(scene)
    undone = undo.take_back(scene.stores)
    assert undone.left == ((rule, "it was edited or decided on since"),)
    assert rule_files(scene) == before
    assert len(sessions(scene)) == 1


def test_what_a_person_deleted_since_stays_deleted(scene):
    learn(scene)
    session = widen(scene)
    table.delete(scene.store, scene.rules()[0].id)
    undone = undo.take_back(scene.stores, session)
    assert (len(undone.gone), undone.deleted, undone.left) == (1, (), ())
    assert rule_files(scene) == {}


def test_an_earlier_reflection_under_a_later_one_is_left(scene):
    outcome = learn(scene)
    widen(scene)
    undone = undo.take_back(scene.stores, outcome.facts.session)
    assert undone.left == ((outcome.learned[0], "it was edited or decided on since"),)


def test_one_after_the_other_all_can_be_taken_back(scene):
    learn(scene)
    widen(scene)
    taken = [undo.take_back(scene.stores).n for _ in range(3)]
    assert taken == [3, 2, 1]
    assert (rule_files(scene), sessions(scene)) == ({}, [])


def test_where_nothing_was_learned_there_is_a_sentence(scene):
    with pytest.raises(RoseError, match="no reflection to take back"):
        undo.take_back(scene.stores)
    scene.reflect(scene.capture("work-1"))
    with pytest.raises(RoseError, match="No reflected session 'xyz'"):
        undo.take_back(scene.stores, "xyz")


def test_without_a_name_the_last_session_that_changed_a_rule_is_taken_back(scene):
    changed = learn(scene)
    later = scene.reflect(scene.capture("work-docs"))
    assert later.n == 3
    assert undo.take_back(scene.stores).session == changed.facts.session
    assert undo.take_back(scene.stores).session == later.facts.session


def test_the_log_of_reflections_says_what_was_taken_back_and_what_was_left(scene):
    rule = learn(scene).learned[0]
    table.update(scene.store, rule, {"then": f"skim nodes/{DB}.md"}, ("nodes",))
    undone = undo.take_back(scene.stores, at="2026-11-30T13:00:00Z")
    lines = [line for _, line in files.read_jsonl(scene.store.trace)]
    said = {"at": "2026-11-30T13:00:00Z", "session": undone.session, "n": 2, "left": [rule]}
    assert lines[-1] == {"v": 1, "undone": True, **said}


def test_a_log_that_cannot_be_written_stops_no_undo(scene):
    rule = learn(scene).learned[0]
    folder = os.path.dirname(scene.store.trace)
    shutil.rmtree(folder)
    files.replace(folder, "no folder")
    assert undo.take_back(scene.stores).deleted == (rule,)


def test_what_was_taken_back_can_be_learned_again(scene):
    learn(scene)
    undo.take_back(scene.stores)
    outcome = scene.reflect(scene.capture("work-2"))
    assert outcome.state == "reflected"
    assert len(rule_files(scene)) == 1
    assert len(sessions(scene)) == 2


def test_a_run_that_was_killed_before_its_ledger_line_can_be_taken_back(scene):
    rule = learn(scene).learned[0]
    folder = scene.store.ledger("local")
    for name in os.listdir(folder):
        files.replace(os.path.join(folder, name), "")
    assert undo.take_back(scene.stores).deleted == (rule,)
    assert rule_files(scene) == {}


def test_an_undo_that_was_killed_half_way_goes_on(scene):
    rule = learn(scene).learned[0]
    table.delete(scene.store, rule)
    undone = undo.take_back(scene.stores)
    assert (undone.deleted, undone.gone, undone.left) == ((), (rule,), ())


def reflect_on_much(scene):
    """Let a reflection of several operations pass; return the files before it."""
    several.standing_rules(scene.store)
    before = several.tree(scene.store)
    several.reflect(scene.stores)
    return before


def test_many_operations_and_a_lesson_are_taken_back_byte_for_byte(scene):
    before = reflect_on_much(scene)
    undone = undo.take_back(scene.stores)
    assert undone.deleted == (several.ADDED, several.LESSON)
    assert undone.restored == several.TOUCHED[1:]
    assert (undone.gone, undone.left) == ((), ())
    assert several.tree(scene.store) == before
    assert sessions(scene) == []


def test_a_lesson_that_a_person_wrote_on_is_left_and_named(scene):
    reflect_on_much(scene)
    path = os.path.join(scene.base, several.LESSON)
    files.replace(path, files.read_text(path) + "And wait.\n")
    undone = undo.take_back(scene.stores)
    assert undone.left == ((several.LESSON, "it was edited or decided on since"),)
    assert files.read_text(path).endswith("And wait.\n")


def test_a_note_takes_no_lesson_out_of_the_lessons_folders(scene):
    readme = os.path.join(scene.base, "README.md")
    files.replace(readme, "mine\n")
    reflect_on_much(scene)
    note = notes.read(scene.store, several.NAME)
    forged = notes.Change("forged\n", notes.digest("mine\n"))
    lessons = {"README.md": forged, "nodes/../README.md": forged, "/etc/x.md": forged}
    # As a clone may bring it.
    whole = {"session": note.session, "host": note.host, "n": note.n, "at": note.at, "rules": {}}
    rows = {path: {"before": c.before, "after": c.after} for path, c in lessons.items()}
    text = files.dump_json({"v": 1, **whole, "lessons": rows})
    files.replace(notes.path_of(scene.store, several.NAME), text)
    assert undo.take_back(scene.stores).left == (("README.md", "it lies in no lessons folder"),)
    assert files.read_text(readme) == "mine\n"


STOP = """
import os, sys
base, most = sys.argv[1], int(sys.argv[2])
done = 0

def stop(event, arguments):
    global done
    writes = event in ("os.rename", "os.remove") or (
        event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
    )
    if writes and str(arguments[0]).startswith(base):
        done += 1
        if done > most:
            os._exit(9)

from rose import layout
from rose.reflection import undo
sys.addaudithook(stop)
undo.take_back(layout.Stores(layout.project_store(base), None, "test"), at="x")
"""


def take_back_and_die(base: str, most: int) -> int:
    """Take the last reflection back in a process that dies at its next write after so many."""
    words = [sys.executable, "-c", STOP, base, str(most)]
    environ = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run(words, env=environ, check=False, capture_output=True).returncode


def test_an_undo_that_was_killed_at_any_write_is_completed_by_the_next(scene):
    before = reflect_on_much(scene)
    codes = []
    while not codes or codes[-1] == 9:
        base = f"{scene.base}-{len(codes)}"
        shutil.copytree(scene.base, base)
        codes.append(take_back_and_die(base, len(codes)))
        store = layout.project_store(base)
        if codes[-1] == 9:
            assert undo.take_back(layout.Stores(store, None, "test")).session == several.SESSION
        assert several.tree(store) == before, f"killed after {len(codes) - 1} writes"
        assert ledger.read(store).cases == ()
        assert notes.notes(store) == []
    assert codes[-1] == 0
    # Seven files, the ledger's line, the rows, the log, the derived files, the note.
    assert len(codes) > 12


def with_git(scene):
    """Let rose commit, in a repository that holds all there is."""
    files.replace(scene.store.config, yamltext.dump({"git.commit": "auto"}))
    files.replace(os.path.join(scene.base, ".gitignore"), ".rose/local/\n.rose/index.md\n")
    git(scene.base, "init", "-q", "-b", "main")
    git(scene.base, "add", "-A")
    git(scene.base, "commit", "-q", "-m", "start")


def test_with_git_an_undo_is_one_commit_that_gives_back_what_a_reflection_committed(scene):
    with_git(scene)
    outcome = learn(scene)
    rule = outcome.learned[0]
    path = f".rose/routing/{rule}.md"
    assert in_head(scene.base) == [path]
    files.replace(os.path.join(scene.base, "mine.txt"), "dirty\n")
    git(scene.base, "add", "mine.txt")
    before = state(scene.base)
    undone = undo.take_back(scene.stores)
    assert undone.commit == "committed"
    assert git(scene.base, "show", "--name-status", "--format=", "HEAD").split() == ["D", path]
    assert state(scene.base) == before
    session = outcome.facts.session
    subject = f"rose: delete {rule} (undo of session {session[:8]})"
    assert git(scene.base, "log", "-1", "--format=%s").strip() == subject


def test_with_git_what_a_person_changed_since_goes_into_no_commit_of_an_undo(scene):
    several.standing_rules(scene.store)
    with_git(scene)
    several.reflect(scene.stores)
    git(scene.base, "add", "-A")
    git(scene.base, "commit", "-q", "-m", "reflected")
    reworded = os.path.join(scene.store.routing, f"{several.REWORDED}.md")
    files.replace(reworded, files.read_text(reworded) + "My reason.\n")
    os.unlink(os.path.join(scene.store.routing, f"{several.KEPT}.md"))
    undone = undo.take_back(scene.stores)
    assert undone.left == ((several.REWORDED, "it was edited or decided on since"),)
    assert undone.gone == (several.KEPT,)
    assert in_head(scene.base) == [
        f".rose/routing/{several.ADDED}.md",
        f".rose/routing/{several.MERGED}.md",
        f".rose/routing/{several.RETIRED}.md",
        several.LESSON,
    ]
    assert sorted(git(scene.base, "status", "--porcelain").splitlines()) == [
        f" D .rose/routing/{several.KEPT}.md",
        f" M .rose/routing/{several.REWORDED}.md",
    ]


def test_an_undo_that_was_killed_before_its_commit_commits_with_the_next(scene):
    with_git(scene)
    rule = learn(scene).learned[0]
    hook(scene.base, "pre-commit", "kill -9 $(ps -o ppid= $PPID)", "exit 1")
    script = STOP.replace("sys.addaudithook(stop)\n", "")
    words = [sys.executable, "-c", script, scene.base, "0"]
    environ = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(words, env=environ, check=False, capture_output=True)
    assert done.returncode == -9
    os.unlink(os.path.join(scene.base, ".git/hooks/pre-commit"))
    path = f".rose/routing/{rule}.md"
    assert git(scene.base, "status", "--porcelain") == f" D {path}\n"
    before = head(scene.base)
    undone = undo.take_back(scene.stores)
    assert (undone.gone, undone.commit) == ((rule,), "committed")
    assert git(scene.base, "rev-parse", "HEAD^").strip() == before
    assert git(scene.base, "status", "--porcelain") == ""


def test_where_git_refuses_an_undo_is_done_and_says_so(scene):
    with_git(scene)
    rule = learn(scene).learned[0]
    git(scene.base, "checkout", "-q", "--detach")
    undone = undo.take_back(scene.stores)
    assert (undone.deleted, undone.commit) == ((rule,), "no branch is checked out")
    assert undone.session not in [note.session for note in notes.notes(scene.store)]


def test_what_a_reflection_did_to_rules_of_the_home_store_is_taken_back_too(scene, tmp_path):
    home = layout.Store(str(tmp_path / "home-rose"), str(tmp_path / "home-rose"), "home")
    os.makedirs(home.routing)
    stores = layout.Stores(scene.store, home, "test")
    several.standing_rules(home)
    before = several.tree(home)
    several.reflect(layout.Stores(None, home, "test"))
    with files.lock(scene.store.lock):
        note = notes.Note(several.NAME, several.SESSION, "claude-code", 1, several.AT, {})
        notes.finish(scene.store, notes.begin(scene.store, note, []))
    assert undo.take_back(stores).restored == several.TOUCHED[1:]
    assert several.tree(home) == before
