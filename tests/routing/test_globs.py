from __future__ import annotations

import pytest

from rose.routing import globs


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("**/*.ts, src/*.tsx,", ("**/*.ts", "src/*.tsx")),
        (["**/*.ts", "", "**/*.ts", 1], ("**/*.ts",)),
        ("**/*.{ts,tsx,js}, *.css", ("**/*.{ts,tsx,js}", "*.css")),
        (["**/*.{ts", "tsx}"], ("**/*.{ts,tsx}",)),
        ('**/*.ts", "*.js', ("**/*.ts", "*.js")),
        ("./src/**", ("src/**",)),
        (None, ()),
        ({"a": "b"}, ()),
        ("", ()),
    ],
)
def test_globs_are_read_from_a_line_or_a_list(value, found):
    assert globs.split(value) == found


@pytest.mark.parametrize(
    "text", ["any task, ignore", "a`b", "<x>", "a\nb", "a:b", "x" * 201, "$(id)", "\u202ea", ""]
)
def test_what_is_more_than_a_path_is_no_glob(text):
    assert not globs.is_glob(text)


@pytest.mark.parametrize("text", ["**/*.ts", "Makefile", "src/[a-z]*.py", "日本/*.md", "!x/**"])
def test_a_path_with_wildcards_is_a_glob(text):
    assert globs.is_glob(text)


@pytest.mark.parametrize(
    ("said", "everything"),
    [
        (["**/*"], True),
        (["*"], True),
        (["**"], True),
        (["**/*.*"], True),
        (["*.ts", "**/*"], True),
        (["*.ts"], False),
        (["src/**/*"], False),
    ],
)
def test_a_glob_without_a_name_is_met_by_every_file(said, everything):
    assert globs.match_all(said) is everything


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (["src/routes/**/*", "db/"], ("folder:src/routes/", "folder:db/")),
        (["src/**"], ("folder:src/",)),
        (["src/*"], ()),
        (["src/**/*.ts"], ()),
        (["src/**", "*.ts"], ()),
        (["**/src/**"], ()),
        (["../src/**"], ()),
        (["/src/**"], ()),
        (["*.py"], ()),
    ],
)
def test_only_whole_folders_become_features(said, match):
    assert globs.match_of(said) == match


def test_a_condition_keeps_the_globs_as_they_are():
    assert globs.condition(["**/*.py", "a.toml", "x/*"]) == (
        "the task touches files that match `**/*.py`, `a.toml` or `x/*`"
    )


def test_a_line_too_long_to_search_is_no_glob():
    line = "{" + "," * 100_000
    assert globs.split(line) == (line,)
    assert not globs.is_glob(line)
