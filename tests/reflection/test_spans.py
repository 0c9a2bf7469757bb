"""Spans: which pieces of a lesson show that it was used."""

from __future__ import annotations

import pytest

from rose.reflection import spans
from tests.reflection.scene import LESSONS


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param("Set `FOO_BAR=one`.", ["FOO_BAR=one", "FOO_BAR"], id="assignment"),
        pytest.param("Pass `--no-verify`.", ["--no-verify"], id="flag"),
        pytest.param("Pass --no-verify.", ["--no-verify"], id="flag in prose"),
        pytest.param(
            "`--cov=src/app`", ["--cov=src/app", "--cov", "src/app"], id="flag with value"
        ),
        pytest.param("See tests/conftest.py.", ["tests/conftest.py"], id="path in prose"),
        pytest.param("See `scripts/release`.", ["scripts/release"], id="path in code"),
        pytest.param("MAX_RETRIES matters", ["MAX_RETRIES"], id="constant in prose"),
        pytest.param("call `os.path.join`", ["os.path.join"], id="dotted name"),
        pytest.param("`fooBar` and `FooBar`", ["fooBar", "FooBar"], id="camel case"),
        pytest.param("fails with E1234", ["E1234"], id="error code"),
        pytest.param("answers HTTP 503", ["HTTP 503"], id="status"),
        pytest.param("exit code 137", ["exit code 137"], id="exit code"),
        pytest.param("https://a.example/x?y=1", ["https://a.example/x?y=1"], id="address"),
        pytest.param("`hatch-vcs`", ["hatch-vcs"], id="hyphenated name in code"),
        pytest.param(
            "```sh\n$ tox -e py311\n```\n", ["tox -e py311"], id="a fenced line without its prompt"
        ),
        pytest.param("`a  command\n with`", ["a command with"], id="white space is one space"),
        pytest.param("`pip download <name>`", [], id="a command with a hole"),
        pytest.param("`cursor` and `limit`", [], id="plain words"),
        pytest.param("`x=1`", [], id="too short"),
        pytest.param("and/or, e.g. read/write", [], id="prose with slashes and dots"),
        pytest.param("`git commit` and `npm install`", [], id="commands of every session"),
        pytest.param("`--help`, README.md, /dev/null", [], id="names of every session"),
        pytest.param("see `nodes/a/b.md` or `b.md`", [], id="the lesson's own path"),
        pytest.param("read `nodes/a/`", [], id="the lesson's own folder"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_distinctive_span_has_a_form_of_its_own(body, found):
    assert list(spans.spans(body, "nodes/a/b.md")) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("api/paging", []),
        (
            "deploy/rollback",
            ["scripts/release.sh --rollback", "scripts/release.sh", "--rollback"],
        ),
        ("docs/links", ["store.md", "make docs-check", "docs-check"]),
        ("testing/fixtures", ["tests/conftest.py"]),
        (
            "testing/integration-db",
            [
                "APP_DB_URL=sqlite:///tmp/app.db",
                "APP_DB_URL",
                "sqlite:///tmp/app.db",
                "pytest tests/integration",
                "tests/integration",
            ],
        ),
    ],
)
def test_the_spans_of_real_lessons(name, found):
    assert list(spans.spans(LESSONS[name][1], f"nodes/{name}.md")) == found


def test_a_huge_lesson_has_a_bounded_number_of_spans():
    body = "\n".join(f"`NAME_{number}=value`" for number in range(5_000))
    assert len(spans.spans(body, "nodes/a.md")) == spans.MOST_SPANS


def test_a_body_of_backticks_alone_ends_in_time():
    assert spans.spans("`" * 100_000, "nodes/a.md") == ()
    assert spans.spans("`a " * 50_000, "nodes/a.md") == ()
