from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose.store import parse


def read(raw, path="nodes/testing/db.md"):
    data = raw if isinstance(raw, bytes) else raw.encode("utf-8")
    return parse.parse(data, path, version="0" * 16)


def rules(parsed):
    return [(finding.rule, finding.where) for finding in parsed.findings]


FULL = """---
id: testing/database
title: The test database
gist: Start it first.
tags: [testing, postgres]
status: archived
superseded_by: testing/new
origin: reflection
evidence: [session one]
created: 2026-11-30T09:12:44Z
more: kept
---
# Another heading

Body.
"""


def test_every_known_key_is_read():
    parsed = read(FULL)
    assert parsed.name == "testing/database"
    assert (parsed.title, parsed.gist) == ("The test database", "Start it first.")
    assert parsed.tags == ("testing", "postgres")
    assert (parsed.status, parsed.superseded_by) == ("archived", "testing/new")
    assert (parsed.origin, parsed.evidence) == ("reflection", ("session one",))
    assert parsed.created == "2026-11-30T09:12:44Z"
    assert parsed.findings == ()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_byte_order_mark_and_carriage_returns_change_nothing(newline, bom):
    assert read(bom + FULL.replace("\n", newline)) == read(FULL)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n", "One"),
        ("text\n\n## Two ##\n", "Two"),
        ("# Batches in C#\n", "Batches in C#"),
        ("# # #\n# Real\n", "#"),
        ("Three\n=====\ntext\n", "Three"),
        ("```sh\n# no title\n```\n# Four\n", "Four"),
        ("~~~\n```\n# no title\n~~~\n# Five\n", "Five"),
        ("#no heading\n", "db"),
        ("no heading\n", "db"),
        ("", "db"),
        ("---\ntitle: Six\n---\n# Other\n", "Six"),
        ("---\nname: seven\n---\ntext\n", "db"),
        ("# \x1b[31mRed\u202e\n", "Red"),
    ],
)
def test_the_title_is_the_key_or_the_first_heading_or_the_file_name(text, title):
    assert read(text).title == title


@pytest.mark.parametrize(
    ("text", "gist"),
    [
        ("# One\n\nStart it. Then run.\n", "Start it."),
        ("# One\n\nStart it\nfirst. Then run.\n", "Start it first."),
        ("# One\n\n- Use e.g. make here. Not npm.\n- second\n", "Use e.g. make here."),
        ("> quoted words\n", "quoted words"),
        ("1. first step\n2. second\n", "first step"),
        ("<!-- a comment\nof two lines -->\n\nReal text.\n", "Real text."),
        ("![badge](x.svg)\n\nReal text.\n", "Real text."),
        ("| a | b |\n|---|---|\n\nReal text.\n", "Real text."),
        ("Title\n=====\n\nReal text.\n", "Real text."),
        ("```\ncode\n```\nReal text.\n", "Real text."),
        ("**Bold** start. More.\n", "**Bold** start."),
        ("先启动数据库。然后测试。\n", "先启动数据库。"),
        ("---\ndescription: From the key.\n---\nText.\n", "From the key."),
        ("---\ngist: G\ndescription: D\n---\nText.\n", "G"),
        ("---\ndescription: |\n  Two\n  lines\n---\nText.\n", "Two lines"),
        ("# Only a title\n", ""),
    ],
)
def test_the_gist_is_the_key_or_the_first_sentence(text, gist):
    assert read(text).gist == gist


def test_a_skill_is_called_by_its_name_or_its_folder():
    text = "---\nname: tdd\ndescription: Test first.\n---\n# Long heading\n"
    parsed = read(text, ".claude/skills/tdd/SKILL.md")
    assert (parsed.title, parsed.gist) == ("tdd", "Test first.")
    assert read("text\n", ".claude/skills/brainstorming/SKILL.md").title == "brainstorming"


@pytest.mark.parametrize(
    ("raw", "rule", "where", "title"),
    [
        ("---\na: 1\na: 2\n---\n# T\n", "frontmatter", ":3", "T"),
        ("---\na:\n\t- b\n---\n# T\n", "frontmatter", ":3", "T"),
        ("---\ntitle: x\n", "frontmatter-unclosed", ":1", "db"),
        ("<<<<<<< a\n# T\n=======\n>>>>>>> b\n", "merge-conflict", ":1", "T"),
        ("# T\n\n\0\n", "nul-character", ":3", "T"),
        ("# Täst\n".encode("latin-1"), "not-utf-8", ":1", "Täst"),
        ("# Täst\n".encode("utf-16"), "not-utf-8", ":1", "Täst"),
        ("\n# Ende\n", None, None, "Ende"),
        ("---\ntitle: a: b\n---\n", "frontmatter-recovered", ":2", "a: b"),
        ("---\nglobs: **/*.ts\ntitle: T\n---\n", "frontmatter-recovered", ":2", "T"),
        ("", "lesson-empty", ":1", "db"),
        ("---\ntitle: [a]\n---\n# T\n", "lesson-field", "", "T"),
        ("---\ntags: {a: b}\n---\n# T\n", "lesson-field", "", "T"),
        ("---\nstatus: gone\n---\n# T\n", "lesson-status", "", "T"),
        ("---\na: " + "[" * 900 + "]" * 900 + "\n---\n# T\n", None, None, "T"),
    ],
)
def test_a_broken_file_is_a_lesson_with_a_finding_that_names_the_line(raw, rule, where, title):
    parsed = read(raw)
    assert parsed.title == title
    assert parsed.status == "active"
    if rule is not None:
        assert rules(parsed) == [(rule, where)]
        assert parsed.findings[0].repair


@pytest.mark.parametrize(
    ("header", "status"),
    [("", "active"), ("superseded_by: x", "superseded"), ("status: Archived", "archived")],
)
def test_the_status_is_active_unless_the_file_says_otherwise(header, status):
    assert read(f"---\n{header}\nk: v\n---\n").status == status


@pytest.mark.parametrize("tags", ["[a, b]", "a, b", '"a,b"', "\n  - a\n  - b\n  - a"])
def test_tags_are_a_list_or_words_between_commas(tags):
    assert read(f"---\ntags: {tags}\n---\n").tags == ("a", "b")


def test_long_titles_and_gists_are_cut():
    parsed = read("# " + "t" * 500 + "\n\n" + "word " * 200 + "\n")
    assert (len(parsed.title), len(parsed.gist)) == (200, 200)
    assert parsed.gist.endswith("…")


@pytest.mark.parametrize("raw", [b"x" * 5_000_000, b"# " * 2_500_000, b"a. " * 1_700_000])
def test_a_line_of_five_megabytes_is_read_like_any_other(tmp_path, raw):
    path = tmp_path / "big.md"
    path.write_bytes(raw)
    parsed = parse.read(str(path))
    assert parsed.version == hashlib.sha256(raw).hexdigest()[:16]
    assert len(parsed.gist) <= 200
    assert rules(parsed) == [("lesson-cut", ":1")]


def test_a_character_across_the_end_of_what_is_read_is_no_fault(tmp_path):
    path = tmp_path / "big.md"
    path.write_bytes(("x" * (parse.HEAD_BYTES - 1) + "é" * 10).encode())
    assert rules(parse.read(str(path))) == [("lesson-cut", ":1")]


def test_a_lesson_that_is_read_to_its_end_is_not_said_to_be_cut(tmp_path):
    path = tmp_path / "big.md"
    path.write_bytes(b"x" * parse.HEAD_BYTES)
    assert parse.read(str(path)).findings == ()
    assert parse.read_part(str(path)).is_cut is False


def test_the_version_is_the_digest_of_the_bytes(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf# A\r\n")
    assert parse.read(str(path)).version == hashlib.sha256(b"\xef\xbb\xbf# A\r\n").hexdigest()[:16]


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8")))
@settings(max_examples=300)
def test_no_bytes_fail_and_each_line_stays_one(raw):
    parsed = read(b"---\n" + raw)
    assert parsed.title
    assert "\n" not in parsed.title + parsed.gist
    assert len(parsed.gist) <= 200


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("größer\r\n".encode(), "größer\r\n"),
        ("größer".encode("utf-16"), "größer"),
        (b"gr\xf6\xdfer", "größer"),
        (b"a\0b", "ab"),
        ("ü".encode() * (1 << 20), "ü" * (1 << 19)),
    ],
    ids=["plain", "UTF-16", "Latin-1", "NUL", "long"],
)
def test_the_text_is_read_as_it_is_for_words_and_the_version_is_that_of_all_of_it(
    tmp_path, raw, text
):
    path = tmp_path / "a.md"
    path.write_bytes(raw)
    assert parse.read_text(str(path)) == (text, parse.read(str(path)).version)


@pytest.mark.parametrize(
    "header",
    [
        "description: Types: how\nglobs: **/*.ts",
        'x: [1\ndescription: "Types: how"',
        "a: 1\na: 2\ndescription: >-\n  Types:\n  how",
    ],
)
def test_a_header_that_yaml_refuses_still_describes_its_lesson(header):
    parsed = read(f"---\n{header}\n---\n# T\n\nText.\n")
    assert (parsed.title, parsed.gist) == ("T", "Types: how")
    assert len(parsed.findings) == 1


def test_what_is_only_likely_changes_no_status_and_no_id():
    parsed = read("---\nid: other\nstatus: archived\ntitle: T\nx: [1\n---\nText.\n")
    assert (parsed.name, parsed.status, parsed.title) == ("", "active", "T")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("", ""),
        ("origin: manual\ncreated: 2026-12-01\n", ""),
        ("title: A\ngist: B\ndescription: C\ntags: [d, e]\n", "A\nB\nC\nd e"),
        (
            "description: >-\n  Use when\n  it rains.\ntags:\n  - d\n  - e\n",
            "Use when it rains.\nd e",
        ),
        ("nested:\n  title: A\ntags: d, e\r\n", "d, e"),
        ("globs: **/*.ts\ntitle: [A\ndescription: C: c\n", "C: c"),
    ],
)
def test_what_a_header_says_of_its_lesson_is_title_gist_and_tags(header, said):
    assert parse.described(header) == said


def test_a_part_knows_where_its_body_begins(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nThe body.\r\n")
    part = parse.read_part(str(path))
    assert (part.header, part.body) == ("title: A\r\n", "The body.\r\n")
    assert part.text[part.start :] == part.body


@pytest.mark.parametrize("part", [5, 20, 35])
def test_what_is_cut_of_a_title_or_a_gist_is_no_half_of_a_secret(part):
    line = "word " * 40
    line = line[: parse.MAX_TITLE - 2 - part] + " ghp_" + "a1B2" * 10
    found = read(f"# {line}\n\n{line}\n")
    assert [one for one in (found.title, found.gist) if "ghp_" in one or len(one) > 200] == []
