from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose import recovery


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("globs: **/*.ts\n", {"globs": "**/*.ts"}),
        ("globs: **/*.ts, *.tsx\nalwaysApply: false\n", {"globs": "**/*.ts, *.tsx"}),
        ("description: a: b\n# note\n\n", {"description": "a: b"}),
        ("globs: [**/*.ts, '*.tsx']\n", {"globs": ["**/*.ts", "*.tsx"]}),
        ('globs:\n  - **/*.ts\n  - "*.tsx"\n', {"globs": ["**/*.ts", "*.tsx"]}),
        ("globs:\r\n- **/*.ts\r\ndescription: x\r\n", {"globs": ["**/*.ts"]}),
        ("globs:\ndescription: `x`\n", {"globs": "", "description": "`x`"}),
    ],
)
def test_plain_lines_are_taken_as_they_stand(header, fields):
    assert fields.items() <= (recovery.recover(header) or {}).items()


@pytest.mark.parametrize(
    "header",
    [
        "",
        "no key\n",
        "a: 1\na: 2\n",
        "a: [1\n",
        'a: "b" c\n',
        "a:\n  b: c\n",
        "a: b\n  and more\n",
        "a: b\n  - c\n",
        "a:\n\t- c\n",
        "a:\n  - b: c\n",
        "a:\n  - {b: c}\n",
        "a:\n  - [b]\n",
        "a:\n  - b\n  c\n",
        "- a\n",
    ],
)
def test_a_line_that_leaves_a_doubt_costs_the_header(header):
    assert recovery.recover(header) is None


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ('description: "Tests" first\nx: [1\n', {"description": '"Tests" first'}),
        ("x: [1\nglobs: **/*.ts\nglobs: *.js\n", {"globs": "**/*.ts"}),
        ("x: [1\nglobs:\n\t- **/*.ts\n  - *.tsx\n", {"globs": ["*.tsx"]}),
        ("globs: [\n  **/*.ts,\n  '*.tsx',\n]\n", {"globs": ["**/*.ts", "*.tsx"]}),
        ("description: >-\n  One\n  two.\ny: *z\n", {"description": "One two."}),
        ("description: One\n  two\ny: *z\n", {"description": "One two"}),
        ("description: [x\nglobs: a\n", {"globs": "a"}),
        ("id: chosen\nstatus: archived\nx: [1\n", {}),
    ],
)
def test_what_is_likely_is_taken_from_a_broken_header(header, fields):
    assert recovery.likely(header, ("description", "globs")) == fields


@given(st.text(st.sampled_from("ab: -\n\r\t[]{}'\"*|>&#,"), max_size=60))
def test_no_header_fails_and_what_is_sure_is_likely_too(header):
    sure = recovery.recover(header)
    found = recovery.likely(header, ("a", "b", "ab"))
    if sure is not None:
        assert {key: found.get(key) for key in sure} == {**found, **sure}
