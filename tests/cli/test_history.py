"""`rose history`: a rule's life and the latest changes, with git and without."""

from __future__ import annotations

import os

import pytest

from rose import files, trust, yamltext
from tests import factories
from tests.clirun import run
from tests.history.repos import git
from tests.reflection import several
from tests.reflection.scene import Scene

RULE = "r_0000ab"


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    trust.add(made.store, os.environ)
    return made


def rose(scene, *words: str, **options):
    return run(*words, cwd=scene.base, **options)


def learn(scene) -> str:
    """Let two sessions teach a rule, send it to four more, and return its id."""
    scene.reflect(scene.capture("work-1"))
    rule = scene.reflect(scene.capture("work-2")).learned[0]
    verdicts = ("followed-useful", "followed-useless", "ignored", "unknown")
    for number, verdict in enumerate(verdicts):
        line = {"v": 1, "session": f"sent-{number}-0000", "rows": 1, "kinds": [], "sent": [rule]}
        line |= {
            "delivered": [rule],
            "rules": {rule: verdict},
            "at": f"2026-11-30T13:0{number}:00Z",
        }
        factories.a_ledger_line(scene.store, lambda _, line=line: line)
    return rule


def with_git(scene, **settings: str) -> None:
    if settings:
        files.replace(scene.store.config, yamltext.dump(settings))
    files.replace(os.path.join(scene.base, ".gitignore"), ".rose/local/\n.rose/index.md\n")
    git(scene.base, "init", "-q", "-b", "main")
    git(scene.base, "add", "-A")
    git(scene.base, "commit", "-q", "-m", "start", GIT_COMMITTER_DATE="2020-01-01T00:00Z")


def test_a_life_tells_who_wrote_a_rule_the_quotes_and_what_each_session_said(scene):
    rule = learn(scene)
    result = rose(scene, "history", rule[2:])
    lines = result.out.splitlines()
    assert lines[0] == f"{rule}  active  .rose/routing/{rule}.md"
    assert "2026-11-30 12:00  added             session 20000000" in lines
    assert '                  "The integration tests are red on my branch, find out why"' in lines
    at = lines.index("Sessions it was sent to")
    assert lines[at + 1 : at + 5] == [
        "2026-11-30 13:00  followed-useful   session sent-0-0",
        "2026-11-30 13:01  followed-useless  session sent-1-0",
        "2026-11-30 13:02  ignored           session sent-2-0",
        "2026-11-30 13:03  delivered         session sent-3-0",
    ]
    assert lines[-1].startswith("score      (1 - 1/2) / (4 + 10)")
    assert result.err == "Git holds no commit of its file, so changes by hand are not told.\n"
    assert max(map(len, lines)) <= 80


def test_what_persons_decided_is_told_without_git(scene):
    rule = learn(scene)
    for word in ("--decline", "--approve", "--forget"):
        assert rose(scene, "route", word, rule).code == 0
    told = [event["what"] for event in rose(scene, "history", rule, "--json").json["events"]]
    assert told == ["added", "declined", "approved", "forgotten"]
    result = rose(scene, "history", rule)
    assert result.out.startswith(f"{rule}  gone, or not to be read\n")
    taught = rose(scene, "route", "--when", "the queue hangs", "--then", "read nodes/deploy/")
    assert taught.code == 0
    assert " taught     r_" in rose(scene, "history").out.splitlines()[0]


def test_the_latest_changes_come_newest_first_a_line_each(scene):
    rule = learn(scene)
    rose(scene, "undo")
    several.standing_rules(scene.store)
    several.reflect(scene.stores)
    result = rose(scene, "history")
    lines = result.out.splitlines()
    assert lines[0][18:].startswith(f"taken back {rule}  20000000")
    assert [line[18:28].rstrip() for line in lines[1:]].count("changed") == 4
    assert any(line.startswith("2026-11-30 12:00  added      ") for line in lines)
    assert max(map(len, lines)) <= 80
    assert len({line[:18] for line in lines}) > 1


def test_the_latest_changes_are_bounded(scene):
    for _ in range(60):
        factories.a_rule_file(scene.store)
    with_git(scene)
    result = rose(scene, "history")
    assert len(result.out.splitlines()) == 20
    assert result.err == ""


def test_with_git_a_life_tells_who_changed_the_file_and_how(scene, monkeypatch):
    with_git(scene, **{"git.commit": "auto"})
    rule = learn(scene)
    path = os.path.join(scene.store.routing, f"{rule}.md")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    steps = (
        ("then: read", "then: do read", "Reword"),
        ("status: active", "status: retired", "Retire"),
        ("status: retired", "status: active", "Back"),
        ("status: active", "status: active\napproval: approved", "Vouch"),
        ("---\n", "---\n# mine\n", "Remark"),
    )
    for old, new, subject in steps:
        files.replace(path, files.read_text(path).replace(old, new, 1))
        git(scene.base, "commit", "-q", "-a", "-m", subject, GIT_COMMITTER_DATE="2030-01-01T00:00Z")
    found = rose(scene, "history", rule, "--json").json
    events = [(e["what"], e["by"], e["detail"]) for e in found["events"][1:]]
    told = ("reworded", "retired", "restored", "approved", "edited")
    said = ("Reword", "Retire", "Back", "Vouch", "Remark")
    assert events == [(what, "Ada", word) for what, word in zip(told, said, strict=True)]
    first = found["events"][0]
    assert (first["what"], first["by"], len(first["commit"])) == ("added", "Test", 40)
    assert found["unknown"] == []


def test_a_rule_whose_file_moved_or_went_is_told_from_git(scene):
    factories.a_rule_file(scene.store, id=RULE)
    with_git(scene)
    os.unlink(os.path.join(scene.store.routing, f"{RULE}.md"))
    git(scene.base, "commit", "-q", "-a", "-m", "Drop it")
    found = rose(scene, "history", RULE, "--json").json
    assert found["rule"] is None
    assert [event["what"] for event in found["events"]] == ["written", "deleted"]
    assert rose(scene, "history").out.splitlines()[0].endswith(f"{RULE}  Test      Drop it")


def test_a_commit_and_the_decision_behind_it_are_one_event(scene):
    factories.a_rule_file(scene.store, id=RULE, status="proposed")
    with_git(scene, **{"git.commit": "auto"})
    assert rose(scene, "route", "--approve", RULE).code == 0
    found = rose(scene, "history", RULE, "--json").json["events"]
    assert [event["what"] for event in found] == ["written", "approved"]
    assert found[1]["commit"] == git(scene.base, "rev-parse", "HEAD").strip()
    assert [e["what"] for e in rose(scene, "history", "--json").json["events"]].count(
        "approved"
    ) == 1


def test_an_undo_and_its_commit_are_one_event(scene):
    with_git(scene, **{"git.commit": "auto"})
    rule = learn(scene)
    rose(scene, "undo")
    found = rose(scene, "history", rule, "--json").json["events"]
    assert [event["what"] for event in found] == ["added", "taken back"]
    commits = git(scene.base, "rev-list", "HEAD~2..HEAD").split()
    assert [event["commit"] for event in found] == commits[::-1]


def test_without_the_log_the_undo_notes_still_tell(scene):
    rule = learn(scene)
    os.unlink(scene.store.trace)
    found = rose(scene, "history", rule, "--json").json["events"]
    assert [(event["what"], event["n"]) for event in found] == [("added", 2)]


def test_without_any_record_the_file_tells_what_it_can(scene):
    factories.a_rule_file(scene.store, id=RULE, approval="approved", created="2026-11-01T10:00:00Z")
    result = rose(scene, "history", RULE)
    assert "2026-11-01 10:00  written           written by hand\n" in result.out
    assert "A person approved it; when is not recorded.\n" in result.err
    assert f"{RULE}  active, approved by a person  .rose/routing/{RULE}.md\n" in result.out


def test_many_sessions_are_cut_to_the_latest(scene):
    factories.a_rule_file(scene.store, id=RULE)
    for number in range(25):
        line = {"v": 1, "session": f"s{number}", "kinds": [], "delivered": [RULE], "rules": {}}
        factories.a_ledger_line(scene.store, lambda _, line=line: line)
    found = rose(scene, "history", RULE, "--json").json
    assert (len(found["sessions"]), found["earlier_sessions"]) == (20, 5)
    assert "                  5 earlier sessions\n" in rose(scene, "history", RULE).out


def test_without_the_git_program_the_rest_is_told(scene):
    rule = learn(scene)
    result = rose(scene, "history", rule, env={"PATH": scene.base})
    assert result.code == 0
    assert "added             session 20000000" in result.out
    assert result.err == "Git is not installed, so changes by hand are not told.\n"


def test_text_of_others_obeys_no_terminal(scene):
    factories.a_rule_file(scene.store, id=RULE)
    with_git(scene)
    path = os.path.join(scene.store.routing, f"{RULE}.md")
    files.replace(path, files.read_text(path) + "More.\n")
    name = {"GIT_AUTHOR_NAME": "E\x1b[2Jve\u202e"}
    git(scene.base, "commit", "-q", "-a", "-m", "a\x1b]0;b\x07\u202e", **name)
    line = {"v": 1, "at": "2030\x1b[2J", "session": "\x1b[2J", "operations": []}
    line["retired"] = [{"rule": RULE, "reason": "\x1b[2J"}, {"rule": 3}, "x"]
    files.append_line(scene.store.trace, files.dump_json(line))
    for words in (["history"], ["history", RULE]):
        result = rose(scene, *words)
        assert result.code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(result.out + result.err)


@pytest.mark.parametrize("word", ["zz", "r_", "r_ffffff", "../x"])
def test_what_names_no_rule_is_refused(scene, word):
    factories.a_rule_file(scene.store, id=RULE)
    result = rose(scene, "history", word)
    assert (result.code, result.out) == (1, "")
    assert "No rule " in result.err


def test_a_fresh_store_has_no_history_and_says_so(scene):
    result = rose(scene, "history")
    assert (result.code, result.out) == (0, "No rule has changed yet.\n")
    assert rose(scene, "history", "--json").json["events"] == []


def test_without_a_store_there_is_no_history(tmp_path):
    assert run("history", cwd=tmp_path).code == 1
