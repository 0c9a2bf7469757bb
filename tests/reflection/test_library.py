"""The library: lessons by path and by the lines that only they have."""

from __future__ import annotations

import pytest

from rose import config
from rose.reflection import library
from rose.store import lessons
from tests import factories


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nodes/a.md", ["nodes/a.md"]),
        ("cat 'nodes/a.md' ./b.md", ["nodes/a.md", "./b.md"]),
        ("nodes/a.md:3:text nodes/b.md-4-text", ["nodes/a.md"]),
        ("(nodes/a.md), nodes/b.md.", ["nodes/a.md", "nodes/b.md"]),
        ("-rw-r--r-- 1 a a 9 a.md\n", ["a.md"]),
        ("a.mdx a.md5 a.md/ .md", []),
        ("--file=nodes/a.md", ["nodes/a.md"]),
        ("", []),
    ],
)
def test_the_names_of_markdown_files_in_a_text(text, names):
    assert list(library.names_in(text)) == names


def test_a_long_line_without_blanks_costs_no_square_of_its_length():
    assert library.names_in("a" * 200_000 + ".md" * 60_000) == {}


def test_lines_of_many_lessons_are_told_apart(tmp_path):
    store = factories.a_store(tmp_path)
    for number in range(2_000):
        lines = "\n".join(f"Lesson {number} says line {line} of its text." for line in range(5))
        factories.a_lesson_file(store, f"nodes/n{number}.md", f"{lines}\nA line in all of them.\n")
    settings = config.Settings()
    shelf = lessons.scan(store, settings, cache=False)
    books = library.Library([lessons.Holding(store, settings, shelf)], store.base)
    shown = "\n".join(f"Lesson 77 says line {line} of its text." for line in range(3))
    [(number, lines)] = books.peculiar(f"{shown}\nA line in all of them.").items()
    assert (books.lessons[number].id, lines) == ("n77", 3)
