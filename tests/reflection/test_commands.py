"""Commands: what a shell text runs, without a shell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.reflection import commands, kinds


def heads(command):
    return [head for one in commands.simple_commands(command) if (head := kinds.head_of(one))]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest -q", ["pytest"]),
        ("APP=1 B=2 pytest tests", ["pytest"]),
        ("export A=1 && pytest", ["pytest"]),
        ("cd sub && make test", ["make"]),
        ("sudo -u postgres psql -c 'select 1'", ["psql"]),
        ("timeout -k 5 60 cargo test --all", ["cargo test"]),
        ("env -u X A=1 tox -e py311", ["tox"]),
        ("python -m pytest tests", ["pytest"]),
        ("python3.11 -m http.server", ["http.server"]),
        ("/usr/bin/python3 script.py", ["python"]),
        ("uv run pytest -q", ["pytest"]),
        ("uv run --with x pytest", ["pytest"]),
        ("poetry run python -m mypy src", ["mypy"]),
        ("npx vitest run", ["vitest"]),
        ("npm run test:e2e -- --grep x", ["npm run test:e2e"]),
        ("npm ci", ["npm ci"]),
        ("git -C sub commit -m 'a; b && c'", ["git commit"]),
        ("git status && git diff", []),
        ("kubectl -n web rollout status", ["kubectl rollout"]),
        ("docker compose up -d", ["docker compose"]),
        ("./scripts/release.sh --dry", ["release.sh"]),
        ("ls -la | grep x | wc -l", []),
        ("cat a.txt | psql", ["psql"]),
        ("mypy . 2>&1 | tail -5", ["mypy"]),
        ("pytest > out.txt 2>/dev/null; ruff check", ["pytest", "ruff"]),
        ("if pytest; then ruff check; else mypy; fi", ["pytest", "ruff", "mypy"]),
        ("for f in *.py; do black $f; done", ["black"]),
        ("(cd a && tox) || true", ["tox"]),
        ("pytest\nruff check\n", ["pytest", "ruff"]),
        ("bash -lc 'pytest -q && ruff check'", ["pytest", "ruff"]),
        ("find . -name '*.pyc' -exec rm {} \\; 2>/dev/null", []),
        ("sed -n 1,9p src/app/(protected)/page.tsx", []),
        ("cat <<'EOF' > x.sh\nrm -rf /\npytest\nEOF\nruff check", ["ruff"]),
        ("psql <<EOF\nselect 1;\nEOF", ["psql"]),
        ("wc <<< text\npytest", ["pytest"]),
        ("node -e 'x'; expr $((1 << 2))\npytest", ["node", "expr", "pytest"]),
        ("echo 'unclosed && pytest", ["pytest"]),
        ("# pytest", []),
        ("", []),
        ("&& ; |", []),
        ("A=1", []),
        ("pytest \\\n  -q", ["pytest"]),
    ],
)
def test_the_heads_of_a_command(command, found):
    assert heads(command) == found


def test_words_know_the_folder_that_a_cd_led_to():
    words = list(commands.words_of("cd nodes && cat a.md && cd testing && cat b.md"))
    assert ("a.md", "nodes") in words
    assert ("b.md", "nodes/testing") in words


@given(st.text(max_size=300))
def test_any_text_can_be_taken_apart(text):
    assert all(one.head for one in commands.simple_commands(text))
