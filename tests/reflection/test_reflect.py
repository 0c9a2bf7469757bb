"""The pass: real captured sessions, through the real files, to rules and credit."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from rose import files, layout
from rose.check import decide
from rose.errors import NoStore, RoseError, Unwritable
from rose.reflection import undo
from rose.routing import ledger, table
from tests import factories
from tests.hosts import making
from tests.reflection.scene import (
    DB,
    DB_LINE,
    NOON,
    Scene,
    bash,
    ids,
    read,
    session_id,
    with_block,
)


def learn(scene):
    """Reflect on the two sessions of one kind and return the second outcome."""
    scene.reflect(scene.capture("work-1"))
    return scene.reflect(scene.capture("work-2"))


def a_session(scene, number, prompt="Check the billing suite", *, use=True):
    """Write a session that opens the database lesson and, if told so, uses it."""
    rows = [making.user(prompt, 0), *read(f"nodes/{DB}.md", DB_LINE, number, 1)]
    if use:
        rows += bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", number, 2)
    return scene.session(number, *rows)


def test_two_sessions_of_one_kind_teach_one_rule(scene):
    first = scene.reflect(scene.capture("work-1"))
    assert (first.state, first.n, first.learned) == ("reflected", 1, ())
    outcome = scene.reflect(scene.capture("work-2"))
    [rule] = scene.rules()
    assert outcome.learned == (rule.id,)
    assert rule.match == ("word:integration",)
    assert rule.when == "the task mentions `integration`"
    assert rule.targets == (f"nodes/{DB}.md",)
    assert (rule.origin, rule.status, rule.born) == ("reflection", "active", 2)
    assert [item.quote for item in rule.evidence] == [
        "The integration tests are red on my branch, find out why",
        DB_LINE,
    ]
    assert {item.session for item in rule.evidence} == {outcome.facts.session}


def test_another_kind_of_work_teaches_nothing(scene):
    scene.reflect(scene.capture("work-1"))
    scene.reflect(scene.capture("work-docs"))
    assert scene.rules() == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: (
            text.replace('"name": "Read"', '"name": "Skip"')
            .replace('"name":"Read"', '"name":"Skip"')
            .replace("Export `APP_DB_URL=sqlite:///tmp/app.db`", "Nothing of it")
            .replace("nodes/testing/integration-db.md", "nodes/other.md")
        ),
        lambda text: text.replace("export APP_DB_URL=sqlite:///tmp/app.db && ", "").replace(
            "pytest tests/integration", "pytest tests/unit"
        ),
    ],
    ids=["the lesson is not opened", "its spans never return"],
)
def test_a_changed_session_changes_the_outcome(scene, change):
    scene.reflect(scene.capture("work-1"))
    outcome = scene.reflect(scene.capture("work-2", change))
    assert outcome.facts.used == ()
    assert scene.rules() == ()


def test_a_rule_that_arrived_and_was_followed_is_credited(scene):
    rule = learn(scene).learned[0]
    block = scene.send(session_id_of("work-routed"))
    outcome = scene.reflect(scene.capture("work-routed", lambda text: with_block(text, block)))
    assert outcome.facts.sent == outcome.facts.delivered == (rule,)
    assert outcome.facts.verdicts == {rule: "followed-useful"}
    assert len(scene.rules()) == 1


def session_id_of(name: str) -> str:
    rows = files.read_text(making.capture(f"claude/{name}.jsonl")).splitlines()
    return next(row["sessionId"] for row in map(json.loads, rows) if "sessionId" in row)


def test_a_block_that_the_host_cut_was_not_delivered_and_blames_nobody(scene):
    rule = learn(scene).learned[0]
    scene.send(session_id_of("work-cut"))
    outcome = scene.reflect(scene.capture("work-cut"))
    assert outcome.facts.sent == (rule,)
    assert outcome.facts.delivered == ()
    assert outcome.facts.verdicts == {}


def test_a_rule_that_was_reworded_since_it_was_sent_gets_no_verdict(scene):
    rule = learn(scene).learned[0]
    block = scene.send(session_id_of("work-routed"))
    table.update(scene.store, rule, {"then": f"look at nodes/{DB}.md"}, ("nodes",))
    outcome = scene.reflect(scene.capture("work-routed", lambda text: with_block(text, block)))
    assert outcome.facts.delivered == (rule,)
    assert outcome.facts.verdicts == {}


def test_the_ledger_line_says_what_was_observed(scene):
    scene.reflect(scene.capture("work-2"))
    [line] = scene.ledger_lines()
    assert line["n"] == 1
    assert line["rows"] == 45
    assert line["at"] == NOON
    assert line["host"] == "claude-code"
    assert line["task"] == "The integration tests are red on my branch, find out why"
    assert line["used"] == [DB]
    assert [one["lesson"] for one in line["opened"]] == ["testing/fixtures", DB]
    assert line["listed"] == ["deploy/rollback", "docs/links", "api/paging"]
    assert (line["sent"], line["delivered"], line["rules"]) == ([], [], {})
    assert line["by"] == "observed"
    assert line["store"] == {"rules": 0, "lessons": 5}


def test_a_second_run_changes_nothing(scene):
    learn(scene)
    before = snapshot(scene.base)
    again = scene.reflect(scene.capture("work-2"))
    assert again.state == "already"
    assert again.reason
    assert snapshot(scene.base) == before


def snapshot(base: str) -> dict[str, bytes]:
    """Return every file below a store with its bytes, less what is derived by stamp."""
    found = {}
    for folder, _, names in os.walk(os.path.join(base, ".rose")):
        for name in names:
            path = os.path.join(folder, name)
            if name not in ("layer.json", "lessons.json", "rules.json", "tokens.json"):
                found[path] = files.read_bytes(path)
    return found


def test_a_session_that_went_on_is_recorded_again_and_counts_once(scene):
    path = a_session(scene, 1, use=False)
    scene.reflect(path)
    with open(path, "a", encoding="utf-8") as stream:
        for row in bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", 1, 9):
            named = {**row, "sessionId": session_id(1), "cwd": scene.base}
            stream.write(json.dumps(named) + "\n")
    assert scene.reflect(path).n == 2
    [case] = ledger.read(scene.store).cases
    assert case.used == (DB,)


def test_a_dry_run_writes_nothing(scene):
    scene.reflect(scene.capture("work-1"))
    path = scene.capture("work-2")
    before = everything(scene.base)
    outcome = scene.reflect(path, dry_run=True)
    assert outcome.state == "dry-run"
    assert outcome.steps[0].rule == "new"
    assert outcome.steps[0].findings == ()
    assert everything(scene.base) == before


def everything(base: str) -> dict[str, tuple[bytes, int]]:
    return {
        os.path.join(folder, name): (
            files.read_bytes(os.path.join(folder, name)),
            os.stat(os.path.join(folder, name)).st_mtime_ns,
        )
        for folder, _, names in os.walk(base)
        for name in names
    }


def test_a_dry_run_on_a_fresh_store_leaves_no_file_behind(scene):
    path = scene.capture("work-1")
    before = everything(scene.base)
    scene.reflect(path, dry_run=True)
    assert everything(scene.base) == before


def test_the_trace_keeps_each_operation(scene):
    learn(scene)
    lines = [line for _, line in files.read_jsonl(scene.store.trace)]
    assert [len(line["operations"]) for line in lines] == [0, 1]
    assert lines[1]["operations"][0]["kind"] == "add"
    assert lines[1]["operations"][0]["accepted"] is True


def test_what_the_checks_refuse_is_traced_and_never_written(tmp_path):
    scene = Scene(tmp_path, {"routing.max_tokens": "40"})
    outcome = learn(scene)
    assert outcome.state == "reflected"
    assert outcome.learned == ()
    assert [finding.rule for finding in outcome.steps[0].findings] == ["too-large"]
    assert scene.rules() == ()
    lines = [line for _, line in files.read_jsonl(scene.store.trace)]
    assert "too-large" in lines[1]["operations"][0]["findings"][0]


def test_the_same_target_widens_the_rule_that_is_there(scene):
    rule = learn(scene).learned[0]
    outcome = scene.reflect(a_session(scene, 1, "Check the billing suite"))
    assert outcome.learned == (rule,)
    [widened] = scene.rules()
    assert widened.match == ("word:integration", "command:pytest")
    assert widened.when == "the task mentions `integration` or runs `pytest`"
    assert widened.born == outcome.n - 1
    assert [item.session for item in widened.evidence[2:]] == [session_id(1)] * 2


def test_a_persons_note_in_a_widened_rule_stays(scene):
    rule = learn(scene).learned[0]
    path = table.path_of(scene.store, rule)
    files.replace(path, files.read_text(path) + "Asked for by the team.\n")
    scene.reflect(a_session(scene, 1, "Check the billing suite"))
    assert scene.rules()[0].match == ("word:integration", "command:pytest")
    assert files.read_text(path).endswith("Asked for by the team.\n")


def test_a_forgotten_rule_is_not_written_again(scene):
    rule = learn(scene).learned[0]
    decide.forget(scene.store, rule, ("nodes",), NOON)
    scene.reflect(a_session(scene, 1, "integration again"))
    assert all(rule.match != ("word:integration",) for rule in scene.rules())


def test_a_hundred_sessions_of_one_kind_make_one_rule(scene):
    for number in range(1, 26):
        scene.reflect(a_session(scene, number))
    assert len(scene.rules()) == 1


def test_the_task_is_redacted_and_cut(scene):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    scene.reflect(a_session(scene, 1, f"Use {secret} for the suite. " + "long " * 300))
    scene.reflect(a_session(scene, 2, f"Use {secret} for the suite. " + "long " * 300))
    written = b"".join(snapshot(scene.base).values())
    assert secret.encode() not in written
    assert all(len(line["task"]) <= 500 for line in scene.ledger_lines())
    assert len(scene.rules()) == 1


@pytest.mark.parametrize(
    ("settings", "task"),
    [
        ({"ledger.share": "commit"}, ""),
        ({"ledger.share": "commit", "privacy.task_text": "shared"}, "Check the billing suite"),
    ],
)
def test_a_shared_ledger_holds_prompts_only_where_that_was_chosen(tmp_path, settings, task):
    scene = Scene(tmp_path, settings)
    scene.reflect(a_session(scene, 1))
    assert [case.task for case in ledger.read(scene.store).cases] == [task]
    assert os.path.isdir(scene.store.ledger("commit"))


def test_a_block_and_a_lesson_in_the_prompt_teach_nothing(scene):
    block = f"rose routing layer v1: x\nStore: y\n- When the task is z: read nodes/{DB}.md"
    prompt = f"{DB_LINE}\n\n{block}\n\nGo on with the suite"
    facts = [scene.reflect(a_session(scene, number, prompt)).facts for number in (1, 2)]
    assert [each.used for each in facts] == [(), ()]
    assert ["routing" in each.task for each in facts] == [False, False]
    assert scene.rules() == ()


def test_a_session_of_roses_own_reflection_is_never_reflected_on(scene):
    rows = [making.user("<rose-reflection>\nWhat was learned?", 0), making.said("{}", 1)]
    outcome = scene.reflect(scene.session(1, *rows))
    assert outcome.state == "nothing"
    assert outcome.reason
    assert scene.ledger_lines() == []


def test_a_fork_with_copied_rows_counts_them_once(scene):
    path = a_session(scene, 1)
    scene.reflect(path)
    rows = [json.loads(line) for line in files.read_text(path).splitlines()]
    copied = [{**row, "sessionId": session_id(2)} for row in rows]
    extra = [
        {**making.user("Thanks, go on", 30), "sessionId": session_id(2), "cwd": scene.base},
        {**making.said("Done.", 31), "sessionId": session_id(2), "cwd": scene.base},
    ]
    fork = making.write(scene.tmp_path / f"{session_id(2)}.jsonl", [*copied, *extra])
    outcome = scene.reflect(fork)
    assert outcome.facts.task == "Thanks, go on"
    assert (outcome.facts.opened, outcome.facts.used) == ((), ())
    assert scene.rules() == ()


def test_a_copy_without_anything_new_teaches_nothing(scene):
    path = a_session(scene, 1)
    scene.reflect(path)
    rows = [json.loads(line) for line in files.read_text(path).splitlines()]
    copy = making.write(
        scene.tmp_path / f"{session_id(2)}.jsonl",
        [{**row, "sessionId": session_id(2)} for row in rows],
    )
    assert scene.reflect(copy).state == "nothing"


@pytest.mark.parametrize("ending", ["\r\n", "\n\n", "\n{torn\n", "\n[1,2]\n"])
def test_line_ends_and_torn_lines_change_nothing_that_is_observed(scene, ending):
    clean = scene.observe(scene.capture("work-1"))
    text = files.read_text(scene.capture("work-1"))
    path = os.path.join(scene.base, "..", "torn.jsonl")
    files.replace(path, text.replace("\n", ending))
    torn = scene.observe(path)
    assert (torn.task, torn.kinds) == (clean.task, clean.kinds)
    assert (torn.opened, torn.used) == (clean.opened, clean.used)


def test_a_transcript_cut_in_its_last_line_still_counts(scene):
    path = scene.capture("work-1", lambda text: text[:-400])
    assert ids(scene.observe(path).used) == [DB]


@pytest.mark.parametrize(
    "make",
    [
        lambda _path: None,
        os.makedirs,
        lambda path: files.replace(path, ""),
        lambda path: files.replace(path, "\n\n"),
    ],
    ids=["missing", "a folder", "empty", "blank"],
)
def test_a_transcript_that_cannot_be_read_is_a_sentence(scene, make):
    path = os.path.join(scene.base, "..", "x.jsonl")
    make(path)
    with pytest.raises(RoseError, match=r"x\.jsonl: "):
        scene.reflect(path)
    assert scene.ledger_lines() == []


def test_without_a_store_there_is_a_sentence(scene):
    scene.stores = layout.Stores(None, None, "no .rose/ here.")
    with pytest.raises(NoStore):
        scene.reflect(scene.capture("work-1"))


@pytest.mark.parametrize("blocked", ["undo", "routing", "sessions", "ledger"])
def test_a_run_that_a_disk_stopped_is_finished_by_the_next(scene, blocked):
    scene.reflect(scene.capture("work-1"))
    folders = {"undo": scene.store.undo, "routing": scene.store.routing}
    folders |= {"sessions": scene.store.sessions, "ledger": scene.store.ledger("local")}
    folder = folders[blocked]
    os.rename(folder, folder + ".aside")
    files.replace(folder, "a file in place of the folder")
    with pytest.raises(Unwritable):
        scene.reflect(scene.capture("work-2"))
    os.unlink(folder)
    os.rename(folder + ".aside", folder)
    scene.reflect(scene.capture("work-2"))
    assert [rule.targets for rule in scene.rules()] == [(f"nodes/{DB}.md",)]
    assert [case.n for case in ledger.read(scene.store).cases] == [1, 2]
    assert scene.reflect(scene.capture("work-2")).state == "already"


def test_a_rule_is_finished_by_the_next_run_when_the_ledger_line_was_lost(scene):
    """Killed between the rule and the ledger line: the rule is there, the session is not."""
    outcome = learn(scene)
    lines = scene.ledger_lines()[:1]
    folder = scene.store.ledger("local")
    for name in os.listdir(folder):
        files.replace(os.path.join(folder, name), files.dump_json(lines[0]) + "\n")
    again = scene.reflect(scene.capture("work-2"))
    assert again.state == "reflected"
    assert [rule.id for rule in scene.rules()] == list(outcome.learned)
    assert [case.n for case in ledger.read(scene.store).cases] == [1, 2]


def with_home(scene):
    base = os.path.join(os.path.dirname(scene.base), "home", ".rose")
    home = layout.Store(base, base, "home")
    os.makedirs(home.routing)
    factories.a_lesson_file(home, "nodes/shell.md", "# Shell\n\nUse `xargs --no-run-if-empty`.\n")
    scene.stores = layout.Stores(scene.store, home, "test")
    return home


def test_home_lessons_get_their_record_in_the_home_ledger(scene):
    home = with_home(scene)
    rows = [
        making.user("Clean the build", 0),
        *read(f"{home.base}/nodes/shell.md", "# Shell\n\nUse `xargs --no-run-if-empty`.\n", 1, 1),
        *read(f"nodes/{DB}.md", DB_LINE, 1, 2),
        *bash("ls | xargs --no-run-if-empty rm", "", 1, 3),
    ]
    scene.reflect(scene.session(1, *rows))
    [own] = ledger.read(scene.store).cases
    [at_home] = ledger.read(home).cases
    assert [one.lesson for one in own.opened] == [DB]
    assert own.used == ()
    assert [one.lesson for one in at_home.opened] == ["shell"]
    assert at_home.used == ("shell",)


def test_a_session_that_has_nothing_to_do_with_home_leaves_no_line_there(scene):
    home = with_home(scene)
    learn(scene)
    assert ledger.read(home).cases == ()
    assert table.read(home, ("nodes",)).rules == ()


def test_codex_sessions_are_reflected_on_as_well(scene):
    text = files.read_text(making.capture("codex/rollout.jsonl")).replace("/repo", scene.base)
    path = os.path.join(scene.base, "..", "rollout.jsonl")
    files.replace(path, text)
    line = "Export `APP_DB_URL` before running `pytest tests/integration`; "
    factories.a_lesson_file(
        scene.store, f"nodes/{DB}.md", f"{line}without it every test errors at setup.\n"
    )
    outcome = scene.reflect(path)
    assert outcome.state == "reflected"
    assert outcome.facts.host == "codex"
    assert outcome.facts.task == "Run the integration tests"
    assert DB in ids(outcome.facts.opened)


def test_git_commits_are_off_unless_asked_for(scene):
    assert learn(scene).commit == ""


def test_without_git_a_wanted_commit_is_a_sentence_and_no_failure(tmp_path):
    scene = Scene(tmp_path, {"git.commit": "auto"})
    outcome = learn(scene)
    assert outcome.state == "reflected"
    assert outcome.commit == "this is no git repository"


def git(scene, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", scene.base, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def test_a_wanted_commit_holds_roses_own_files_alone(tmp_path):
    scene = Scene(tmp_path, {"git.commit": "auto"})
    git(scene, "init", "-q")
    git(scene, "add", "nodes")
    git(scene, "commit", "-qm", "start")
    factories.a_lesson_file(scene.store, "nodes/staged.md")
    git(scene, "add", "nodes/staged.md")
    scene.reflect(scene.capture("work-1"))
    outcome = scene.reflect(scene.capture("work-2"))
    rule = outcome.learned[0]
    assert outcome.commit == "committed"
    assert git(scene, "show", "--name-only", "--format=").split() == [f".rose/routing/{rule}.md"]
    assert outcome.facts.session in git(scene, "log", "-1", "--format=%B")
    assert git(scene, "diff", "--cached", "--name-only").split() == ["nodes/staged.md"]


def test_a_rule_that_wasted_ten_sessions_is_retired_and_can_be_taken_back(scene):
    rule = learn(scene).learned[0]
    kept = {"v": 1, "rows": 1, "kinds": [], "delivered": [rule], "sent": [rule]}
    for number in range(10):
        line = {**kept, "session": f"w{number}", "rules": {rule: "followed-useless"}}
        factories.a_ledger_line(scene.store, lambda _, line=line: line)
    outcome = scene.reflect(scene.capture("work-docs"))
    assert [retired for retired, _ in outcome.retired] == [rule]
    assert scene.rules()[0].status == "retired"
    assert undo.take_back(scene.stores).restored == (rule,)
    assert scene.rules()[0].status == "active"


def test_the_rules_follow_a_lesson_that_was_renamed_in_git(scene):
    learn(scene)

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", scene.base, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    git("mv", "nodes/testing/integration-db.md", "nodes/testing/database.md")
    git("commit", "-qm", "rename")
    scene.reflect(scene.capture("work-docs"))
    [rule] = scene.rules()
    assert rule.targets == ("nodes/testing/database.md",)
    assert rule.then == "read nodes/testing/database.md"
