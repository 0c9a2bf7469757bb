"""`rose check`: every finding about a draft, and not one byte written."""

from __future__ import annotations

import os

import pytest

from rose import files, yamltext
from rose.routing import table
from tests import factories
from tests.clirun import run, run_child
from tests.hosts import making

RULE = {"when": "the task runs the tests", "then": "read nodes/testing/ first"}
LEARNED = {**RULE, "origin": "reflection"}
ERROR = "could not connect to postgres at :5432"
BLOCK = (
    "rose routing layer v1: where knowledge lies.\n"
    "Store: /repo\n"
    "- When the task is a docs change: read nodes/docs/"
)


@pytest.fixture
def project(tmp_path):
    """Return a project's store with two lessons."""
    store = factories.a_store(tmp_path)
    for path in ("nodes/testing/db.md", "nodes/api/paging.md"):
        factories.a_lesson_file(store, path)
    return store


@pytest.fixture
def transcript(tmp_path):
    """Return a session whose tests failed, with rose's block in three places."""
    return making.write(
        tmp_path / "session.jsonl",
        [
            making.user("fix the tests"),
            making.attachment("hook_additional_context", 1, content=[BLOCK], hookEvent="x"),
            making.call("Bash", {"command": "pytest"}, "t1", second=2),
            making.result(f"E {ERROR}\nFAILED\nFAILED", "t1", second=3),
            making.call("WebFetch", {"url": "https://a.example"}, "t2", second=4),
            making.result("Set the port to 5433.", "t2", second=5),
            making.call("Bash", {"command": "cat .rose/local/blocks/x"}, "t3", second=6),
            making.result(BLOCK, "t3", second=7),
        ],
    )


def a_draft(store, fields, body="Why.\n", name="draft.md"):
    path = os.path.join(os.path.dirname(store.base), name)
    files.replace(path, f"---\n{yamltext.dump(fields)}---\n{body}")
    return path


def check(store, path, *words: str, kind="rule"):
    return run("check", path, "--as", kind, *words, cwd=store.base)


def found(store, path, *words: str, kind="rule"):
    """Return the names of the findings, and assert that each has what it must have."""
    result = check(store, path, *words, "--json", kind=kind)
    assert result.code == (1 if result.json["findings"] else 0)
    for finding in result.json["findings"]:
        assert all(finding[key] for key in ("rule", "where", "message", "repair"))
    return [finding["rule"] for finding in result.json["findings"]]


def snapshot(folder):
    """Return every file and folder below one with its bytes and its times."""
    seen = {}
    for at, _, names in os.walk(folder):
        for path in (at, *(os.path.join(at, name) for name in names)):
            status = os.lstat(path)
            data = b"" if os.path.isdir(path) else files.read_bytes(path)
            seen[path] = (data, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return seen


def test_a_clean_draft_is_said_to_be_no_acceptance(project):
    result = check(project, a_draft(project, RULE))
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "[acceptance] Not checked: what others write to the store until it is accepted.\n"
        "No finding. This is not acceptance: nothing was written or decided.\n"
    )


def test_findings_name_place_fault_and_repair(project):
    result = check(project, a_draft(project, {**RULE, "when": "always", "effect": "maybe"}))
    assert result.code == 1
    said = " ".join(result.out.split())
    assert "draft.md: when: when-vacuous: `always` holds for every task. Name a kind of" in said
    assert "Write prefer or skip. Expected: prefer or skip." in said
    assert result.err == "2 findings; nothing was written.\n"


@pytest.mark.parametrize("kind", ["rule", "lesson"])
@pytest.mark.parametrize(
    "slot", ["", ".", "..", "a/r_0000aa.md", "/r_0000aa.md", "../r_0000aa.md", ".md", "r_0000aa"]
)
def test_a_slot_that_is_no_bare_file_name_is_a_usage_error_before_anything_is_read(
    tmp_path, kind, slot
):
    # There is neither a store nor a draft: whoever looked would fail with 1.
    result = run("check", "nowhere.md", "--as", kind, "--slot", slot, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize(
    "words",
    [
        ["--as", "rule", "--slot", "notes.md"],
        ["--as", "rule", "--slot", "r_00zzzz.md"],
        ["--as", "lesson", "--slot", ".hidden.md"],
        ["--as", "poem"],
        [],
        ["--as", "rule", "--nonsense"],
    ],
)
def test_an_undeclared_slot_or_a_bad_option_is_a_usage_error(tmp_path, words):
    assert run("check", "nowhere.md", *words, cwd=tmp_path).code == 2


def test_without_a_store_the_command_that_makes_one_is_named(tmp_path):
    result = run("check", "nowhere.md", "--as", "rule", cwd=tmp_path)
    assert result.code == 1
    assert "rose init" in result.err


@pytest.mark.parametrize("name", ["session", "torn", "missing"])
@pytest.mark.parametrize(
    "fields",
    [
        RULE,
        {"when": "always"},
        {**LEARNED, "evidence": [{"quote": ERROR}]},
        {**LEARNED, "effect": "skip", "evidence": [{"quote": ERROR}]},
    ],
)
@pytest.mark.parametrize("kind", ["rule", "lesson"])
def test_not_one_byte_is_written(project, transcript, name, fields, kind):
    factories.a_rule_file(project, id="r_0000aa", when="another task")
    files.replace(os.path.join(os.path.dirname(transcript), "torn.jsonl"), "no transcript\n")
    path = a_draft(project, fields)
    session = os.path.join(os.path.dirname(transcript), f"{name}.jsonl")
    top = os.path.dirname(project.base)
    before = snapshot(top)
    check(project, path, "--session", session, kind=kind)
    check(project, path, "--slot", "r_0000aa.md", "--json", kind=kind)
    assert snapshot(top) == before


def test_not_one_byte_is_written_by_a_process_of_its_own(project, transcript, tmp_path):
    path = a_draft(project, {**LEARNED, "evidence": [{"quote": ERROR}]})
    (tmp_path / "tmp").mkdir()
    top = os.path.dirname(project.base)
    before = snapshot(top)
    words = ("check", path, "--as", "rule", "--session", transcript)
    env = {"TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    assert run_child(*words, cwd=project.base, env=env).code == 0
    assert snapshot(top) == before


def test_a_rule_is_judged_in_the_place_of_the_one_at_its_slot(project):
    factories.a_rule_file(project, id="r_0000aa", **RULE)
    path = a_draft(project, RULE)
    assert found(project, path) == ["restates"]
    assert found(project, path, "--slot", "r_0000aa.md") == []
    assert found(project, path, "--slot", "r_0000bb.md") == ["restates"]
    assert check(project, path, "--slot", "r_0000aa.md", "--json").json["replaces"] == "r_0000aa"


def test_the_slot_is_the_drafts_own_name_or_its_id_where_none_is_named(project):
    factories.a_rule_file(project, id="r_0000aa", **RULE)
    assert found(project, a_draft(project, RULE, name="r_0000aa.md")) == []
    assert found(project, a_draft(project, {"id": "r_0000aa", **RULE})) == []
    assert found(project, os.path.join(project.routing, "r_0000aa.md")) == []


def test_an_id_that_is_not_the_slots_names_the_right_one(project):
    path = a_draft(project, {"id": "r_0000bb", **RULE})
    result = check(project, path, "--slot", "r_0000aa.md", "--json")
    (finding,) = result.json["findings"]
    assert (finding["rule"], finding["expected"]) == ("id-mismatch", "r_0000aa")
    assert found(project, a_draft(project, {"id": "../x", **RULE})) == ["id-mismatch"]


def test_independent_faults_come_together_and_dependent_checks_stop(project):
    fields = {"when": ["a"], "then": "read nodes/none/", "effect": "maybe", "born": "soon"}
    assert found(project, a_draft(project, fields)) == [
        "field-type",
        "field-value",
        "field-value",
        "no-target",
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("---\nwhen: [a\nthen: b\n---\n", "frontmatter"),
        ("---\nwhen: a\n", "frontmatter-unclosed"),
        ("", "frontmatter-missing"),
        ("no header\n", "frontmatter-missing"),
        ("---\nwhen: a\nwhen: b\nevidence: [{quote: x}]\n---\n", "frontmatter"),
    ],
)
def test_an_unreadable_header_stops_field_and_quote_checks(project, text, rule):
    path = os.path.join(project.base, "draft.md")
    files.replace(path, text)
    assert found(project, path) == [rule]


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"---\nwhen: \xff\n---\n", "not-utf-8"),
        (b"---\nwhen: \0\n---\n", "nul-character"),
        (b"x" * 70_000, "rule-too-long"),
        (None, "rule-unreadable"),
    ],
)
def test_a_file_that_is_no_text_is_a_finding(project, data, rule):
    path = os.path.join(project.base, "draft.md")
    if data is not None:
        files.replace(path, data)
    assert found(project, path) == [rule]


def test_targets_in_the_header_are_those_of_then(project):
    path = a_draft(project, {**RULE, "targets": ["nodes/api/"]})
    (finding,) = check(project, path, "--json").json["findings"]
    assert (finding["rule"], finding["expected"]) == ("targets-differ", "nodes/testing/")
    assert found(project, a_draft(project, {**RULE, "targets": ["../x"]})) == ["target-outside"]
    assert found(project, a_draft(project, {**RULE, "targets": ["nodes/testing/"]})) == []


def quoted(*quotes: str, **fields):
    return {**LEARNED, "evidence": [{"quote": quote} for quote in quotes], **fields}


def test_a_rule_of_reflections_is_verified_against_its_session(project, transcript):
    path = a_draft(project, quoted(ERROR))
    assert found(project, path, "--session", transcript) == []
    result = check(project, path, "--session", transcript)
    assert "[acceptance] Not checked: whose session it is.\n" in result.out
    assert found(project, path) == ["unverified"]


@pytest.mark.parametrize(
    ("quote", "rule"),
    [
        ("never said", "quote-not-found"),
        ("Could Not Connect", "quote-not-found"),
        ("FAILED", "quote-ambiguous"),
        (" ", "quote-empty"),
        # What stands in rose's own block alone proves nothing.
        ("When the task is a docs change", "quote-not-found"),
        ("rose routing layer v1", "quote-not-found"),
    ],
)
def test_a_quote_must_stand_once_in_the_session(project, transcript, quote, rule):
    path = a_draft(project, quoted(quote))
    assert found(project, path, "--session", transcript) == [rule]


@pytest.mark.parametrize("item", [{"session": "x"}, ["a"], {"quote": ["a"]}])
def test_an_item_of_evidence_that_is_none_hides_no_other(project, transcript, item):
    evidence = [{"quote": "never said"}, item, {"quote": "FAILED"}]
    path = a_draft(project, {**LEARNED, "evidence": evidence})
    rules = ["field-type", "quote-not-found", "quote-ambiguous"]
    assert found(project, path, "--session", transcript) == rules


@pytest.mark.parametrize(
    "place",
    [{"region": "-1"}, {"region": "two"}, {"region": ["1"]}, {"region": "0"}]
    + [{"lines": lines} for lines in ("3", ["3"], ["-1", "2"], ["a", "b"], ["4", "3"], ["1"] * 3)],
)
def test_a_place_that_is_none_is_a_finding(project, transcript, place):
    fields = {**LEARNED, "evidence": [{"quote": ERROR, **place}]}
    path = a_draft(project, fields)
    assert found(project, path, "--session", transcript) == ["quote-place"]
    assert found(project, path) == ["quote-place"]
    lesson = a_lesson(project, f"---\n{yamltext.dump(fields)}---\n{LESSON}")
    assert found(project, lesson, "--session", transcript, kind="lesson") == ["quote-place"]
    # Neither what stands in its slot nor what was kept before makes a place of it.
    factories.a_rule_file(project, id="r_0000aa", **fields)
    assert found(project, path, "--slot", "r_0000aa.md") == ["quote-place"]


def test_a_quote_of_another_session_names_the_one_at_hand(project, transcript):
    evidence = [{"session": "another", "quote": ERROR}]
    path = a_draft(project, {**LEARNED, "evidence": evidence})
    result = check(project, path, "--session", transcript, "--json")
    (finding,) = result.json["findings"]
    assert (finding["rule"], finding["expected"]) == ("unverified", making.SESSION)


@pytest.mark.parametrize("text", ["no transcript\n", "", '{"a": 1}\n', None])
def test_a_transcript_that_cannot_be_read_is_a_finding_of_its_own(project, tmp_path, text):
    session = str(tmp_path / "bad.jsonl")
    if text is not None:
        files.replace(session, text)
    path = a_draft(project, quoted(ERROR, "another", when="always"))
    assert found(project, path, "--session", session) == ["unverified", "when-vacuous"]


def test_a_quote_that_the_rule_at_the_slot_has_is_not_looked_for_again(project, transcript):
    old = {"session": "gone", "quote": "an old quote"}
    factories.a_rule_file(project, id="r_0000aa", **LEARNED, evidence=[old])
    new = {"session": making.SESSION, "quote": ERROR}
    path = a_draft(project, {**LEARNED, "evidence": [old, new]})
    words = ("--slot", "r_0000aa.md", "--session", transcript)
    assert found(project, path, *words) == []


def test_a_rule_that_lies_at_its_slot_already_does_not_prove_its_own_quotes(project, transcript):
    made_up = {"session": making.SESSION, "quote": "never said"}
    factories.a_rule_file(project, id="r_0000aa", **LEARNED, evidence=[made_up])
    path = os.path.join(project.routing, "r_0000aa.md")
    assert found(project, path, "--session", transcript) == ["quote-not-found"]


def test_evidence_from_outside_alone_would_wait_for_a_person(project, transcript):
    path = a_draft(project, quoted("Set the port to 5433."))
    result = check(project, path, "--session", transcript)
    assert result.code == 0
    said = " ".join(result.out.split())
    assert "kept as proposed: all its evidence came from outside the repository." in said


def test_a_review_that_is_required_is_said(project, transcript):
    files.replace(project.config, "routing:\n  review: required\n")
    path = a_draft(project, quoted(ERROR))
    result = check(project, path, "--session", transcript, "--json").json
    assert (result["status"], result["waits"]) == ("proposed", "routing.review is required")


def test_a_skip_rule_is_held_against_what_the_session_was_shown(project, tmp_path):
    rows = [
        making.user("fix the tests"),
        making.call("Bash", {"command": "ls nodes/testing"}, "t1", second=1),
        making.result("nodes/testing/db.md\n", "t1", second=2),
    ]
    placed = [{**row, "cwd": project.base} for row in rows]
    session = making.write(tmp_path / "s.jsonl", placed)
    then = "nothing in nodes/testing/ applies"
    path = a_draft(project, quoted("fix the tests", effect="skip", then=then))
    assert found(project, path, "--session", session) == []
    then = "nothing in nodes/api/ applies"
    path = a_draft(project, quoted("fix the tests", effect="skip", then=then))
    assert found(project, path, "--session", session) == ["skip-unseen"]


LESSON = "# Start the database\n\nRun `make db` first.\n"


def a_lesson(store, text, name="new.md"):
    path = os.path.join(os.path.dirname(store.base), name)
    files.replace(path, text)
    return path


def test_any_markdown_is_a_sound_lesson_of_a_persons(project):
    path = a_lesson(project, LESSON)
    result = check(project, path, kind="lesson")
    assert (result.code, result.err) == (0, "")
    assert "This is not acceptance" in result.out


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", ["lesson-empty", "body-missing"]),
        ("---\ntitle: x\n---\n", ["body-missing"]),
        ("---\ntitle: [a\n---\n# X\n\nBody.\n", ["frontmatter"]),
        ("---\nstatus: odd\n---\nBody.\n", ["lesson-status"]),
        ("---\nid: a b\n---\nBody.\n", ["lesson-id"]),
        ("---\nid: api/paging\n---\nBody.\n", ["lesson-id"]),
        ("# K\n\nghp_16C7e42F292c6912E7710c838347Ae178B4a\n", ["secret"]),
        ('---\ntitle: "a\\u202eb"\n---\nBody.\n', ["hostile-characters"]),
        ("---\norigin: reflection\n---\nBody.\n", ["evidence-missing"]),
        ("---\norigin: reflection\nevidence: [x]\n---\nHid\u200bden.\n", None),
    ],
)
def test_a_lesson_that_is_not_sound_is_a_finding(project, text, rules):
    expected = ["hostile-characters", "unverified"] if rules is None else rules
    assert found(project, a_lesson(project, text), kind="lesson") == expected


def a_learned_lesson(quote):
    header = yamltext.dump({"origin": "reflection", "evidence": [{"quote": quote}]})
    return f"---\n{header}---\n{LESSON}"


@pytest.mark.parametrize(
    ("quote", "rules"),
    [
        (ERROR, []),
        ("never said", ["quote-not-found"]),
        ("FAILED", ["quote-ambiguous"]),
        ("When the task is a docs change", ["quote-not-found"]),
        ("Set the port to 5433.", ["evidence-foreign"]),
    ],
)
def test_a_lesson_that_was_minted_from_a_session_quotes_it(project, transcript, quote, rules):
    path = a_lesson(project, a_learned_lesson(quote))
    assert found(project, path, "--session", transcript, kind="lesson") == rules


def test_a_lesson_is_judged_in_the_place_of_the_one_at_its_slot(project, transcript):
    factories.a_lesson_file(project, "nodes/testing/own.md", f"---\nid: mine\n---\n{LESSON}")
    text = f"---\nid: mine\n---\n{LESSON}"
    path = a_lesson(project, text)
    assert found(project, path, kind="lesson") == ["lesson-id"]
    assert found(project, path, "--slot", "own.md", kind="lesson") == []
    result = check(project, path, "--slot", "own.md", "--json", kind="lesson").json
    assert result["replaces"] == "nodes/testing/own.md"
    assert found(project, os.path.join(project.base, "nodes/testing/own.md"), kind="lesson") == []


def test_a_slot_that_several_lessons_have_is_said(project):
    factories.a_lesson_file(project, "nodes/api/db.md")
    path = a_lesson(project, LESSON)
    assert found(project, path, "--slot", "db.md", kind="lesson") == ["slot-ambiguous"]
    own = os.path.join(project.base, "nodes/api/db.md")
    assert found(project, own, kind="lesson") == []


def test_kept_quotes_of_a_lesson_are_not_looked_for_again(project):
    factories.a_lesson_file(project, "nodes/testing/own.md", a_learned_lesson("an old quote"))
    path = a_lesson(project, a_learned_lesson("an old quote"))
    assert found(project, path, "--slot", "own.md", kind="lesson") == []
    assert found(project, path, kind="lesson") == ["unverified"]


def test_a_folder_is_no_draft(project):
    assert found(project, project.base, kind="lesson") == ["lesson-unreadable"]
    assert found(project, project.base) == ["rule-unreadable"]


def test_a_draft_that_would_hide_from_the_terminal_is_shown_harmless(project):
    path = a_draft(project, {**RULE, "then": "read nodes/testing/ \x1b[31m</x>"})
    result = check(project, path)
    assert result.code == 1
    assert "\x1b" not in result.out
    assert table.read(project, ("nodes",)).rules == ()
