"""The prompt hook where a person has it ask a model: who selects, who judges, and the deadline."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pytest

from rose import config, files, layout, refresh, trust
from rose.selection import judge_local, pack, trace
from tests import patient
from tests.factories import a_lesson_file, a_served_store
from tests.fakes import a_program, held, spent, wait_for_the_end

LAYER = "rose routing layer v1"
WITHOUT_WORDS = pytest.mark.skipif(
    not judge_local.hindrance(), reason="The package wordllama is installed."
)
# Plays Claude Code: looks into one lesson, then names it.
CLAUDE = """
import json, sys
asked = sys.stdin.read()
open({kept!r}, "a").write(json.dumps([sys.argv[1:], asked]) + "\\n")
use = {{"type": "tool_use", "name": "Read", "input": {{"file_path": {path!r}}}}}
said = {{"type": "assistant", "message": {{"content": [use]}}}}
usage = {{"input_tokens": 900, "output_tokens": 20}}
report = {{"type": "result", "usage": usage, "structured_output": {{"lessons": [{path!r}]}}}}
print(json.dumps([said, report]))
"""
# Judges every text as it says itself.
JUDGE = """
import json, re, sys
asked = json.load(sys.stdin)["question"]
ids = re.findall(r'{"id": "(\\d+)", "text": (".*")}', asked)
scores = [{"id": name, "score": 1 if "Canary" in text else 0} for name, text in ids]
print(json.dumps({"scores": scores}))
"""


@pytest.fixture
def store(tmp_path):
    made = a_served_store(tmp_path)
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nThe database of one host first.\n")
    settle(made, "recall.serve", "bodies")
    return made


def settle(store, *pairs: str):
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        config.set_value(store, name, value)
    refresh.everything(layout.Stores(store, None, ""))


def fork_on(store, tmp_path, script=CLAUDE, seconds="8"):
    """Have prompts wait for a fork, which a script plays; return its environment."""
    settle(store, "recall.selector", "fork", "recall.timeout_s", seconds)
    path = os.path.join(store.base, "nodes/deploy/canary.md")
    played = a_program(tmp_path, "claude", script.format(path=path, kept=str(tmp_path / "asked")))
    # The suite's own environment names a backend that asks nobody.
    return {**played, "ROSE_BACKEND": "auto"}


def hook(store, environ=None, **changes):
    """Answer a prompt in a process of its own; return what is injected and what is said."""
    body = {"session_id": "s", "cwd": store.base, "hook_event_name": "UserPromptSubmit"}
    done = subprocess.run(
        patient.words("UserPromptSubmit"),
        input=json.dumps({**body, "prompt": "start the database", **changes}).encode(),
        capture_output=True,
        check=False,
        timeout=120,
        cwd=os.environ["HOME"],
        env={**os.environ, **(environ or {})},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    printed = json.loads(done.stdout or b"{}")
    injected = printed.get("hookSpecificOutput", {}).get("additionalContext", "")
    return injected, printed.get("systemMessage", "")


def last(store):
    return trace.latest(store, 1)[0]


def log(store):
    return [line["problem"] for _, line in files.read_jsonl(store.log)]


def nodes(items):
    return [one["node"] for one in items]


def asked(tmp_path):
    """Return the words and the question of each call of the program."""
    return [json.loads(line) for line in files.read_text(str(tmp_path / "asked")).splitlines()]


def test_a_fork_selects_with_the_layer_in_hand_and_reading_tools_alone(store, tmp_path):
    environ = fork_on(store, tmp_path)
    injected, said = hook(store, environ)
    assert injected.startswith(LAYER)
    assert injected.endswith(
        "- nodes/deploy/canary.md, whole:\n> # Canary\n> The database of one host first."
    )
    assert said == ""
    row = last(store)
    assert (row["failure"], nodes(row["admitted"])) == (None, ["deploy/canary"])
    assert [one["nodes"] for one in row["looked"]] == [["deploy/canary"]]
    [[words, question]] = asked(tmp_path)
    assert words[words.index("--tools") + 1] == "Read,Grep,Glob"
    assert "--no-session-persistence" in words
    assert '{"disableAllHooks":true}' in words
    assert "--resume" not in words
    assert LAYER in question
    assert "start the database" in question


def test_a_session_with_a_transcript_is_forked(store, tmp_path):
    environ = fork_on(store, tmp_path)
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n")
    hook(store, environ, transcript_path=str(transcript))
    [[words, _]] = asked(tmp_path)
    assert words[1:4] == ["--resume", "s", "--fork-session"]


def test_a_fork_is_paid_for_out_of_the_days_limits_and_not_begun_beyond_them(store, tmp_path):
    environ = fork_on(store, tmp_path)
    settle(store, "spend.calls_per_day", "1")
    hook(store, environ)
    _, said = hook(store, environ, session_id="s2")
    assert last(store)["failure"] == "selection-failed"
    assert "`spend.calls_per_day` is 1" in said
    [line] = [line for _, line in files.read_jsonl(store.spend)]
    assert (line["calls"], line["input_tokens"], line["session"]) == (1, 900, "")


def test_without_the_time_no_fork_is_begun_and_the_selector_serves_as_ever(store, tmp_path):
    environ = fork_on(store, tmp_path, seconds="2")
    injected, said = hook(store, environ)
    assert pack.TITLE in injected
    assert not (tmp_path / "asked").exists()
    assert last(store)["failure"] == "selection-failed"
    assert said.startswith("rose: degraded, the selection failed")
    assert "recall.timeout_s" in said
    assert any("no fork was begun" in problem for problem in log(store))


def test_at_its_deadline_a_fork_is_ended_and_the_selector_serves(store, tmp_path):
    lock = str(tmp_path / "held")
    script = held(lock).replace("{", "{{").replace("}", "}}") + "import time\ntime.sleep(60)\n"
    environ = fork_on(store, tmp_path, script, seconds="5")
    injected, said = hook(store, environ)
    assert injected.startswith(LAYER)
    assert "db.md, whole" in injected
    assert "the fork failed: claude was not done after" in said
    assert "`rose config recall.timeout_s N` gives it more" in said
    assert last(store)["failure"] == "selection-failed"
    wait_for_the_end(lock)


def test_a_prompt_that_the_host_breaks_off_takes_its_fork_with_it(store, tmp_path):
    lock, begun = str(tmp_path / "held"), tmp_path / "begun"
    script = held(lock) + f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(60)\n"
    environ = {**os.environ, **fork_on(store, tmp_path, script)}
    told = json.dumps({"session_id": "s", "cwd": store.base, "prompt": "start the database"})
    words = patient.words("UserPromptSubmit")
    with subprocess.Popen(words, stdin=subprocess.PIPE, env=environ, text=True) as child:
        assert child.stdin is not None
        child.stdin.write(told)
        child.stdin.close()
        while not begun.exists():
            assert child.poll() is None
            time.sleep(0.01)
        child.terminate()
    wait_for_the_end(lock)
    # Whoever works for the hook ends after it, and writes down what it has begun.
    while not spent(store):
        time.sleep(0.01)
    assert spent(store) == [(1, "interrupted")]


def test_a_fork_that_will_not_end_costs_the_selection_and_never_the_layer(store, tmp_path):
    lock = str(tmp_path / "held")
    script = held(lock) + (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n"
    )
    environ = fork_on(store, tmp_path, script, seconds="5")
    injected, said = hook(store, environ)
    assert injected.startswith(LAYER)
    assert said.startswith("rose: degraded")
    wait_for_the_end(lock)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("print('no')", "in words"),
        ("import sys; sys.exit(3)", "ended with code 3"),
        ("print('[1, 2')", "in words"),
    ],
)
def test_a_fork_that_fails_leaves_the_selector(store, tmp_path, script, words):
    injected, said = hook(store, fork_on(store, tmp_path, script))
    assert "db.md, whole" in injected
    assert words in said


def test_no_program_is_no_fork(store, tmp_path):
    fork_on(store, tmp_path)
    injected, said = hook(store, {"PATH": "/nowhere", "ROSE_BACKEND": "auto"})
    assert "db.md, whole" in injected
    assert "`claude` is not on PATH" in said


@pytest.mark.parametrize("name", ["offline", "openai"])
def test_what_cannot_look_into_files_is_no_fork(store, tmp_path, name):
    environ = fork_on(store, tmp_path)
    injected, said = hook(store, {**environ, "ROSE_BACKEND": name})
    assert "db.md, whole" in injected
    assert f"`reflection.backend` {name} looks into no lesson." in said
    assert not (tmp_path / "asked").exists()


def test_a_store_that_is_not_trusted_starts_nothing(store, tmp_path):
    environ = fork_on(store, tmp_path)
    settle(store, "recall.judge", "command", "reflection.command", f"touch {tmp_path}/ran")
    trust.remove(store, os.environ)
    injected, said = hook(store, environ)
    assert "db.md, whole" in injected
    assert said == ""
    assert not (tmp_path / "asked").exists()
    assert not (tmp_path / "ran").exists()


def test_the_home_stores_word_starts_nothing_in_a_store_that_is_not_trusted(store, tmp_path):
    environ = fork_on(store, tmp_path)
    config.unset(store, "recall.selector")
    home = layout.home_store(os.environ)
    os.makedirs(home.routing)
    config.set_value(home, "recall.selector", "fork")
    trust.remove(store, os.environ)
    hook(store, environ)
    assert not (tmp_path / "asked").exists()
    trust.add(store, os.environ)
    hook(store, environ, session_id="s2")
    assert (tmp_path / "asked").exists()


@pytest.mark.parametrize("where", ["project", "home"])
def test_where_the_working_agent_selects_nothing_is_served(store, where):
    if where == "project":
        settle(store, "recall.selector", "agent")
    else:
        home = layout.home_store(os.environ)
        os.makedirs(home.routing)
        config.set_value(home, "recall.selector", "agent")
    injected, said = hook(store)
    assert injected.startswith(LAYER)
    assert pack.TITLE not in injected
    assert said == ""
    assert trace.latest(store, 9) == []


def test_the_home_stores_agent_is_outdone_by_a_store_that_is_trusted_alone(store):
    home = layout.home_store(os.environ)
    os.makedirs(home.routing)
    config.set_value(home, "recall.selector", "agent")
    settle(store, "recall.selector", "embedded")
    assert "db.md, whole" in hook(store)[0]
    trust.remove(store, os.environ)
    injected, said = hook(store, session_id="s2")
    assert injected.startswith(LAYER)
    assert (pack.TITLE in injected, said) == (False, "")
    trust.add(store, os.environ)
    assert "db.md, whole" in hook(store, session_id="s3")[0]


def test_a_judge_orders_and_filters_what_a_prompt_is_served(store, tmp_path):
    environ = a_program(tmp_path, "judge", JUDGE)
    settle(store, "recall.judge", "command", "reflection.command", "judge", "recall.timeout_s", "8")
    injected, said = hook(store, environ)
    row = last(store)
    assert nodes(row["admitted"]) == ["deploy/canary"]
    assert "canary.md, whole" in injected
    assert (row["judge"], row["failure"], said) == ("command", None, "")
    assert row["budget"]["judged"] == ["filter", "rerank"]
    assert [line["calls"] for _, line in files.read_jsonl(store.spend)] == [1, 1]


@pytest.mark.parametrize(
    ("name", "seconds", "words"),
    [
        ("command", "8", "`reflection.command` is not set"),
        # What no time mends is said first.
        ("command", "2", "`reflection.command` is not set"),
        pytest.param("local", "2", "is not installed", marks=WITHOUT_WORDS),
        ("openai", "8", "`openai.model` is not set"),
        ("claude", "8", "`claude` is not on PATH"),
    ],
)
def test_without_a_judge_the_selection_passes_through_and_is_degraded(store, name, seconds, words):
    settle(store, "recall.judge", name, "recall.timeout_s", seconds)
    injected, said = hook(store, {"PATH": "/usr/bin:/bin"})
    assert "db.md, whole" in injected
    assert last(store)["failure"] == "judge-failed"
    assert said.startswith("rose: degraded, the judge failed")
    assert words in said
    assert any(words in problem for problem in log(store))


def test_without_the_time_no_judge_is_asked_and_the_setting_that_helps_is_named(store, tmp_path):
    environ = a_program(tmp_path, "judge", JUDGE)
    settle(store, "recall.judge", "command", "reflection.command", "judge")
    injected, said = hook(store, environ)
    assert "db.md, whole" in injected
    assert "the judge was not asked: 0." in said
    assert "`rose config recall.timeout_s N`" in said


def test_a_failure_is_told_once_a_session_and_logged_each_time(store):
    settle(store, "recall.judge", "claude")
    environ = {"PATH": "/usr/bin:/bin"}
    said = [hook(store, environ, prompt=f"the database {n}")[1] for n in range(2)]
    assert [bool(one) for one in said] == [True, False]
    assert len(log(store)) == 2
    assert hook(store, environ, session_id="t")[1] != ""


def test_another_host_waits_no_longer_than_ever(store, tmp_path):
    environ = fork_on(store, tmp_path)
    body = {"session_id": "s", "cwd": store.base, "prompt": "start the database"}
    subprocess.run(
        patient.words("BeforeAgent", "--host", "gemini"),
        input=json.dumps(body).encode(),
        check=True,
        timeout=120,
        cwd=os.environ["HOME"],
        capture_output=True,
        env={**os.environ, **environ},
    )
    assert last(store)["failure"] == "selection-failed"
    assert not (tmp_path / "asked").exists()


def test_a_held_record_of_what_was_spent_costs_the_fork_and_not_the_layer(store, tmp_path):
    environ = fork_on(store, tmp_path)
    with files.lock(store.spend_lock):
        injected, said = hook(store, environ)
    assert injected.startswith(LAYER)
    assert "db.md, whole" in injected
    assert "held by another rose process" in said
