from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.routing import targets

ROOTS = ("nodes", ".claude/skills")


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("read nodes/testing/ before running pytest", ("nodes/testing/",)),
        ("read `nodes/a.md`, then (nodes/b.md).", ("nodes/a.md", "nodes/b.md")),
        ('open "nodes/x/*.md";', ("nodes/x/*.md",)),
        ("read ./nodes/a.md", ("nodes/a.md",)),
        ("read nodes/a.md nodes/a.md", ("nodes/a.md",)),
        ("follow .claude/skills/pdf/", (".claude/skills/pdf/",)),
        ("everything in nodes", ("nodes",)),
        ("read nodesy/a.md or docs/a.md", ()),
        ("read nodes/../secret.md or /etc/nodes/a.md", ()),
        ("nothing applies", ()),
    ],
)
def test_targets_are_the_tokens_under_a_lessons_root(then, expected):
    assert targets.targets_of(then, ROOTS) == expected


@pytest.mark.parametrize(
    ("target", "path", "expected"),
    [
        ("nodes/a.md", "nodes/a.md", True),
        ("nodes/a.md", "nodes/a.mdx", False),
        ("nodes/testing/", "nodes/testing/db.md", True),
        ("nodes/testing/", "nodes/testing/deep/db.md", True),
        ("nodes/testing", "nodes/testing/db.md", True),
        ("nodes/testing", "nodes/testing.md", False),
        ("nodes/*.md", "nodes/a.md", True),
        ("nodes/*.md", "nodes/b/a.md", False),
        ("nodes/**/a.md", "nodes/a.md", True),
        ("nodes/**/a.md", "nodes/b/c/a.md", True),
        ("nodes/?.md", "nodes/ab.md", False),
        ("nodes/*/", "nodes/b/c/a.md", True),
        ("nodes/[a].md", "nodes/a.md", False),
        ("nodes/**", "nodes/b/a.md", True),
    ],
)
def test_a_target_matches_its_file_its_folder_or_its_glob(target, path, expected):
    assert targets.matches(target, path) is expected


def test_a_glob_of_many_stars_is_matched_in_no_time():
    assert not targets.matches("nodes/" + "*" * 60 + "x", "nodes/" + "a" * 2_000)
    assert not targets.matches("nodes/" + "**/" * 60 + "x", "nodes/" + "a/" * 500)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("nodes/a/", "nodes/a", True),
        ("nodes/a/", "nodes/a/b.md", True),
        ("nodes/a/", "nodes/b/", False),
        ("nodes/a/*.md", "nodes/a/b.md", True),
        ("nodes/a/*.md", "nodes/a/", True),
        ("nodes/a/*.md", "nodes/b/*.md", False),
        ("nodes/**", "nodes/b/*.md", True),
        ("nodes/*/x.md", "nodes/testing/", True),
        ("nodes/t*/", "nodes/testing", True),
        ("nodes/**/x.md", "nodes/testing/deep/", True),
        ("nodes/*.md", "nodes/testing/", False),
        ("nodes/*/y.md", "nodes/testing/x.md", False),
        ("nodes/*a.md", "nodes/b*.md", True),
        ("nodes/?.md", "nodes/ab.md", False),
        ("nodes/*", "nodes/a/", False),
    ],
)
def test_targets_overlap_when_one_may_hold_the_other(one, other, expected):
    assert targets.overlap(one, other) is expected
    assert targets.overlap(other, one) is expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nodes/testing/db.md", "nodes/testing/db.md"),
        ("nodes/testing/", "nodes/testing/db.md"),
        ("nodes/testing", "nodes/testing/db.md"),
        ("nodes/*/db.md", "nodes/testing/db.md"),
        ("nodes/**", "nodes/deploy/rollback.md"),
        ("nodes/testing/gone.md", None),
        ("nodes/testing/db.md/", None),
        ("nodes/gone/", None),
        ("nodes/*/gone.md", None),
        ("../outside/", None),
        ("/etc/", None),
        ("nodes/\0", None),
    ],
)
def test_the_first_match_of_a_target_is_a_lesson_that_answers_to_it(target, expected):
    paths = ["nodes/deploy/rollback.md", "nodes/testing-old.md", "nodes/testing/db.md"]
    assert targets.first_match(target, paths) == expected


PIECES = st.sampled_from(["a", "b", "*", "**", "?", "/", "a/", "**/"])
GLOBS = st.lists(PIECES, min_size=1, max_size=2).map(lambda pieces: "n/" + "".join(pieces))
PATHS = [
    "n/" + "".join(chars)
    for length in range(1, 7)
    for chars in itertools.product("ab/", repeat=length)
]


@given(GLOBS, GLOBS)
def test_targets_overlap_exactly_where_some_path_is_matched_by_both(one, other):
    both = any(targets.matches(one, path) and targets.matches(other, path) for path in PATHS)
    assert targets.overlap(one, other) is both


def test_targets_of_enormous_length_are_compared_by_their_beginnings():
    long = "nodes/a/" + "*x" * 3000
    assert targets.overlap(long, "nodes/a/" + "?" * 3000)
    assert not targets.overlap(long, "nodes/b/" + "?" * 3000)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("nodes/a/", "nodes/a", True),
        ("nodes/a/", "nodes/a/b.md", True),
        ("nodes/a/*", "nodes/a/b.md", True),
        ("nodes/a/", "nodes/a/*", False),
        ("nodes/a/b.md", "nodes/a/", False),
    ],
)
def test_a_target_holds_what_lies_below_it(wide, narrow, expected):
    assert targets.holds(wide, narrow) is expected
