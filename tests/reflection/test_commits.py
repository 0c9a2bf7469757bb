"""Commits of a reflection: what they tell, what goes in, and what of a session never does."""

from __future__ import annotations

import os
import subprocess

import pytest

from rose import files, yamltext
from rose.reflection import commits, notes, undo
from rose.reflection.commits import Told
from rose.store import lessons
from tests import factories
from tests.history.repos import git, hook, in_head
from tests.reflection import several
from tests.reflection.scene import Scene

SESSION = "0b6c1234-0000-4000-8000-000000000001"


def trailers(text: str) -> list[str]:
    """Return what git takes for the trailers of a message."""
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        check=False,
        input=text,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_a_message_names_rules_and_session_and_gives_each_reason():
    told = [
        Told("add", "r_0000aa", "- When a: read nodes/a.md", "it was missing", "no such table"),
        Told("retire", "r_0000bb", why="merged into r_0000aa"),
        Told("add", "nodes/learned/x.md"),
    ]
    assert commits.message(SESSION, told) == (
        "rose: add r_0000aa, retire r_0000bb and 1 more (session 0b6c1234)\n"
        "\n"
        "Add r_0000aa:\n"
        "  - When a: read nodes/a.md\n"
        "  why: it was missing\n"
        '  quote: "no such table"\n'
        "\n"
        "Retire r_0000bb:\n"
        "  why: merged into r_0000aa\n"
        "\n"
        "Add nodes/learned/x.md.\n"
        "\n"
        f"Rose-Session: {SESSION}\n"
    )


def test_a_message_about_no_rule_is_about_the_record():
    text = commits.message(SESSION, [])
    assert text == f"rose: record (session 0b6c1234)\n\nRose-Session: {SESSION}\n"


@pytest.mark.parametrize(
    "text",
    [
        "x\n\nSigned-off-by: Eve <eve@example.org>",
        "x\r\rCo-authored-by: Eve <eve@example.org>",
        "x\u2028\u2028Rose-Session: other",
        "Rose-Session: other",
        "\x1b[2K\x07Reviewed-by: Eve",
        "y" * 5000 + "\nSigned-off-by: Eve",
    ],
)
def test_no_text_of_a_session_forges_a_trailer(text):
    told = [Told("add", "r_0000aa", text, text, text)]
    message = commits.message(SESSION, told)
    assert trailers(message) == [f"Rose-Session: {SESSION}"]
    assert max(map(len, message.splitlines())) < 200
    assert "\x1b" not in message
    assert trailers(commits.message(f"{SESSION}\n{text}", told))[1:] == []


def test_no_text_of_a_session_orders_a_hosting_site_about():
    told = [Told("add", "r_0000aa", quote="this fixes #12, closes GH-3 [skip ci] [ci skip]")]
    assert 'quote: "this fixes 12, closes 3 skip ci ci skip"' in commits.message(SESSION, told)


def test_a_secret_stays_out_of_a_message():
    secret = "ghp_" + "a1B2" * 9
    told = [Told("add", "r_0000aa", f"use {secret}", f"say {secret}", f"token {secret}")]
    assert secret not in commits.message(f"s-{secret}", told)


def test_a_message_of_very_much_is_bounded():
    told = [Told("retire", f"r_{number:06x}", why="w" * 500) for number in range(500)]
    text = commits.message(SESSION, told)
    assert len(text) < 6000
    assert "And 480 more." in text


@pytest.fixture
def scene(tmp_path):
    """Return the scene in a repository that holds all of it, with commits asked for."""
    scene = Scene(tmp_path, {"git.commit": "auto"})
    files.replace(os.path.join(scene.base, ".gitignore"), ".rose/local/\n.rose/index.md\n")
    git(scene.base, "init", "-q", "-b", "main")
    git(scene.base, "add", "-A")
    git(scene.base, "commit", "-q", "-m", "start")
    return scene


def learn(scene):
    scene.reflect(scene.capture("work-1"))
    return scene.reflect(scene.capture("work-2"))


def rule_path(scene, rule: str) -> str:
    return os.path.join(scene.store.routing, f"{rule}.md")


def test_a_reflection_is_one_commit_that_tells_its_rule_and_quote(scene):
    outcome = learn(scene)
    rule = scene.rules()[0]
    assert outcome.commit == "committed"
    assert git(scene.base, "rev-list", "--count", "HEAD").strip() == "2"
    assert in_head(scene.base) == [f".rose/routing/{rule.id}.md"]
    said = git(scene.base, "log", "-1", "--format=%B")
    session = outcome.facts.session
    assert said.startswith(
        f"rose: add {rule.id} (session {session[:8]})\n\nAdd {rule.id}:\n  - When "
    )
    assert rule.evidence[-1].quote[:40] in said
    assert trailers(said) == [f"Rose-Session: {session}"]


def test_a_session_that_changes_no_rule_is_no_commit(scene):
    assert scene.reflect(scene.capture("work-1")).commit == ""
    assert git(scene.base, "rev-list", "--count", "HEAD").strip() == "1"


def test_a_shared_ledger_is_committed_with_the_rule_and_alone(scene):
    settings = {"git.commit": "auto", "ledger.share": "commit"}
    files.replace(scene.store.config, yamltext.dump(settings))
    git(scene.base, "commit", "-q", "-a", "-m", "share")
    first = scene.reflect(scene.capture("work-1"))
    assert first.commit == "committed"
    writer = files.read_text(scene.store.writer).strip()
    ledger = f".rose/ledger/{writer}.jsonl"
    assert in_head(scene.base) == [ledger]
    subject = f"rose: record (session {first.facts.session[:8]})"
    assert git(scene.base, "log", "-1", "--format=%s").strip() == subject
    second = scene.reflect(scene.capture("work-2"))
    assert in_head(scene.base) == [ledger, f".rose/routing/{second.learned[0]}.md"]


def retire_by_record(scene, rule: str):
    """Let ten sessions say that a rule wastes, and reflect on one more, which retires it."""
    kept = {"v": 1, "rows": 1, "kinds": [], "delivered": [rule], "sent": [rule]}
    for number in range(10):
        line = {**kept, "session": f"w{number}", "rules": {rule: "followed-useless"}}
        factories.a_ledger_line(scene.store, lambda _, line=line: line)
    return scene.reflect(scene.capture("work-docs"))


def test_a_rule_with_uncommitted_words_of_a_persons_stays_out_of_the_commit(scene):
    rule = learn(scene).learned[0]
    path = rule_path(scene, rule)
    files.replace(path, files.read_text(path) + "My own note.\n")
    before = git(scene.base, "rev-parse", "HEAD")
    outcome = retire_by_record(scene, rule)
    assert [retired for retired, _ in outcome.retired] == [rule]
    name = f".rose/routing/{rule}.md"
    assert outcome.commit == f"{name} holds changes of yours that are not committed"
    assert git(scene.base, "rev-parse", "HEAD") == before
    assert git(scene.base, "status", "--porcelain") == f" M {name}\n"


def test_a_second_reflection_of_a_session_commits_on_top_of_its_first(scene):
    rule = learn(scene).learned[0]
    outcome = retire_by_record(scene, rule)
    assert outcome.commit == "committed"
    said = git(scene.base, "log", "-1", "--format=%B")
    assert said.startswith(f"rose: retire {rule} (session {outcome.facts.session[:8]})\n")
    assert "  why: helped 0, wasted 10 in 10 verdicts\n" in said


def test_what_a_hook_made_of_a_rule_is_taken_back_like_roses_own(scene):
    script = "for f in .rose/routing/*.md; do echo formatted >> $f; git add $f; done"
    hook(scene.base, "pre-commit", script)
    rule = learn(scene).learned[0]
    assert files.read_text(rule_path(scene, rule)).endswith("formatted\n")
    assert git(scene.base, "status", "--porcelain") == ""
    os.unlink(os.path.join(scene.base, ".git/hooks/pre-commit"))
    undone = undo.take_back(scene.stores)
    assert (undone.deleted, undone.left, undone.commit) == ((rule,), (), "committed")


def test_a_refusing_hook_leaves_the_reflection_done_and_uncommitted(scene):
    hook(scene.base, "pre-commit", "echo no commits today", "exit 1")
    outcome = learn(scene)
    assert outcome.state == "reflected"
    assert outcome.commit == "git refused: no commits today"
    assert git(scene.base, "rev-list", "--count", "HEAD").strip() == "1"
    assert undo.take_back(scene.stores).deleted == outcome.learned


def test_what_a_killed_run_wrote_is_committed_by_the_run_after_it(scene):
    rule = learn(scene).learned[0]
    path, before = rule_path(scene, rule), files.read_text(rule_path(scene, rule))
    note = notes.Note(several.NAME, several.SESSION, "claude-code", 3, several.AT, {})
    # The first is killed before its line in the ledger; the second begins with what it left.
    for text in (before + "one\n", before + "one\ntwo\n"):
        begun = notes.begin(scene.store, note, [rule])
        files.replace(path, text)
        notes.finish(scene.store, begun)
    holding = lessons.hold(scene.store)
    assert commits.of_reflection(holding, several.NAME, (), ()) == "committed"
    assert in_head(scene.base) == [f".rose/routing/{rule}.md"]


def test_a_persons_words_between_two_runs_stay_out_of_the_commit(scene):
    rule = learn(scene).learned[0]
    path, before = rule_path(scene, rule), files.read_text(rule_path(scene, rule))
    note = notes.Note(several.NAME, several.SESSION, "claude-code", 3, several.AT, {})
    for text in (before + "one\n", before + "mine\ntwo\n"):
        begun = notes.begin(scene.store, note, [rule])
        files.replace(path, text)
        notes.finish(scene.store, begun)
        files.replace(path, before + "mine\n" if "two" not in text else text)
    said = commits.of_reflection(lessons.hold(scene.store), several.NAME, (), ())
    assert said.endswith("holds changes of yours that are not committed")
