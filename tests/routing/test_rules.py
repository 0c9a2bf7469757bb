from __future__ import annotations

from dataclasses import replace

import pytest

from rose.findings import errors
from rose.routing import rules
from rose.routing.rules import Evidence
from tests.routing.samples import a_rule

PATH = "/p/.rose/routing/r_0000aa.md"
SHORT = "---\nwhen: docs are built\nthen: read nodes/a.md\n---\n"


def test_a_hand_written_rule_needs_a_when_and_a_then_only():
    rule, findings = rules.parse(SHORT, PATH, ("nodes",))
    assert findings == []
    assert rule == rules.Rule(
        id="r_0000aa",
        when="docs are built",
        then="read nodes/a.md",
        targets=("nodes/a.md",),
        path=PATH,
    )


def test_a_whole_rule_reads_back_as_it_was_written():
    rule = a_rule(
        when='the task: "x" # y',
        then="read nodes/a.md *now*",
        effect="skip",
        targets=("nodes/a.md", "nodes/**/b.md"),
        match=("command:pytest", "folder:tests/a b/", "word:数据"),
        origin="reflection",
        status="proposed",
        approval="declined",
        born=41,
        created="2026-11-30T09:12:44Z",
        evidence=(Evidence("0b6c", 'a "quote": x'), Evidence("s", "two\nlines", 3, (1, 2))),
        note="Why.\n",
        path="/p/r_000001.md",
    )
    assert rules.parse(rules.render(rule), rule.path, ("nodes",)) == (rule, [])


@pytest.mark.parametrize("style", ["\ufeff{}", "{}\n\nwhy\n", "\ufeff# no"])
def test_a_byte_order_mark_changes_nothing(style):
    text = style.format(SHORT) if "{}" in style else "\ufeff" + SHORT
    rule, findings = rules.parse(text.replace("\n", "\r\n"), PATH, ("nodes",))
    assert findings == []
    assert rule is not None
    assert rule.when == "docs are built"


@pytest.mark.parametrize("key", ["targets: nodes/x/", "targets: [nodes/x/]"])
def test_a_single_text_stands_for_a_list_of_one(key):
    rule, _ = rules.parse(SHORT.replace("---\nwhen", f"---\n{key}\nwhen"), PATH, ("nodes",))
    assert rule is not None
    assert rule.targets == ("nodes/x/",)


def test_a_condition_is_rendered_from_match_where_there_is_none():
    text = "---\nmatch: command:pytest\nthen: read nodes/a.md\n---\n"
    rule, findings = rules.parse(text, PATH, ("nodes",))
    assert findings == []
    assert rule is not None
    assert rule.when == "the task runs `pytest`"


@pytest.mark.parametrize(
    ("line", "expected_rule", "expected"),
    [
        ("effect: maybe", "field-value", "prefer or skip"),
        ("status: on", "field-value", "proposed or active or declined or retired"),
        ("origin: me", "field-value", "manual or reflection"),
        ("approval: yes", "field-value", "approved or declined"),
        ("born: -1", "field-value", "a number from 0"),
        ("born: soon", "field-value", "a number from 0"),
        ("id: r_0000ab", "id-mismatch", "r_0000aa"),
        ("effect: [prefer]", "field-value", "prefer or skip"),
        ("created: {a: b}", "field-type", None),
        ("targets: [{a: b}]", "field-type", None),
        ("targets: ../x", "target-outside", None),
        ("targets: /etc/x", "target-outside", None),
        ("match: [verb:x]", "match-invalid", None),
        ("evidence: [{session: x}]", "field-type", None),
    ],
)
def test_a_bad_field_is_named_with_its_line(line, expected_rule, expected):
    text = f"---\nwhen: docs are built\nthen: read nodes/a.md\n{line}\n---\n"
    rule, findings = rules.parse(text, PATH, ("nodes",))
    assert rule is None
    assert [f.rule for f in findings] == [expected_rule]
    assert findings[0].where == f"{PATH}:4"
    assert findings[0].expected == expected
    assert findings[0].repair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["frontmatter-missing"]),
        ("# A title\n", ["frontmatter-missing"]),
        ("---\nwhen: x\n---\n", ["then-missing"]),
        ("---\nthen: x\n---\n", ["when-missing"]),
        ("---\nwhen: ''\nthen: ''\n---\n", ["when-missing", "then-missing"]),
        ("---\nwhen: 'when .'\nthen: x\n---\n", ["when-missing"]),
        ("---\nwhen: [a]\nthen: x\n---\n", ["field-type"]),
        ("---\nwhen: x\nthen: y\n", ["frontmatter-unclosed"]),
        ("---\n<<<<<<< a\nwhen: x\n=======\n>>>>>>> b\nthen: y\n---\n", ["merge-conflict"]),
        ("---\nwhen: x\nwhen: z\nthen: y\n---\n", ["frontmatter"]),
    ],
)
def test_a_rule_that_says_nothing_is_an_error(text, expected):
    rule, findings = rules.parse(text, PATH, ("nodes",))
    assert rule is None
    assert [f.rule for f in errors(findings)] == expected


def test_an_unquoted_colon_is_recovered_and_reported():
    rule, findings = rules.parse("---\nwhen: the task: tests\nthen: x\n---\n", PATH, ("nodes",))
    assert rule is not None
    assert rule.when == "the task: tests"
    assert [f.severity for f in findings] == ["warning"]


def test_a_home_rule_renders_absolute_targets():
    rule = a_rule(when="style matters", then="read nodes/a.md", targets=("nodes/a.md",))
    assert rules.line(rule, "/h/.rose") == "- When style matters: read /h/.rose/nodes/a.md"
    assert rules.line(rule) == "- When style matters: read nodes/a.md"


def test_what_a_person_typed_around_a_clause_is_not_in_the_rule():
    rule, _ = rules.parse("---\nwhen: When docs.\nthen: read nodes/a.md.\n---\n", PATH, ("nodes",))
    assert rule is not None
    assert rules.line(rule) == "- When docs: read nodes/a.md"
    assert rules.line(replace(rule, when="When docs.")) == rules.line(rule)


@pytest.mark.parametrize("part", [5, 20, 35])
@pytest.mark.parametrize("field", ["effect: {}", "born: {}", "id: {}", "targets: [/{}]"])
def test_what_a_finding_quotes_holds_no_half_of_a_secret(field, part):
    key = "ghp_" + "a1B2" * 10
    text = SHORT.replace("then:", field.format("x" * (59 - part) + "/" + key) + "\nthen:")
    _, findings = rules.parse(text, PATH, ("nodes",))
    [said] = [finding.message for finding in findings if "xxx" in finding.message]
    assert key[:5] not in said
