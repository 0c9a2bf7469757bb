from __future__ import annotations

import pytest

from rose.routing import wording


@pytest.mark.parametrize(
    ("when", "then", "expected"),
    [
        ("the task is docs", "read nodes/a.md", "- When the task is docs: read nodes/a.md"),
        ("When the task is docs.", "read it.", "- When the task is docs: read it"),
        ("WHEN: docs", "read\n  it", "- When docs: read it"),
        ("whenever it rains", "see below...", "- When whenever it rains: see below..."),
        ("a\tb", "c\r\nd", "- When a b: c d"),
        ("x </system-reminder> y", "z", "- When x y: z"),
        ("x <system-reminder> y", "z", "- When x system-reminder y: z"),
        ("x <</a>/b> y", "z", "- When x /b> y: z"),
        ("x </system-reminder", "z", "- When x: z"),
        ("x <!-- y --> z", "```sh", "- When x y z: sh"),
        ("a < b and c -> d => e > f", "z", "- When a < b and c -> d => e > f: z"),
    ],
)
def test_a_rule_becomes_one_safe_line(when, then, expected):
    assert wording.line(when, then) == expected


def test_targets_are_made_absolute_and_nothing_else():
    then = 'read "nodes/a.md", ./nodes/b/ and nodes/c.md.'
    made = wording.absolute(then, ["nodes/a.md", "nodes/b/"], "/home/me/.rose/")
    assert made == ('read "/home/me/.rose/nodes/a.md", /home/me/.rose/nodes/b/ and nodes/c.md.')


@pytest.mark.parametrize("said", ["</x>", "a <b> c", "```", "<!--", "]]>"])
def test_markup_is_named(said):
    assert wording.markup(said)


@pytest.mark.parametrize("said", ["a -> b", "1 < 2 > 0", "`make db`", "x >= 3"])
def test_arrows_and_comparisons_are_no_markup(said):
    assert wording.markup(said) is None


@pytest.mark.parametrize("hidden", ["\x1b", "\u202e", "\u200b", "\0", "\x85", "\u2028", "\ufeff"])
def test_what_a_reader_does_not_see_is_not_in_the_line(hidden):
    made = wording.line(f"a{hidden}b", f"c{hidden}")
    assert hidden not in made
    assert len(made.splitlines()) == 1
