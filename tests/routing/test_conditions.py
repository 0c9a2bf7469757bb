from __future__ import annotations

import pytest

from rose.routing import conditions, features


@pytest.mark.parametrize(
    "when",
    [
        "",
        "  ",
        "*",
        "...",
        "always",
        "ALWAYS!",
        "any task",
        "Any task.",
        "when any task",
        "every session",
        "all tasks",
        "in general",
        "the task is any task",
        "a session starts",
        "for every kind of work",
        "总是",
        "immer",
        "before anything else",
    ],
)
def test_a_condition_that_holds_for_everything_is_vacuous(when):
    assert conditions.is_vacuous(when)


@pytest.mark.parametrize(
    "when",
    [
        "the task runs the integration tests",
        "docs",
        "any migration",
        "任务运行集成测试",
        "المهمة تشغل الاختبارات",
        "🚀",
        "the task mentions `in`",
        "CI",
    ],
)
def test_a_kind_of_task_is_not_vacuous(when):
    assert not conditions.is_vacuous(when)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("n_abc is rarely useful", "n_abc"),
        ("`nodes/x.md` is useful", "nodes/x.md"),
        ("the lesson n_abc is outdated", "n_abc"),
        ("the lesson is never relevant", "lesson"),
        ("nodes/testing/", "nodes/testing/"),
        ("n_0a1b2c", "n_0a1b2c"),
        ("r_0a1b2c helps", "r_0a1b2c"),
        ("testing/db", "testing/db"),
        ("testing/db is wrong", "testing/db"),
        ("nodes/deploy/x.md is read", "nodes/deploy/x.md"),
        ("the task reads nodes/deploy/", "nodes/deploy/"),
        ("the task edits `nodes/testing/`", "nodes/testing/"),
        ("the task checks whether nodes/x.md is still correct", "nodes/x.md"),
        ("the task is done once testing/db was read", "testing/db"),
        ("the task opens testing/db.md", "testing/db.md"),
        ("the lesson rollback helps", "rollback"),
        ("the lesson `x` is never useful", "x"),
        ("the rule helps", "rule"),
        ("nodes/", "nodes/"),
    ],
)
def test_a_statement_about_a_lesson_is_named(when, expected):
    assert conditions.named_lesson(when, ("nodes",), {"testing/db"}) == expected


@pytest.mark.parametrize(
    "when",
    [
        "the task changes src/deploy/",
        "the task touches tests/integration/",
        "tests/integration/ is touched",
        "the task changes testing/db/",
        "the task edits nodes/",
        "the note-taking app is built",
        "docs are wrong",
    ],
)
def test_a_task_that_touches_lessons_is_a_kind_of_task(when):
    assert conditions.named_lesson(when, ("nodes",), {"testing/db"}) is None


def test_what_code_renders_from_a_match_is_about_tasks():
    match = ("command:nodes/run.sh", "folder:nodes/tools/")
    when = features.when_from_match(match)
    assert conditions.named_lesson(when, ("nodes",), match=match) is None
    assert conditions.named_lesson(when, ("nodes",), match=match[:1]) == "nodes/run.sh"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The task runs the tests.", "when the task, runs the TESTS", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("\uff34est", "test", True),
        ("任务运行测试", "任务修改文档", False),
        ("🚀", "🔥", False),
        ("测试", "testing", False),
    ],
)
def test_two_conditions_are_one_when_only_letters_differ(one, other, same):
    assert (conditions.key(one) == conditions.key(other)) is same
