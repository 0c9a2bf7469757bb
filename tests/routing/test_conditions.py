from __future__ import annotations

import pytest

from rose.routing import conditions


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
    ],
)
def test_a_statement_about_a_lesson_is_named(when, expected):
    assert conditions.named_lesson(when, ("nodes",), {"testing/db"}) == expected


@pytest.mark.parametrize(
    "when",
    [
        "the task edits nodes/testing/",
        "the task checks whether nodes/x.md is still correct",
        "tests/integration/ is touched",
        "nodes/deploy/ is edited",
        "the note-taking app is built",
        "docs are wrong",
    ],
)
def test_a_task_that_touches_lessons_is_a_kind_of_task(when):
    assert conditions.named_lesson(when, ("nodes",), {"testing/db"}) is None


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
