from __future__ import annotations

import pytest

from rose.check.checks import Context, Draft, check_rule
from rose.routing.rules import Evidence
from tests.routing.samples import a_rule, regions

QUOTE = Evidence("s", "could not connect")


def a_draft(**fields) -> Draft:
    given = {"when": "the task runs the tests", "then": "read nodes/testing/ first"}
    return Draft(**{**given, **fields})


def a_learned(**fields) -> Draft:
    return a_draft(**{"origin": "reflection", "evidence": (QUOTE,), **fields})


def a_context(**fields) -> Context:
    given = {
        "rules": (),
        "roots": ("nodes",),
        "has_lesson": lambda path: path.startswith("nodes/testing"),
        "max_tokens": 400,
        "cost": len,
        "regions": {"s": regions("x: could not  connect\nto it")},
    }
    return Context(**{**given, **fields})


def _found(draft: Draft, **context) -> list[tuple[str, str, str]]:
    findings = list(check_rule(draft, a_context(**context)))
    assert all(finding.repair and finding.where for finding in findings)
    return [(finding.rule, finding.where, finding.severity) for finding in findings]


@pytest.mark.parametrize(
    "draft",
    [
        a_draft(),
        a_draft(effect="skip", then="nothing in nodes/testing/ applies"),
        a_draft(then="read nodes/testing/ and skip the rest"),
        a_learned(),
        a_draft(when="\u26a0\ufe0f alerts"),
    ],
)
def test_a_sound_draft_has_no_finding(draft):
    assert _found(draft) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"when": ""}, ("when-missing", "when")),
        ({"when": " \t"}, ("when-missing", "when")),
        ({"when": "."}, ("when-missing", "when")),
        ({"when": "when."}, ("when-vacuous", "when")),
        ({"when": "\u200b"}, ("when-missing", "when")),
        ({"then": " . "}, ("then-missing", "then")),
        ({"when": "always"}, ("when-vacuous", "when")),
        ({"when": "*"}, ("when-vacuous", "when")),
        ({"when": "any task"}, ("when-vacuous", "when")),
        ({"when": "nodes/testing/db.md"}, ("when-names-a-lesson", "when")),
        ({"when": "n_abc is rarely useful"}, ("when-names-a-lesson", "when")),
        ({"when": "the task reads nodes/deploy/"}, ("when-names-a-lesson", "when")),
        ({"when": "before anything else"}, ("when-vacuous", "when")),
        ({"when": "the tests\nrun"}, ("one-line", "when")),
        ({"then": "read nodes/testing/\nand go"}, ("one-line", "then")),
        ({"then": "read nodes/testing/\u202e"}, ("hostile-characters", "then")),
        ({"then": "read nodes/testing/ \x1b[31m"}, ("hostile-characters", "then")),
        ({"then": "read nodes/testing/ </system-reminder>"}, ("hostile-characters", "then")),
        ({"then": "read nodes/testing/ ```sh"}, ("hostile-characters", "then")),
        ({"effect": "maybe"}, ("field-value", "effect")),
        ({"match": ("verb:x",)}, ("match-invalid", "match")),
        ({"then": "read nodes/testing/ " + "x" * 90}, ("too-large", "then")),
        (
            {"then": "read nodes/testing/ ghp_16C7e42F292c6912E7710c838347Ae178B4a"},
            ("secret", "then"),
        ),
        ({"note": "key: ghp_16C7e42F292c6912E7710c838347Ae178B4a"}, ("secret", "note")),
    ],
)
@pytest.mark.parametrize("origin", ["manual", "reflection"])
def test_a_fault_is_an_error_whoever_wrote_the_draft(origin, fields, expected):
    draft = a_draft(**fields) if origin == "manual" else a_learned(**fields)
    assert (*expected, "error") in _found(draft)


def test_independent_faults_are_reported_together():
    found = _found(a_draft(when="always", then="x\ny </b>", effect="z", match=("q",)))
    assert {rule for rule, _, _ in found} == {
        "when-vacuous",
        "one-line",
        "hostile-characters",
        "field-value",
        "match-invalid",
        "no-target",
    }


@pytest.mark.parametrize("match", ["command:pytest", "command:nodes/run.sh", "folder:nodes/x/"])
@pytest.mark.parametrize("draft", [a_draft, a_learned])
def test_a_condition_may_come_from_match_alone(draft, match):
    assert _found(draft(when="", match=(match,))) == []


def test_an_archived_target_names_what_took_its_place():
    archived = {"nodes/old/a.md": "nodes/testing/b.md", "nodes/dead.md": ""}
    draft = a_draft(then="read nodes/old/ and nodes/dead.md")
    said = [finding.line() for finding in check_rule(draft, a_context(archived=archived))]
    assert said == [
        "then: no-target: What nodes/old/ leads to is archived. Name nodes/testing/b.md instead.",
        "then: no-target: What nodes/dead.md leads to is archived. Name a lesson that is in use.",
    ]


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("read ../other/nodes/x.md", "../other/nodes/x.md lies outside the project."),
        ("read nodes/../../x.md", "nodes/../../x.md lies outside the project."),
        ("read nodes/testing/ and ../x.md", "../x.md lies outside the project."),
        ("read /etc/x.md", "/etc/x.md lies outside the project."),
        ("read ~/notes/x.md", "~/notes/x.md lies outside the project."),
        ("read /repo/nodes/x.md", "`then` names no lesson."),
    ],
)
def test_a_path_that_leads_out_of_the_project_is_said_to(then, said):
    (finding,) = check_rule(a_draft(then=then), a_context(root="/repo"))
    assert (finding.rule, finding.message, finding.severity) == ("no-target", said, "warning")


def test_a_call_of_an_api_beside_a_target_is_no_path():
    assert _found(a_draft(then="read nodes/testing/ before calling /api/v1")) == []


@pytest.mark.parametrize(
    ("then", "effect"),
    [
        ("nothing in nodes/testing/ applies", "prefer"),
        ("Skip nodes/testing/", "prefer"),
        ("ignore nodes/testing/", "prefer"),
        ("read nodes/testing/", "skip"),
    ],
)
def test_a_then_that_sounds_like_the_other_effect_is_a_hint(then, effect):
    (finding,) = check_rule(a_draft(then=then, effect=effect), a_context())
    assert (finding.rule, finding.severity) == ("effect-unclear", "warning")
    assert "--skip" in f"{finding.message} {finding.repair}"


@pytest.mark.parametrize(
    ("then", "count"), [("read the notes", 1), ("read nodes/gone.md and nodes/away/", 2)]
)
@pytest.mark.parametrize(
    ("draft", "severity"), [(a_draft, "warning"), (a_learned, "error")], ids=["taught", "learned"]
)
def test_a_target_without_a_lesson_is_a_warning_for_a_person(draft, severity, then, count):
    assert _found(draft(then=then)) == [("no-target", "then", severity)] * count


@pytest.mark.parametrize("then", ["y", "nothing there applies", "skip ../x.md"])
def test_a_skip_rule_without_a_target_is_refused_with_what_to_name(then):
    """No session could ever speak against it."""
    found = check_rule(a_draft(then=then, effect="skip"), a_context())
    (finding,) = [one for one in found if one.rule == "no-target"]
    assert finding.severity == "error"
    assert "Name a file, a folder or a glob under nodes/" in finding.repair


def test_a_skip_rule_whose_target_matches_no_lesson_is_a_warning():
    draft = a_draft(then="nothing in nodes/gone/ applies", effect="skip")
    assert _found(draft) == [("no-target", "then", "warning")]


@pytest.mark.parametrize(
    "when", ["the task runs the tests", "The task, runs the TESTS!", "\uff34he task runs the tests"]
)
def test_a_restatement_names_the_rule_to_widen(when):
    taught = a_rule("r_0000aa", when="the task runs the tests")
    (finding,) = check_rule(a_draft(when=when), a_context(rules=(taught,)))
    assert (finding.rule, finding.expected) == ("restates", "r_0000aa")
    assert "r_0000aa" in finding.repair


@pytest.mark.parametrize("when", ["任务修改文档", "任务运行测试", "المهمة", "🚀"])
def test_different_conditions_beyond_ascii_are_different(when):
    others = tuple(
        a_rule(f"r_00000{n}", when=said) for n, said in enumerate(["任务部署", "🔥", "مهمة"])
    )
    assert _found(a_draft(when=when), rules=others) == []


@pytest.mark.parametrize("status", ["retired", "declined"])
def test_a_retired_or_declined_rule_does_not_block(status):
    taught = a_rule("r_0000aa", when="the task runs the tests", status=status)
    assert _found(a_draft(), rules=(taught,)) == []


def test_a_proposed_rule_blocks():
    taught = a_rule("r_0000aa", when="the task runs the tests", status="proposed")
    assert _found(a_draft(), rules=(taught,)) == [("restates", "when", "error")]


def test_a_draft_does_not_restate_the_rule_it_replaces():
    taught = a_rule("r_0000aa", when="the task runs the tests")
    assert _found(a_draft(replaces="r_0000aa"), rules=(taught,)) == []


def test_the_opposite_effect_on_the_same_lessons_is_allowed_and_said():
    taught = a_rule("r_0000aa", when="the task runs the tests", effect="skip")
    assert _found(a_draft(), rules=(taught,)) == [("opposes", "when", "warning")]


def test_the_opposite_effect_on_other_lessons_is_no_question():
    taught = a_rule(
        "r_0000aa", when="the task runs the tests", effect="skip", targets=("nodes/deploy/",)
    )
    assert _found(a_draft(), rules=(taught,)) == []


def test_a_home_rule_is_measured_with_its_absolute_paths():
    assert _found(a_draft(), base="/" + "x" * 80) == [("too-large", "then", "error")]


def test_a_layer_that_is_off_does_not_make_every_rule_too_large():
    assert _found(a_draft(), max_tokens=0) == []


def test_a_secret_in_a_quote_is_refused():
    quote = Evidence("s", "export K=ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    assert ("secret", "evidence", "error") in _found(a_learned(evidence=(quote,)))


def test_a_draft_does_not_restate_the_rules_that_it_merges():
    taught = (
        a_rule("r_0000aa", when="the task runs the tests", origin="reflection"),
        a_rule("r_0000bb", when="the task runs the tests", origin="reflection"),
    )
    merged = a_learned(replaces="r_0000aa", merges=("r_0000bb",))
    assert _found(merged, rules=taught) == []
    assert _found(a_learned(replaces="r_0000aa"), rules=taught) == [("restates", "when", "error")]


@pytest.mark.parametrize("draft", [a_draft, a_learned])
@pytest.mark.parametrize("approval", ["approved", "declined", "yes"])
def test_a_draft_cannot_approve_itself(draft, approval):
    assert _found(draft(approval=approval)) == [("approval-set", "approval", "error")]


def test_the_approval_of_the_rule_at_the_slot_is_no_new_one():
    taught = a_rule("r_0000aa", when="the task runs the tests", approval="approved")
    draft = a_draft(replaces="r_0000aa", approval="approved")
    assert _found(draft, rules=(taught,)) == []


@pytest.mark.parametrize(
    ("note", "rule"),
    [
        ("why\u202e", "hostile-characters"),
        ("a\x1b[31mb", "hostile-characters"),
        ("x" * 2001, "too-large"),
        ("<<<<<<< ours\na\n>>>>>>> theirs\n", "merge-conflict"),
    ],
)
def test_a_note_hides_nothing_and_leaves_the_file_readable(note, rule):
    assert _found(a_draft(note=note)) == [(rule, "note", "error")]
    assert _found(a_draft(note="Two\nlines are fine.\n")) == []
