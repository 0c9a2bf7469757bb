from __future__ import annotations

import os
import time

import pytest

from rose import files, layout, session
from rose.reflection import queue
from tests.clirun import run


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    run("add", "One", "--body", "x", cwd=folder)
    return folder


def put(project, path, content):
    full = project / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(content if isinstance(content, bytes) else content.encode())


def checks(project, **options: object):
    result = run("doctor", "--json", cwd=project, **options)
    found = [(c["section"], c["state"], c["text"]) for c in result.json["checks"]]
    return result.code, found


def of(found, section, state):
    return [text for name, how, text in found if (name, how) == (section, state)]


def test_how_recall_is_set_is_said_and_what_it_lacks(project):
    _, found = checks(project)
    assert of(found, "recall", "ok") == ["off; selector embedded, judge off, at most 2 s"]
    assert of(found, "recall", "note") == []
    run("config", "recall.judge", "command", cwd=project)
    code, found = checks(project)
    assert code == 0
    assert "`reflection.command` is not set." in of(found, "recall", "note")
    run("config", "recall.selector", "agent", cwd=project)
    _, found = checks(project)
    assert of(found, "recall", "ok") == ["the working agent selects by itself; no prompt is served"]


def test_a_sound_store_has_no_problems(project):
    result = run("doctor", cwd=project)
    assert result.code == 0
    assert "No problems." in result.err
    assert "1 active in nodes/" in result.out
    assert "o200k_base" in result.out


def test_without_a_store_it_says_why_and_what_to_do(tmp_path):
    result = run("doctor", cwd=tmp_path)
    assert result.code == 1
    assert "rose init" in result.out


def test_each_broken_file_is_named_with_line_and_reason(project):
    put(project, "nodes/a.md", "---\nx: 1\nx: 2\n---\n# A\n")
    put(project, "nodes/b.md", b"\xff\xfe#\0")
    put(project, "nodes/c.md", "---\ntitle: a: b\n---\n")
    put(project, ".rose/routing/r_000001.md", "---\nwhen: [\n")
    put(project, ".rose/config.yaml", "routing:\n  max_tokens: many\n")
    code, found = checks(project)
    assert code == 1
    assert [text.partition(" ")[0] for text in of(found, "lessons", "problem")] == [
        "nodes/a.md:3:",
        "nodes/b.md:1:",
    ]
    assert [text.partition(" ")[0] for text in of(found, "lessons", "note")] == ["nodes/c.md:2:"]
    assert len(of(found, "rules", "problem")) == 1
    assert "max_tokens" in of(found, "config", "problem")[0]
    assert "4 active in nodes/" in of(found, "lessons", "ok")[0]


def test_headers_that_are_read_line_by_line_are_one_note_and_each_one_in_json(project):
    for number in range(5):
        put(project, f"nodes/{number}.mdc", "---\nglobs: **/*.ts\n---\n# Rule\n")
    result = run("doctor", cwd=project)
    said = " ".join(result.out.split())
    assert result.code == 0
    assert (
        "note lessons 5 headers are no YAML, and are read line by line: nodes/0.mdc:2, "
        "nodes/1.mdc:2, nodes/2.mdc:2 and 2 more `rose doctor --json` names each"
    ) in said
    _, found = checks(project)
    assert len(of(found, "lessons", "note")) == 5


def test_a_store_without_lessons_says_how_to_add_one(tmp_path):
    folder = tmp_path / "home" / "empty"
    folder.mkdir()
    run("init", cwd=folder)
    result = run("doctor", cwd=folder)
    assert (result.code, "rose add" in result.out) == (0, True)


def test_both_stores_are_looked_at(project):
    run("init", "--home", cwd=project)
    put(project.parent, ".rose/nodes/bad.md", "<<<<<<< a\n>>>>>>> b\n")
    code, found = checks(project)
    assert code == 1
    assert str(project.parent / ".rose" / "nodes" / "bad.md") in of(found, "lessons", "problem")[0]


def test_a_failed_session_is_a_problem_and_a_waiting_one_is_not(project):
    store = layout.project_store(str(project))
    names = {"host": "claude-code", "transcript": "/t.jsonl", "cwd": "/", "at": "2026"}
    queue.put(store, session="s1", **names)
    code, found = checks(project)
    assert (code, of(found, "queue", "note")) == (0, ["1 waiting"])
    for _ in range(queue.MAX_TRIES):
        claimed = queue.claim(store, 0.0, (), early=True) or {}
        queue.give_back(store, claimed, "no transcript", 0.0)
    code, found = checks(project)
    assert (code, of(found, "queue", "problem")) == (1, ["session s1 failed: no transcript"])


def test_a_file_that_is_no_entry_of_the_queue_is_named(project):
    store = layout.project_store(str(project))
    queue.put(store, host="codex", session="s", transcript="/t", cwd="/", at="2026")
    (name,) = os.listdir(store.queue)
    put(project, f".rose/local/queue/{'0' * 64}.json", files.read_bytes(f"{store.queue}/{name}"))
    put(project, ".rose/local/queue/torn.json", '{"v": 1,')
    put(project, ".rose/local/queue/notes.txt", "no entry, and nobody reads it as one")
    code, found = checks(project)
    assert code == 1
    assert of(found, "queue", "problem") == [
        f".rose/local/queue/{name} is no entry of the queue, and passed over"
        for name in (f"{'0' * 64}.json", "torn.json")
    ]
    assert of(found, "queue", "note") == ["1 waiting"]


def failed(project, problem, *, days=0.0):
    at = time.strftime(session.TIME, time.gmtime(time.time() - days * 86_400 - 1))
    line = {"v": 1, "at": at, "event": "Stop", "host": "codex", "problem": problem}
    files.append_line(layout.project_store(str(project)).log, files.dump_json(line))
    return at


def test_the_hooks_last_failure_is_shown_for_a_week_and_with_its_age(project):
    failed(project, "an old one", days=8)
    assert not any("failure" in text for text in of(checks(project)[1], "hook", "note"))
    failed(project, "first", days=3)
    at = failed(project, "second", days=2)
    assert f"last failure {at} (2 days ago) Stop codex: second" in of(
        checks(project)[1], "hook", "note"
    )


def test_doctor_and_status_say_the_same_of_the_hook(project):
    failed(project, "deadline", days=1)
    said = [text for text in of(checks(project)[1], "hook", "note") if "failure" in text]
    status = run("status", cwd=project).out
    assert said[0] in " ".join(status.split())


def test_a_log_that_cannot_be_read_is_a_problem(project):
    store = layout.project_store(str(project))
    put(project, ".rose/local/log/hook.jsonl/x", "a folder in place of the file")
    code, found = checks(project)
    assert code == 1
    assert of(found, "hook", "problem")[0].startswith(f"{store.log} cannot be read")


@pytest.mark.parametrize("name", ["sessions", "blocks", "begun", "queue"])
def test_a_file_in_place_of_a_folder_is_a_problem(project, name):
    put(project, f".rose/local/{name}", "")
    code, found = checks(project)
    assert code == 1
    assert of(found, "store", "problem") == [f"{project}/.rose/local/{name} is no folder"]


def test_what_is_no_record_in_the_ledger_is_counted(project):
    put(project, ".rose/local/ledger/0123456789ab.jsonl", '<<<<<<< a\n{"v": 1}\n')
    code, found = checks(project)
    assert (code, of(found, "ledger", "note")) == (
        0,
        ["2 lines are no record of a session, and passed over"],
    )
    put(project, ".rose/local/ledger/ba9876543210.jsonl/x", "")
    code, found = checks(project)
    assert (code, len(of(found, "ledger", "problem"))) == (1, 1)


def test_a_rejection_that_cannot_be_read_is_a_problem(project):
    put(project, ".rose/rejections/r_0000aa.md", b"\xff\xfe")
    code, found = checks(project)
    assert (code, len(of(found, "rules", "problem"))) == (1, 1)


def test_a_page_of_turned_down_lessons_that_cannot_be_read_is_a_problem(project):
    put(project, ".rose/rejections/s_0123456789abcdef.md", "---\nsession: [s\n---\n")
    code, found = checks(project)
    assert (code, len(of(found, "rejections", "problem"))) == (1, 1)
    put(project, ".rose/rejections/s_0123456789abcdef.md", "---\nsession: s\n---\n- why: x\n")
    code, found = checks(project)
    assert (code, len(of(found, "rejections", "note"))) == (0, 1)


def test_a_folder_of_rejections_that_cannot_be_listed_is_said_once(project):
    put(project, ".rose/rejections", "a file in place of the folder")
    found = checks(project)[1]
    assert len(of(found, "rules", "problem")) == 1
    assert of(found, "rejections", "problem") == []


def test_no_line_is_wider_than_a_terminal(project):
    put(project, "nodes/a.md", "---\nx: 1\nx: 2\n---\n# A\n")
    run("install", "--host", "codex", cwd=project)
    lines = run("doctor", cwd=project).out.splitlines()
    # A path is never broken, and is the only word on its line then.
    wide = [line for line in lines if len(line) > 80 and len(line[20:].split()) > 1]
    assert wide == []


def test_a_file_in_place_of_the_local_folder_is_a_problem(project):
    local = project / ".rose" / "local"
    for folder, _, names in os.walk(local, topdown=False):
        for name in names:
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    local.write_text("")
    code, found = checks(project)
    assert code == 1
    assert "is no folder" in of(found, "store", "problem")[0]


def test_a_stale_layer_is_a_note(project):
    os.utime(project / ".rose" / "routing", ns=(1, 1))
    assert of(checks(project)[1], "layer", "note") == ["not up to date"]


@pytest.mark.parametrize("home", [None, "/dev/null"])
def test_it_works_without_a_home(project, home):
    assert checks(project, env={"HOME": home})[0] == 0
