"""Usage: a distinctive span in a later call, and in nothing before the opening."""

from __future__ import annotations

import pytest

from tests.hosts import making
from tests.reflection.scene import DB, DB_LINE, bash, ids, read

PROMPT = making.user("Look into the suite", 0)
OPEN = read(f"nodes/{DB}.md", DB_LINE, 1, 5)
USE = bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", 1, 9)


def used(scene, *rows: dict[str, object]):
    return ids(scene.observe(scene.session(1, *rows)).used)


def test_a_span_in_a_later_command_shows_use(scene):
    facts = scene.observe(scene.session(1, PROMPT, *OPEN, *USE))
    assert [(one.lesson.id, one.span) for one in facts.used] == [
        (DB, "APP_DB_URL=sqlite:///tmp/app.db")
    ]


def test_a_span_in_a_later_structured_input_shows_use(scene):
    rows = [
        making.call("Write", {"file_path": "env.sh", "content": "export APP_DB_URL=x"}, "w", 9),
        making.result("done", "w", 9),
    ]
    assert used(scene, PROMPT, *OPEN, *rows) == [DB]


def test_a_lesson_that_was_not_opened_is_not_used(scene):
    assert used(scene, PROMPT, *USE) == []


def test_a_span_that_never_returns_shows_nothing(scene):
    assert used(scene, PROMPT, *OPEN, *bash("pytest tests/unit", "ok", 1, 9)) == []


def test_a_span_in_a_result_alone_shows_nothing(scene):
    assert used(scene, PROMPT, *OPEN, *bash("env", "APP_DB_URL=sqlite:///tmp/app.db", 1, 9)) == []


def test_a_call_before_the_opening_shows_nothing(scene):
    assert used(scene, PROMPT, *bash("export APP_DB_URL=x", "", 1, 2), *OPEN) == []


@pytest.mark.parametrize(
    "earlier",
    [
        [making.user("Use APP_DB_URL=sqlite:///tmp/app.db, then run pytest tests/integration", 0)],
        [
            PROMPT,
            making.said("I set APP_DB_URL=sqlite:///tmp/app.db for pytest tests/integration", 1),
        ],
        [
            PROMPT,
            *bash("cat .env", "APP_DB_URL=sqlite:///tmp/app.db\npytest tests/integration", 1, 1),
        ],
        [PROMPT, *bash("APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration", "no", 1, 1)],
        [
            PROMPT,
            making.attachment(
                "hook_additional_context",
                1,
                content=["APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration"],
                hookEvent="UserPromptSubmit",
            ),
        ],
    ],
    ids=["prompt", "agent text", "result", "call", "injection"],
)
def test_a_span_that_was_known_before_shows_nothing(scene, earlier):
    assert used(scene, *earlier, *OPEN, *USE) == []


def test_one_new_span_is_enough(scene):
    known = bash("pytest tests/integration", "APP_DB_URL is not set", 1, 1)
    assert used(scene, PROMPT, *known, *OPEN, *USE) == [DB]


def test_a_longer_word_is_another_word(scene):
    assert used(scene, PROMPT, *OPEN, *bash("echo $MY_APP_DB_URLS", "", 1, 9)) == []


def test_searching_or_editing_the_lesson_itself_is_no_use(scene):
    edit = [
        making.call("Edit", {"file_path": f"nodes/{DB}.md", "old_string": DB_LINE}, "e", 9),
        making.result("done", "e", 9),
    ]
    again = bash(f"grep -n APP_DB_URL nodes/{DB}.md", DB_LINE, 1, 10)
    assert used(scene, PROMPT, *OPEN, *edit, *again) == []


def test_the_call_that_opened_it_is_no_use(scene):
    row = bash(f"grep APP_DB_URL= nodes/{DB}.md && export APP_DB_URL=1", DB_LINE, 1, 5)
    assert used(scene, PROMPT, *row) == []


def test_a_call_made_before_the_opening_and_answered_after_it_is_no_use(scene):
    slow = bash("APP_DB_URL=sqlite:///tmp/app.db pytest", "ok", 1, 2)
    assert used(scene, PROMPT, slow[0], *OPEN, slow[1]) == []


def test_white_space_does_not_hide_a_command(scene):
    assert used(scene, PROMPT, *OPEN, *bash("pytest   tests/integration", "ok", 1, 9)) == [DB]


def test_a_call_made_beside_the_opening_cannot_rest_on_it(scene):
    """The model sent both at once: it had not read the lesson when it wrote the command."""
    opening, shown = OPEN
    using, done = USE
    assert used(scene, PROMPT, opening, using, shown, done) == []
    assert used(scene, PROMPT, opening, shown, using, done) == [DB]
