"""`rose reflect` and `rose undo` over the recorded sessions that the demo runs on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from rose import files, layout
from rose.reflection import notes, queue
from rose.routing import compiled, ledger, table
from tests.clirun import ROOT, run
from tests.factories import a_rule_file

DEMO = os.path.join(ROOT, "rose", "demo")
FIRST = "10000000-0000-4000-8000-0000000000a1"
SECOND = "20000000-0000-4000-8000-0000000000a2"
NOW = "2026-11-30T09:12:44Z"


@pytest.fixture
def shop(tmp_path):
    """Return the store of the demo's repository, set up and empty."""
    base = os.path.join(os.path.realpath(tmp_path), "shop")
    shutil.copytree(os.path.join(DEMO, "repo"), base)
    run("init", cwd=base)
    return layout.project_store(base)


def transcript(shop, name, session=None, folder="transcripts"):
    """Write a recorded session as it would have run in the shop and return its path."""
    text = files.read_text(os.path.join(DEMO, "transcripts", f"{name}.jsonl"))
    path = os.path.join(os.path.dirname(shop.base), folder, f"{session or name}.jsonl")
    files.replace(path, text.replace("/repo", shop.base))
    return path


def rose(shop, *words: str):
    return run(*words, cwd=shop.base)


def both(shop):
    """Reflect on the two recorded sessions of one kind of work; the second one's result."""
    rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    return rose(shop, "reflect", "--transcript", transcript(shop, "work-2"))


def host_copy(shop, name, session):
    """Put a session where Claude Code keeps it."""
    slug = shop.base.replace("/", "-").replace("_", "-").replace(".", "-")
    return transcript(shop, name, session, os.path.join("home", ".claude", "projects", slug))


def queued(shop, session, path):
    queue.put(shop, host="claude-code", session=session, transcript=path, cwd=shop.base, at=NOW)


def test_the_first_session_of_a_kind_says_that_it_takes_two(shop):
    result = rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        f"session    {FIRST} (claude-code), 42 rows, 1 prompt\n"
        "opened     testing/integration-db (read)\n"
        'used       testing/integration-db: "APP_DB_URL=sqlite:///tmp/app.db"\n'
        "rules      none sent\n"
        "learned    nothing: this is the first session that used testing/integration-db;\n"
        "           a rule takes two of one kind\n"
        "routing    0 selection rules over 15 lessons  "
        "(ratio 0.00, should fall as the store grows)\n"
    )


def test_the_second_session_says_what_was_learned_from_where_and_the_way_back(shop):
    result = both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    learned = result.out.split("learned    ")[1].splitlines()
    assert learned[0] == f"added {rule.id} (match: {rule.match[0]})"
    assert learned[1].strip().startswith("- When the task ")
    assert '"The integration tests are red on my branch, find out why"' in result.out
    assert f"           undo: rose undo {SECOND}\n" in result.out
    assert result.out.endswith(
        "routing    1 selection rule over 15 lessons  "
        "(ratio 0.07, should fall as the store grows)\n"
    )


def test_a_dry_run_says_what_would_be_learned_and_writes_nothing(shop):
    rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    before = ledger.read(shop)
    path = transcript(shop, "work-2")
    result = rose(shop, "reflect", "--transcript", path, "--dry-run")
    assert result.code == 0
    assert "learned    would have added a rule\n           - When the task " in result.out
    assert "dry run: nothing was written" in result.out
    assert "undo:" not in result.out
    assert ledger.read(shop) == before
    assert table.read(shop, ("nodes",)).rules == ()


def test_a_session_that_is_recorded_already_changes_nothing(shop):
    both(shop)
    result = rose(shop, "reflect", "--transcript", transcript(shop, "work-2"))
    assert result.code == 0
    assert "is recorded\n           already, with all of its 45 rows" in result.out
    assert len(ledger.read(shop).cases) == 2


def test_json_of_one_session_holds_facts_and_operation(shop):
    rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    found = rose(shop, "reflect", "--transcript", transcript(shop, "work-2"), "--json").json
    assert (found["state"], found["session"], found["n"]) == ("reflected", SECOND, 2)
    assert found["used"][0]["lesson"] == "testing/integration-db"
    assert [one["accepted"] for one in found["operations"]] == [True]
    assert found["reason"] is None


def test_json_of_a_session_that_taught_nothing_says_why(shop):
    found = rose(shop, "reflect", "--transcript", transcript(shop, "work-1"), "--json").json
    assert found["operations"] == []
    assert found["reason"].endswith("a rule takes two of one kind")


def test_where_search_finds_the_lesson_each_command_says_that_no_rule_is_needed(shop):
    rose(shop, "config", "recall.serve", "pointers")
    why = "search finds testing/integration-db for such a task already, so no rule is needed"
    learned = both(shop).out
    assert f"learned nothing: {why} routing" in " ".join(learned.split())
    status, route = (" ".join(rose(shop, name).out.split()) for name in ("status", "route"))
    assert f"learned nothing yet from 2 sessions: {why} delivery" in status
    assert f"No rule yet from 2 sessions: {why}. To teach one:" in route
    assert rose(shop, "status", "--json").json["why_nothing"] == why
    rose(shop, "config", "recall.serve", "off")
    again = rose(shop, "reflect", "--transcript", transcript(shop, "work-routed"))
    assert "learned    added r_" in again.out


@pytest.mark.parametrize(
    ("keep", "why"),
    [
        (lambda _: False, "nothing: no lesson was opened"),
        (lambda row: "Read" in row, "nothing: lessons were opened, but none is known"),
    ],
)
def test_a_session_without_use_says_what_was_missing(shop, keep, why):
    path = transcript(shop, "work-1")
    rows = files.read_text(path).splitlines()
    calls = {}
    for row in map(json.loads, rows):
        content = row.get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block["name"]
    gone = [call for call, name in calls.items() if not keep(name)]
    files.replace(path, "\n".join(r for r in rows if not any(c in r for c in gone)) + "\n")
    result = rose(shop, "reflect", "--transcript", path)
    assert why in result.out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--pending", "--all"],
        ["--transcript", "x", "--session", "y"],
        ["--transcript", "x", "--backend", "oracle"],
        ["--transcript", "README.md", "--host", "nobody"],
        ["--pending", "--dry-run"],
    ],
)
def test_a_call_that_does_not_say_which_session_is_a_usage_error(shop, words):
    result = rose(shop, "reflect", *words)
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize(
    "words",
    [
        ["--transcript", "missing.jsonl"],
        ["--transcript", "."],
        ["--session", "no-such-session"],
        ["--session", "../../etc/passwd"],
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(shop, words):
    result = rose(shop, "reflect", *words)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("rose: ")
    assert "bug" not in result.err


def test_without_a_store_reflection_is_refused(tmp_path):
    assert run("reflect", "--pending", cwd=tmp_path).code == 1
    assert run("undo", cwd=tmp_path).code == 1


def test_the_worker_without_a_store_has_nothing_to_do(tmp_path):
    result = run("reflect", "--pending", "--worker", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_session_is_found_where_the_host_keeps_it(shop):
    host_copy(shop, "work-1", FIRST)
    result = rose(shop, "reflect", "--session", FIRST)
    assert result.code == 0
    assert [case.session for case in ledger.read(shop).cases] == [FIRST]


@pytest.mark.parametrize("place", ["host", "queue"])
def test_a_session_may_be_named_by_the_beginning_of_its_id(shop, place):
    if place == "host":
        host_copy(shop, "work-1", FIRST)
    else:
        queued(shop, FIRST, transcript(shop, "work-1"))
    assert rose(shop, "reflect", "--session", FIRST[:6]).code == 0
    assert [case.session for case in ledger.read(shop).cases] == [FIRST]
    assert queue.entries(shop) == []


def test_a_beginning_that_several_sessions_have_names_them(shop):
    host_copy(shop, "work-1", "abc1")
    queued(shop, "abc2", transcript(shop, "work-2"))
    result = rose(shop, "reflect", "--session", "abc")
    assert result.code == 1
    assert "'abc' names several sessions: abc1, abc2." in result.err


@pytest.mark.parametrize("text", ["# Notes\n\nNo session.\n", '{"a":1}\n[2]\n', "5\n"])
def test_a_file_that_is_no_transcript_is_refused_and_not_recorded(shop, text):
    files.replace(os.path.join(shop.base, "notes.md"), text)
    result = rose(shop, "reflect", "--transcript", "notes.md")
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("notes.md: holds no session that rose can read.\n")
    assert ledger.read(shop).cases == ()


@pytest.mark.parametrize(
    ("cwd", "is_outside"), [("/repo", True), ("{base}", False), ("{base}/src", False)]
)
def test_a_session_that_ran_elsewhere_is_recorded_with_a_warning(shop, cwd, is_outside):
    path = transcript(shop, "work-1")
    ran = cwd.format(base=shop.base)
    files.replace(path, files.read_text(path).replace(shop.base, ran))
    result = rose(shop, "reflect", "--transcript", path)
    said = f"warning: this session ran in {ran}, outside {shop.base}.\n"
    assert (result.code, result.err) == (0, said if is_outside else "")
    assert len(ledger.read(shop).cases) == 1


def test_a_session_in_a_worktree_did_not_run_elsewhere(shop):
    git = ["git", "-C", shop.base]
    tree = os.path.join(os.path.dirname(shop.base), "tree")
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", tree],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    path = transcript(shop, "work-1")
    files.replace(path, files.read_text(path).replace(shop.base, tree))
    assert rose(shop, "reflect", "--transcript", path).err == ""


def test_all_prints_one_line_a_session_and_may_be_repeated(shop):
    host_copy(shop, "work-1", FIRST)
    host_copy(shop, "work-2", SECOND)
    result = rose(shop, "reflect", "--all")
    lines = result.out.splitlines()
    assert result.code == 0
    assert [line.split("  ", 1)[0] for line in lines] == ["1/2", "2/2"]
    assert f"{FIRST} reflected: 1 opened, 1 used" in result.out
    again = rose(shop, "reflect", "--all")
    assert f"{FIRST} already" in again.out
    assert len(ledger.read(shop).cases) == 2


def test_all_goes_on_after_a_transcript_that_cannot_be_read(shop):
    host_copy(shop, "work-1", FIRST)
    files.replace(host_copy(shop, "work-2", SECOND), "")
    result = rose(shop, "reflect", "--all")
    assert result.code == 1
    assert "failed: " in result.out
    assert f"{FIRST} reflected" in result.out
    found = rose(shop, "reflect", "--all", "--json")
    assert found.code == 1
    assert [len(found.json[key]) for key in ("outcomes", "failures")] == [1, 1]


def test_all_without_sessions_says_so(shop):
    assert rose(shop, "reflect", "--all").out == "No session of this project was found.\n"


def test_the_queue_is_worked_and_emptied(shop):
    assert rose(shop, "reflect", "--pending").out == "The queue is empty.\n"
    queued(shop, FIRST, transcript(shop, "work-1"))
    queued(shop, SECOND, transcript(shop, "work-2"))
    result = rose(shop, "reflect", "--pending")
    assert result.code == 0
    assert f"{SECOND} reflected" in result.out
    assert f"  undo: rose undo {SECOND}\n" in result.out
    assert queue.entries(shop) == []


def test_a_session_of_the_queue_that_fails_is_said_and_stays(shop):
    queued(shop, FIRST, "/nowhere.jsonl")
    result = rose(shop, "reflect", "--pending")
    assert result.code == 1
    assert f"{FIRST} failed: " in result.out
    assert [entry["state"] for entry in queue.entries(shop)] == ["pending"]
    found = rose(shop, "reflect", "--pending", "--json")
    assert found.code == 1
    assert found.json["failures"][0]["session"] == FIRST


def test_a_session_without_a_transcript_is_said(shop):
    queued(shop, FIRST, "")
    assert "has no transcript" in rose(shop, "reflect", "--pending").out


def test_a_second_worker_by_hand_is_told_to_wait(shop):
    with queue.working_lock(shop, 0):
        result = rose(shop, "reflect", "--pending")
    assert result.code == 1
    assert "another rose process" in result.err


def test_the_worker_is_quiet_and_logs_what_failed(shop):
    queued(shop, FIRST, transcript(shop, "work-1"))
    queued(shop, SECOND, "/nowhere.jsonl")
    result = rose(shop, "reflect", "--pending", "--worker")
    assert (result.code, result.out, result.err) == (0, "", "")
    lines = [line for _, line in files.read_jsonl(shop.log)]
    assert [line["event"] for line in lines] == ["worker"]
    assert str(lines[0]["problem"]).startswith(f"session {SECOND}: /nowhere.jsonl")
    assert SECOND in rose(shop, "status").out.split("hook       ")[1]


def test_the_worker_logs_a_session_that_it_drops_once_and_the_queue_is_in_order_again(
    shop, monkeypatch
):
    monkeypatch.setattr(queue, "RETRY_S", -1)
    queued(shop, SECOND, "/nowhere.jsonl")
    path = os.path.join(shop.queue, layout.session_name("claude-code", SECOND) + ".json")
    entry = json.loads(files.read_text(path))
    files.replace(path, json.dumps({**entry, "state": "failed", "tries": 3}))
    for _ in range(2):
        rose(shop, "reflect", "--pending", "--worker")
    problems = [line["problem"] for _, line in files.read_jsonl(shop.log)]
    dropped = f"session {SECOND}: the transcript is gone: /nowhere.jsonl"
    assert [problem for problem in problems if "gone" in str(problem)] == [dropped]
    assert "queue      empty\n" in rose(shop, "status").out


def test_a_failed_session_that_is_reflected_on_by_hand_leaves_the_queue(shop):
    path = transcript(shop, "work-1")
    queued(shop, FIRST, path)
    assert rose(shop, "reflect", "--session", FIRST).code == 0
    assert queue.entries(shop) == []


def test_undo_takes_the_last_reflection_back(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    result = rose(shop, "undo")
    assert result.code == 0
    assert result.out == (
        f"Session {SECOND} is taken back.\n"
        f"  {rule.id} is deleted\n"
        "routing    0 selection rules over 15 lessons  "
        "(ratio 0.00, should fall as the store grows)\n"
    )
    assert table.read(shop, ("nodes",)).rules == ()
    assert [case.session for case in ledger.read(shop).cases] == [FIRST]
    assert f"added {rule.id} (taken back since)" in rose(shop, "status").out


def test_undo_says_of_a_rule_that_is_gone_that_it_was_gone_already(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    rose(shop, "route", "--forget", rule.id)
    assert f"added {rule.id} (forgotten since)" in rose(shop, "status").out
    assert f"  {rule.id} was gone already\n" in rose(shop, "undo").out


def test_undo_without_a_name_passes_over_a_session_that_changed_no_rule(shop):
    both(shop)
    rose(shop, "reflect", "--transcript", transcript(shop, "work-routed"))
    assert len(ledger.read(shop).cases) == 3
    assert f"Session {SECOND} is taken back." in rose(shop, "undo").out


def test_undo_of_a_session_that_changed_no_rule_says_so(shop):
    both(shop)
    result = rose(shop, "undo", FIRST[:8])
    assert result.code == 0
    assert "it had changed no rule; its credit no longer counts" in result.out


def test_undo_leaves_a_rule_that_a_person_edited(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    files.replace(rule.path, files.read_text(rule.path) + "mine\n")
    result = rose(shop, "undo", SECOND)
    assert f"{rule.id} is left alone: it was edited or decided on since" in result.out
    said = " ".join(rose(shop, "status").out.split())
    assert f"added {rule.id} (edited since and left alone)" in said
    assert os.path.exists(rule.path)


def test_undo_in_json(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    found = rose(shop, "undo", "--json").json
    assert found == {
        "session": SECOND,
        "n": 2,
        "restored": [],
        "deleted": [rule.id],
        "gone": [],
        "left": [],
        "commit": None,
    }


@pytest.mark.parametrize("words", [[], ["no-such-session"]])
def test_undo_with_nothing_to_take_back_is_refused(shop, words):
    result = rose(shop, "undo", *words)
    assert (result.code, result.out) == (1, "")
    assert "no reflection" in result.err


def test_undo_takes_no_note_of_a_store_that_is_not_trusted(shop):
    """A clone may bring a note of its own making, and a link in a rule's place."""
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    text = files.read_text(rule.path)
    run("trust", "--revoke", cwd=shop.base)
    result = rose(shop, "undo")
    assert (result.code, result.out) == (1, "")
    assert "`rose trust`" in result.err
    assert files.read_text(rule.path) == text


def test_undo_writes_through_no_link_into_the_settings_of_git(shop):
    subprocess.run(["git", "init", "-q", shop.base], check=True)
    config = files.read_text(os.path.join(shop.base, ".git/config"))
    os.makedirs(shop.routing, exist_ok=True)
    os.symlink("../../.git/config", os.path.join(shop.routing, "r_abcdef.md"))
    change = {"before": config + "[core]\n\tfsmonitor = evil\n", "after": notes.digest(config)}
    note = {"v": 1, "session": "s", "host": "claude-code", "n": 999, "at": NOW}
    text = files.dump_json({**note, "rules": {"r_abcdef": change}})
    files.replace(os.path.join(shop.undo, "a.json"), text)
    assert rose(shop, "undo").code == 1
    assert files.read_text(os.path.join(shop.base, ".git/config")) == config


def test_a_forgotten_rule_is_not_written_again(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    rose(shop, "route", "--forget", rule.id)
    rose(shop, "undo", SECOND)
    result = rose(shop, "reflect", "--transcript", transcript(shop, "work-2"), "--json")
    assert result.code == 0
    assert rule.match not in [again.match for again in table.read(shop, ("nodes",)).rules]


def test_a_rule_that_was_not_delivered_is_named_when_its_lesson_is_used(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    path = transcript(shop, "work-routed")
    result = rose(shop, "reflect", "--transcript", path)
    said = " ".join(result.out.split())
    assert f"nothing: {rule.id} leads to testing/integration-db already" in said


def test_a_forgotten_rule_in_words_alone_stops_no_other_and_is_given_as_no_reason(shop):
    rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    taught = rose(
        shop,
        "route",
        "--when",
        "db work",
        "--then",
        "read nodes/testing/integration-db.md",
        "--json",
    ).json
    rose(shop, "route", "--forget", taught["id"])
    rose(shop, "undo", FIRST)
    result = rose(shop, "reflect", "--transcript", transcript(shop, "work-1"))
    said = " ".join(result.out.split())
    assert "this is the first session that used testing/integration-db" in said


def prompted(shop, name):
    """Let the hook answer a session's prompt; the transcript with what it printed."""
    path = transcript(shop, name)
    rows = [json.loads(line) for line in files.read_text(path).splitlines()]
    session = next(row["sessionId"] for row in rows if "sessionId" in row)
    payload = {"session_id": session, "transcript_path": path, "cwd": shop.base, "prompt": "x"}
    hook = [sys.executable, "-IS", os.path.join(ROOT, "rose", "launch.py"), "UserPromptSubmit"]
    done = subprocess.run(
        hook, input=json.dumps(payload), capture_output=True, text=True, check=True, cwd=shop.base
    )
    block = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    for row in rows:
        if row.get("attachment", {}).get("type") == "hook_additional_context":
            row["attachment"]["content"] = [block]
            row["rendered"] = [{"content": f"hook additional context: {block}\n"}]
    files.replace(path, "".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_delivered_rule_is_credited_and_the_credit_is_shown(shop):
    both(shop)
    (rule,) = table.read(shop, ("nodes",)).rules
    result = rose(shop, "reflect", "--transcript", prompted(shop, "work-routed"))
    assert f"rules      1 sent, 1 delivered\n           {rule.id} followed-useful\n" in result.out
    said = " ".join(result.out.split())
    assert f"nothing: {rule.id} had offered testing/integration-db" in said
    assert f"{rule.id}  score 0.25  helped 1+0  wasted 0+0  seen 1" in rose(shop, "route").out
    assert "3 sessions recorded, rules sent in 1, delivered in 1" in rose(shop, "status").out


def test_a_worker_without_sessions_still_brings_the_layer_up_to_date(shop):
    """A prompt that ran out of time leaves the rebuild to the worker that it starts."""
    a_rule_file(shop, when="the task runs the tests", then="read nodes/testing/")
    assert rose(shop, "reflect", "--pending", "--worker").code == 0
    layer = compiled.read(shop.layer)
    assert layer is not None
    assert "the task runs the tests" in str(layer["block"])
