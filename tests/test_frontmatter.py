from __future__ import annotations

import pytest

from rose import frontmatter, yamltext
from rose.findings import Refused


def test_a_text_without_frontmatter_is_all_body():
    assert frontmatter.read("# Title\n\ntext\n", "a.md") == ({}, "# Title\n\ntext\n", [])


def test_scalars_keep_the_text_of_the_file():
    text = "---\na: no\nb: 012\nc: 2026-01-02\nd: ~\ne: 1_000\n---\nbody\n"
    fields, body, findings = frontmatter.read(text, "a.md")
    assert fields == {"a": "no", "b": "012", "c": "2026-01-02", "d": "~", "e": "1_000"}
    assert (body, findings) == ("body\n", [])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_byte_order_mark_and_carriage_returns_change_nothing(bom, newline):
    text = bom + newline.join(["---", "title: One", "tags: [a, b]", "---", "body"])
    fields, body, findings = frontmatter.read(text, "a.md")
    assert fields == {"title": "One", "tags": ["a", "b"]}
    assert (body, findings) == ("body", [])


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("when: the task: runs tests", "when", "the task: runs tests"),
        ("globs: **/*.ts", "globs", "**/*.ts"),
        ("globs: *.py, *.pyi", "globs", "*.py, *.pyi"),
        ("title: @handle", "title", "@handle"),
        ("title: `code` first", "title", "`code` first"),
        ("title: 50% off: now", "title", "50% off: now"),
    ],
)
def test_a_value_that_yaml_refuses_is_read_as_it_stands_with_a_warning(line, key, value):
    fields, _, findings = frontmatter.read(f"---\ntitle2: x\n{line}\n---\nb\n", "a.md")
    assert fields[key] == value
    assert [(f.severity, f.where) for f in findings] == [("warning", "a.md:3")]


@pytest.mark.parametrize(
    ("text", "rule", "where"),
    [
        ("---\na: 1\na: 2\n---\n", "frontmatter", "a.md:3"),
        ("---\na:\n\t- b\n---\n", "frontmatter", "a.md:3"),
        ("---\n- a\n- b\n---\n", "frontmatter", "a.md:2"),
        ("---\na: [b\nc: d\n---\n", "frontmatter", "a.md:3"),
        ("---\na: b\nno end\n", "frontmatter-unclosed", "a.md:1"),
        ("a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n", "merge-conflict", "a.md:2"),
        ("---\na: &x [*x]\n---\n", "frontmatter", "a.md:2"),
    ],
)
def test_a_broken_header_is_one_finding_with_its_line(text, rule, where):
    _, _, findings = frontmatter.read(text, "a.md")
    assert [(f.rule, f.where) for f in findings] == [(rule, where)]
    assert findings[0].repair


def test_a_rule_of_dashes_in_prose_is_no_frontmatter():
    text = "---\n\nA line above.\n"
    assert frontmatter.read(text, "a.md") == ({}, text, [])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_prose_between_two_rules_is_no_frontmatter(newline):
    text = newline.join(["---", "", "# Title", "", "Said once: so.", "---", "More.", ""])
    assert frontmatter.read(text, "a.md") == ({}, text, [])


@pytest.mark.parametrize("header", ["", "\n", "\na: b\n", "a: [\n", "words\n"])
def test_what_may_be_a_header_is_one(header):
    assert frontmatter.split(f"---\n{header}---\nx\n").body == "x\n"


def test_an_edit_changes_only_the_named_key():
    text = (
        "\ufeff---\r\n# mine\r\ntitle: One # kept\r\nstatus: active\r\n# below\r\nextra:\r\n"
        "  - a\r\n---\r\nbody\r\n"
    )
    edited = frontmatter.edit(text, {"status": "archived"})
    assert edited == text.replace("status: active", "status: archived")


def test_an_edit_adds_a_key_at_the_end_and_deletes_one():
    edited = frontmatter.edit("---\na: b\nc: d\n---\nx\n", {"a": None, "e": ["f", "g h"]})
    assert edited == "---\nc: d\ne: [f, g h]\n---\nx\n"


def test_an_edit_gives_a_bare_text_its_frontmatter():
    assert frontmatter.edit("# T\n", {"status": "archived"}) == "---\nstatus: archived\n---\n# T\n"


@pytest.mark.parametrize("header", ["{}", "{ }  # none", "{\n}"])
def test_braces_without_a_key_are_no_fields(header):
    assert frontmatter.read(f"---\n{header}\n---\nb\n", "a.md") == ({}, "b\n", [])
    assert frontmatter.load(header, "a.yaml") == ({}, [])


@pytest.mark.parametrize(
    ("header", "changes"),
    [
        ("{}", {"status": "archived"}),
        ("{title: X, tags: [a]}", {"status": "archived"}),
        ("{title: X, tags: [a]}", {"title": "Y"}),
        ("{title: X, tags: [a]}", {"title": None}),
        ("{title: X, tags: [a]}", {"tags": ["b"]}),
        ("{title: X, tags: [a]}", {"tags": None}),
        ("{title: X,\n status: active,\n tags: [a]}", {"status": "archived"}),
        ("{title: X,\n status: active}", {"title": "Y"}),
        ("{title: X,\n status: active}", {"status": None}),
        ("title: X\n...", {"status": "archived"}),
    ],
)
def test_an_edit_that_would_damage_other_keys_is_refused(header, changes):
    with pytest.raises(Refused) as refused:
        frontmatter.edit(f"---\n{header}\n---\nx\n", changes, "a.md")
    [fault] = refused.value.findings
    assert (fault.rule, fault.where) == ("frontmatter-not-editable", "a.md")


def test_an_edit_keeps_a_value_in_braces_of_another_key():
    text = "---\na: {b: c}\nd: [e,\n  f]\ng: h\n---\n"
    assert frontmatter.edit(text, {"g": "i"}) == text.replace("g: h", "g: i")
    assert frontmatter.edit(text, {"d": None}) == "---\na: {b: c}\ng: h\n---\n"


def test_an_edit_of_a_header_that_yaml_refuses_is_refused():
    with pytest.raises(Refused):
        frontmatter.edit("---\na: b: c\n---\n", {"x": "y"})


@pytest.mark.parametrize("word", ["no", "Yes", "null", "on", "y", "012", "1_0", "~", "", " a", "#"])
def test_a_word_that_a_typed_reader_would_change_is_quoted(word):
    assert yamltext.dump({"a": word}).startswith('a: "')
