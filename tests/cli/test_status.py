"""`rose status`: one screen, from an empty store to a broken one."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from rose import files, layout, trust
from rose.reflection import queue
from rose.routing import cases, forgotten, table
from tests import factories
from tests.clirun import run, run_child, run_on_terminal
from tests.factories import a_ledger_line

NOW = "2026-11-30T09:12:44Z"


@pytest.fixture
def project(tmp_path):
    """Return a project's store with three lessons."""
    store = factories.a_store(tmp_path)
    trust.add(store, os.environ)
    for path in ("nodes/testing/db.md", "nodes/testing/fixtures.md", "nodes/api/paging.md"):
        factories.a_lesson_file(store, path)
    return store


def status(store):
    result = run("status", cwd=store.base)
    assert (result.code, result.err) == (0, "")
    return result.out


def row(out, label):
    """Return the lines of one labelled row."""
    lines = out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(label))
    found = [lines[start][11:]]
    for line in lines[start + 1 :]:
        if not line.startswith(" " * 11):
            break
        found.append(line[11:])
    return found


def credit(store, **fields):
    """Record one session in the store's ledger."""
    return a_ledger_line(
        store,
        lambda n: cases.line_of(cases.Case(**{"session": f"s{n}", "n": n, **fields})),
    )


def reflected(store, **fields):
    """Append a line to the log of reflections."""
    line = {"v": 1, "at": NOW, "session": "s1", "host": "codex", "n": 1, "rows": 9, **fields}
    files.append_line(store.trace, files.dump_json(line))


def failed(store, problem, *, days=0, event="UserPromptSubmit", host=""):
    """Append a line to the hook's log, some days old, and return its time."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86_400 - 1))
    line = {"v": 1, "at": at, "event": event, "host": host, "problem": problem}
    files.append_line(store.log, files.dump_json(line))
    return at


def an_operation(**fields):
    known = {"kind": "add", "when": "docs", "then": "read nodes/api/", "rule": "r_00000a"}
    return {**known, "accepted": True, "findings": [], **fields}


def queued(store, session, **fields):
    """Put a session into the queue, in a state of its life."""
    queue.put(store, host="codex", session=session, transcript="/t.jsonl", cwd="/", at=NOW)
    path = os.path.join(store.queue, layout.session_name("codex", session) + ".json")
    entry = files.parse_json(files.read_text(path))
    files.replace(path, files.dump_json({**entry, **fields}))


def test_an_empty_store_says_the_next_step_in_every_row(tmp_path):
    store = factories.a_store(tmp_path)
    trust.add(store, os.environ)
    assert status(store) == (
        "store      .rose\n"
        'lessons    none in nodes/ yet: rose add "TITLE", or rose init --adopt\n'
        "routing    0 selection rules over 0 lessons  "
        "(ratio n/a, should fall as the store grows)\n"
        "layer      empty: nothing is sent, 0 of 800 tokens\n"
        "learned    no session yet: rose reflect --transcript PATH learns from one\n"
        "delivery   no session recorded yet\n"
        "queue      empty\n"
        "hook       no agent program calls rose here: rose install\n"
        "broken     nothing\n"
    )


def test_without_a_store_the_command_that_makes_one_is_named(tmp_path):
    result = run("status", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert "rose init" in result.err


def test_a_store_at_work_fits_one_screen(project):
    factories.a_rule_file(
        project,
        id="r_00000a",
        when="the task runs the integration tests",
        then="read nodes/testing/ first",
        origin="reflection",
        evidence=[{"session": "s1", "quote": "could not connect"}],
    )
    for rules, lessons in ((1, 2), (1, 3)):
        credit(
            project,
            sent=("r_00000a",),
            delivered=("r_00000a",),
            store_rules=rules,
            store_lessons=lessons,
        )
    reflected(project, operations=[an_operation()])
    out = status(project)
    assert out.splitlines()[1:5] == [
        "lessons    3 active",
        "routing    1 selection rule over 3 lessons  (ratio 0.33, should fall as the store grows)",
        "trend      0.50 at session 1, 0.33 at session 2, 0.33 now: level since session 2",
        "layer      " + row(out, "layer")[0],
    ]
    assert row(out, "learned") == [
        "2026-11-30 09:12 session s1: added r_00000a",
        "- When the task runs the integration tests: read nodes/testing/ first",
        "undo: rose undo s1",
    ]
    assert row(out, "delivery") == ["2 sessions recorded, rules sent in 2, delivered in 2"]
    assert max(len(line) for line in out.splitlines() if not line.startswith("routing")) <= 80


def test_the_layer_row_says_what_a_session_pays(project):
    factories.a_rule_file(project)
    first, second = row(status(project), "layer")
    tokens, size = first.split(", ")[1].split()[0], first.split(", ")[2].split()[0]
    layer = files.parse_json(files.read_text(project.layer))
    assert (tokens, size) == (str(layer["tokens"]), str(len(layer["block"])))
    assert first == f"1 rule, {tokens} of 800 tokens (o200k_base), {size} bytes"
    assert second == f"each session pays {tokens} tokens once; again per subagent and compaction"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("routing:\n  repeat: every-prompt\n", "every prompt pays"),
        (
            "routing:\n  enabled: false\n",
            "off: nothing is sent (rose config routing.enabled true)",
        ),
        (
            "routing:\n  max_tokens: 0\n",
            "off: nothing is sent (rose config --unset routing.max_tokens)",
        ),
    ],
)
def test_the_layer_row_follows_the_settings(project, config, said):
    factories.a_rule_file(project)
    files.replace(project.config, config)
    assert row(status(project), "layer")[-1].startswith(said)


def test_archived_lessons_are_counted_apart(project):
    factories.a_lesson_file(project, "nodes/old.md", "---\nstatus: archived\n---\n# Old\n")
    out = status(project)
    assert row(out, "lessons") == ["3 active, 1 archived"]
    assert "over 3 lessons" in out


FOUND = {"lesson": "docs/links", "gate": "found", "rule": ""}
SEARCH_FINDS = "search finds docs/links for such a task already, so no rule is needed"
ONCE = {"lesson": "testing/db", "gate": "once", "rule": ""}


@pytest.mark.parametrize(
    ("used", "gates", "said"),
    [
        ([()], [], "from 1 session: no lesson is known to have been used"),
        (
            [("testing/db",)],
            [ONCE],
            "from 1 session: it takes two that used the same lesson",
        ),
        ([("docs/links",)], [FOUND], f"from 1 session: {SEARCH_FINDS}"),
        (
            [("testing/db", "docs/links"), ("docs/links",)],
            [ONCE, FOUND],
            f"from 2 sessions: {SEARCH_FINDS}",
        ),
        (
            [("docs/links",), ("docs/links",)],
            [],
            "from 2 sessions: what used the same lesson has too little in common",
        ),
    ],
)
def test_sessions_that_taught_nothing_say_what_was_missing(project, used, gates, said):
    for lessons in used:
        credit(project, used=lessons)
    reflected(project, operations=[], retired=[], gates=gates)
    assert " ".join(row(status(project), "learned")) == f"nothing yet {said}"


def test_a_refused_rule_a_retired_one_and_one_taken_back_are_shown_as_such(project):
    factories.a_rule_file(project, id="r_00000b", status="retired")
    credit(project)
    fault = "then: no-target: No lesson matches nodes/x/."
    reflected(
        project,
        operations=[an_operation(rule=None, accepted=False, findings=[fault])],
        retired=[{"rule": "r_00000b", "reason": "helped 0, wasted 9 in 10 verdicts"}],
    )
    reflected(project, session="gone", at="2026-11-30T10:00:00Z", operations=[an_operation()])
    reflected(project, session="gone", at="2026-11-30T10:01:00Z", undone=True, left=[])
    assert row(status(project), "learned") == [
        "2026-11-30 10:00 session gone: added r_00000a (taken back since)",
        "- When docs: read nodes/api/",
        "2026-11-30 09:12 session s1: refused a rule, retired r_00000b",
        "- When docs: read nodes/api/",
        f"refused: {fault}",
        "- When the task is a test: read nodes/testing/",
        "retired: helped 0, wasted 9 in 10 verdicts",
        "undo: rose undo s1",
    ]


def test_the_queue_row_counts_what_waits_and_names_what_failed(project):
    queued(project, "one")
    queued(project, "two", state="working", tries=1)
    queued(project, "three $(x)", state="failed", tries=3, reason="/t.jsonl: not there")
    assert row(status(project), "queue") == [
        "1 pending, 1 in work: a worker is at it",
        "failed after 3 tries: /t.jsonl: not there",
        "again: rose reflect --session 'three $(x)'",
    ]


def test_more_failures_than_fit_are_counted(project):
    for number in range(5):
        queued(project, f"s{number}", state="failed", tries=3, reason="gone")
    assert row(status(project), "queue")[-1] == "and 2 more that failed (rose status --json)"


def test_the_latest_failure_of_the_hook_is_shown_without_control_characters(project):
    failed(project, "old", days=2)
    at = failed(project, "deadline\x1b[2J came\nfirst", days=1, host="codex")
    said = " ".join(row(status(project), "hook"))
    assert said == f"last failure {at} (1 day ago) UserPromptSubmit codex: deadline came first"


def test_a_failure_of_a_week_ago_is_shown_no_more_and_one_without_a_host_has_no_gap(project):
    failed(project, "an old one", days=8)
    assert row(status(project), "hook") == ["no agent program calls rose here: rose install"]
    failed(project, "a new one", event="worker")
    assert " worker: a new one" in row(status(project), "hook")[0]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"sent": ("r_1",), "delivered": ("r_1",)}, ["rules sent in 1, delivered in 1"]),
        (
            {"sent": ("r_1",), "delivered": ()},
            ["rules sent in 1, delivered in 0, not in 1"],
        ),
        (
            {"sent": ("r_1",), "delivered": None},
            [
                "rules sent in 1, delivered in 0",
                "unknown in 1: no copy of what was sent is left to compare",
            ],
        ),
        ({"sent": (), "delivered": ()}, ["rules sent in 0"]),
        ({"sent": (), "delivered": None}, ["rules sent in 0"]),
    ],
)
def test_delivery_tells_what_arrived_from_what_is_unknown(project, fields, said):
    credit(project, **fields)
    assert row(status(project), "delivery") == [f"1 session recorded, {said[0]}", *said[1:]]


def test_what_arrived_is_shown_by_host_and_event(project):
    credit(project, sent=("r_1",), delivered=("r_1",))
    for number in range(3):
        counts = {"whole": 1, "cut": int(number == 0), "none": 0, "unknown": 0}
        arrivals = [{"event": "UserPromptSubmit", **counts}]
        reflected(project, session=f"c{number}", host="claude-code", arrivals=arrivals)
        lost = {"whole": 0, "cut": 0, "none": 2, "unknown": 0}
        lost_too = [{"event": event, **lost} for event in ("UserPromptSubmit", "SubagentStart")]
        reflected(project, session=f"x{number}", host="codex", arrivals=lost_too)
    out = status(project)
    assert row(out, "delivery")[1:] == [
        "claude-code UserPromptSubmit: whole 3, cut 1",
        "codex SubagentStart: none 6: never delivered on this host",
        "codex UserPromptSubmit: none 6: never delivered on this host",
    ]
    assert max(len(line) for line in out.splitlines() if not line.startswith("routing")) <= 80
    found = run("status", "--json", cwd=project.base).json["delivery"]
    assert found["events"][0] == {
        "host": "claude-code",
        "event": "UserPromptSubmit",
        "sessions": 3,
        "whole": 3,
        "cut": 1,
        "none": 0,
        "unknown": 0,
    }
    assert found["never_delivered"] == ["codex"]


def test_one_broken_file_of_each_kind_is_named_and_the_rest_works(project):
    factories.a_rule_file(project, id="r_00000a")
    files.replace(
        table.path_of(project, "r_00000b"), "---\nwhen: x\n<<<<<<< a\n=======\n>>>>>>> b\n"
    )
    factories.a_lesson_file(project, "nodes/broken.md", "---\ntitle: [a\n---\n# Broken\n")
    files.replace(project.config, "routing:\n  repeat: sometimes\n")
    out = status(project)
    text = " ".join(row(out, "broken"))
    assert "nodes/broken.md:" in text
    assert ".rose/routing/r_00000b.md:3: merge-conflict:" in text
    assert "`routing.repeat` is 'sometimes'" in text
    assert row(out, "layer")[0].startswith("1 rule, ")


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (".rose/local", "hook       last failure"),
        (".rose/routing", "routing-unreadable"),
        (".rose/rejections", "rejections-unreadable"),
        (".rose/local/layer.json/x", ""),
        (".rose/local/ledger", ""),
        (".rose/local/queue", ""),
        (".rose/local/traces", ""),
        (".rose/config.yaml/x", "config-unreadable"),
    ],
)
def test_a_file_or_a_folder_in_the_wrong_place_stops_neither_status_nor_route(
    project, place, named
):
    shutil.rmtree(os.path.join(project.base, place), ignore_errors=True)
    files.replace(os.path.join(project.base, place), b"\xff not what it should be")
    out = run("status", cwd=project.base)
    assert out.code == 0
    assert named in out.out
    assert run("route", cwd=project.base).code == 0
    assert run("status", "--json", cwd=project.base).code == 0


def test_many_broken_files_are_cut_and_the_rest_is_counted(project):
    for number in range(12):
        files.replace(table.path_of(project, f"r_{number:06x}"), b"\xff\xfe")
    assert row(status(project), "broken")[-1] == "and 9 more: rose doctor lists them"


def test_json_holds_every_figure(project):
    factories.a_rule_file(project, id="r_00000a")
    credit(project, store_rules=1, store_lessons=2)
    credit(project, store_rules=1, store_lessons=3)
    reflected(project, operations=[an_operation()])
    found = run("status", "--json", cwd=project.base).json
    assert found["lessons"] == {"active": 3, "all": 3}
    assert found["routing"]["ratio"] == 0.3333
    assert found["trend"] == {
        "points": [
            {"n": 1, "rules": 1, "lessons": 2, "ratio": 0.5},
            {"n": 2, "rules": 1, "lessons": 3, "ratio": 0.3333},
        ],
        "now": 0.3333,
        "direction": "level",
    }
    assert found["layer"]["max_tokens"] == 800
    assert found["learned"][0]["changes"][0]["change"] == "added"
    assert found["delivery"]["sessions"] == 2
    assert found["queue"] == {"pending": 0, "working": 0, "failed": []}
    assert (found["hook_failure"], found["broken"]) == (None, [])
    assert found["stores"] == [{"kind": "project", "base": project.base, "path": project.dot}]


def test_the_home_store_is_named_and_counted(project, tmp_path):
    dot = str(tmp_path / "home" / ".rose")
    home = layout.Store(dot, dot, "home")
    factories.a_lesson_file(home, "nodes/git.md")
    out = status(project)
    assert row(out, "store") == [".rose", "~/.rose (home)"]
    assert row(out, "lessons") == ["4 active"]
    assert "over 4 lessons" in out


def test_torn_lines_in_the_log_of_reflections_are_passed_over(project):
    factories.a_rule_file(project, id="r_00000a")
    reflected(project, operations=[an_operation()])
    path = project.trace
    files.replace(path, files.read_text(path) + '{"v":1,"sess\n[]\n{"session": "s1"}\n{"v":')
    assert row(status(project), "learned")[0].endswith("added r_00000a")


def test_a_log_of_reflections_that_is_a_pipe_is_not_waited_for(project):
    os.makedirs(os.path.dirname(project.trace), exist_ok=True)
    os.mkfifo(project.trace)
    assert run_child("status", cwd=project.base).code == 0


@pytest.mark.parametrize(
    ("undone", "file", "since"),
    [
        (None, "there", None),
        (None, "gone", "deleted since"),
        (None, "forgotten", "forgotten since"),
        ([], "gone", "taken back since"),
        ([], "forgotten", "forgotten since"),
        ([], "there", "taken back since"),
        (["r_00000a"], "there", "edited since and left alone"),
    ],
)
def test_what_became_of_a_learned_rule_is_told_by_its_file_the_rejection_and_the_undo(
    project, undone, file, since
):
    factories.a_rule_file(project, id="r_00000a")
    reflected(project, operations=[an_operation()])
    if undone is not None:
        reflected(project, undone=True, left=undone)
    if file == "forgotten":
        forgotten.write(project, table.read(project, ("nodes",)).rules[0], NOW)
    if file != "there":
        table.delete(project, "r_00000a")
    found = run("status", "--json", cwd=project.base).json["learned"]
    assert [change["since"] for one in found for change in one["changes"]] == [since]
    assert ("undo: rose undo s1" in status(project)) is (since is None)


def test_a_rule_that_was_taken_back_stays_so_when_its_session_is_learned_from_again(project):
    factories.a_rule_file(project, id="r_00000b")
    reflected(project, operations=[an_operation()])
    reflected(project, undone=True, left=[])
    reflected(project, at="2026-11-30T11:00:00Z", operations=[an_operation(rule="r_00000b")])
    heads = [line for line in row(status(project), "learned") if "session s1" in line]
    assert heads == [
        "2026-11-30 11:00 session s1: added r_00000b",
        "2026-11-30 09:12 session s1: added r_00000a (taken back since)",
    ]


def test_without_a_question_there_is_no_row_of_questions(project):
    assert "questions" not in status(project)


def test_questions_and_proposed_rules_wait_in_one_row(project):
    said = {"when": "docs work", "then": "read nodes/testing/"}
    factories.a_rule_file(project, id="r_00000a", **said)
    factories.a_rule_file(project, id="r_00000b", **said, effect="skip", status="proposed")
    assert row(status(project), "questions") == [
        "1 proposed rule not used until approved: rose route",
        "When docs work: nodes/testing/: r_00000a or r_00000b",
        "which one holds? rose route --approve ID or --decline ID",
    ]
    found = run("status", "--json", cwd=project.base).json
    assert (found["proposed"], [one["rules"] for one in found["questions"]]) == (
        1,
        [["r_00000a", "r_00000b"]],
    )
    run("route", "--decline", "r_00000b", cwd=project.base)
    assert "questions" not in status(project)


def test_of_many_questions_three_are_shown(project):
    for number in range(5):
        said = {"when": f"kind {number}", "then": "read nodes/testing/"}
        factories.a_rule_file(project, **said)
        factories.a_rule_file(project, **said, effect="skip")
    assert "and 2 more: rose route" in row(status(project), "questions")


def test_a_project_that_is_wired_has_no_failure_to_tell(project):
    run("install", "--host", "claude-code", cwd=project.base)
    assert row(status(project), "hook") == ["no failure in the last week"]


def at_work(project, sessions=12):
    """Fill a store as weeks of work do: rules, sessions, reflections, headers that are no YAML."""
    for number in range(6):
        factories.a_rule_file(
            project,
            id=f"r_00000{number}",
            when=f"the task runs the integration tests of service {number} with a database",
            then="read nodes/testing/db.md and nodes/testing/fixtures.md before running pytest",
            origin="reflection",
            evidence=[{"session": "s1", "quote": "could not connect"}],
        )
    for number in range(1, sessions):
        sent = ("r_000001",)
        sizes = {"store_rules": 2 + number, "store_lessons": 9 * number}
        credit(project, sent=sent, delivered=sent, used=("testing/db",), **sizes)
    for number in range(5):
        operation = an_operation(rule=f"r_00000{number}")
        reflected(project, session=f"s{number}", operations=[operation])
    for number in range(40):
        path = f"nodes/rules/a-long-name-of-an-editor-rule-file-number-{number}.mdc"
        factories.a_lesson_file(project, path, "---\nglobs: **/*.ts\n---\n# Rule\n")


def test_a_store_with_much_to_tell_fits_one_screen_of_a_terminal(project):
    at_work(project)
    shown = run_on_terminal("status", cwd=project.base).out
    assert "40 headers are no YAML, and are read line by line: rose doctor\n" in shown
    assert len(shown.splitlines()) <= 24
    assert max(map(len, shown.splitlines())) <= 80


def test_a_header_that_is_read_line_by_line_is_not_broken(project):
    factories.a_lesson_file(project, "nodes/ts.mdc", "---\nglobs: **/*.ts\n---\n# Rule\n")
    out = status(project)
    assert row(out, "broken") == ["nothing"]
    assert row(out, "note") == ["1 header is no YAML, and is read line by line: rose doctor"]
    found = run("status", "--json", cwd=project.base).json
    assert (found["broken"], [one["where"] for one in found["recovered"]]) == (
        [],
        ["nodes/ts.mdc:2"],
    )
    assert "Quote" not in found["recovered"][0]["repair"]


def test_of_many_reflections_the_latest_is_told_in_full_and_the_others_while_there_is_room(
    project,
):
    at_work(project)
    told = row(status(project), "learned")
    assert [line for line in told if "session s" in line] == [
        f"2026-11-30 09:12 session s{number}: added r_00000{number}" for number in (4, 3, 2)
    ]
    assert [line for line in told if line.startswith("undo: ")] == [
        "undo: rose undo s4",
        "undo: rose undo s3",
    ]
