from __future__ import annotations

import pytest

from rose.routing import features


@pytest.mark.parametrize(
    "feature",
    ["word:database", "word:数据库", "command:pytest", "command:git commit", "folder:tests/a b/"],
)
def test_a_sound_feature_has_no_fault(feature):
    assert features.fault(feature) is None


@pytest.mark.parametrize(
    "feature",
    [
        "",
        "pytest",
        "verb:run",
        "word:",
        "word:two words",
        "word:Upper",
        "word:a`b",
        "word:a\u3164b",
        "command:a\u034fb",
        "command:a\nb",
        "folder:/etc/",
        "folder:a/../b/",
        "folder:tests",
        "word:" + "x" * 300,
    ],
)
def test_what_no_machine_could_test_is_a_fault(feature):
    assert features.fault(feature)


@pytest.mark.parametrize(
    ("match", "kinds", "expected"),
    [
        (["word:db"], ["word:db", "word:x"], True),
        (["word:db"], ["command:db"], False),
        (["word:db", "command:pytest"], ["command:pytest"], True),
        (["folder:tests/"], ["folder:tests/integration/"], True),
        (["folder:tests/"], ["folder:tests"], True),
        (["folder:tests/integration/"], ["folder:tests/"], False),
        (["folder:test/"], ["folder:tests/"], False),
        (["word:test"], ["word:tests"], True),
        (["word:tests"], ["word:test"], False),
        (["word:query"], ["word:queries"], True),
        (["word:class"], ["word:classes"], True),
        (["word:alia"], ["word:alias"], True),
        (["word:statu"], ["word:status"], False),
        (["word:aw"], ["word:aws"], False),
        (["word:xfail"], ["word:test_xfail_handling"], True),
        (["word:test"], ["word:maxtests"], False),
        (["word:tokens"], ["command:max_tokens"], False),
        ([], ["word:db"], False),
        (["word:db"], [], False),
    ],
)
def test_a_match_is_met_by_any_of_its_features(match, kinds, expected):
    assert features.features_meet(match, kinds) is expected


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        (
            ["word:integration", "word:database", "command:pytest", "folder:tests/integration/"],
            (
                "the task mentions `integration` or `database`, runs `pytest` "
                "or touches tests/integration/"
            ),
        ),
        (["word:a", "word:b", "word:c"], "the task mentions `a`, `b` or `c`"),
        (["command:make"], "the task runs `make`"),
        (["folder:docs/", "word:docs"], "the task mentions `docs` or touches docs/"),
        ([], ""),
        (["nonsense"], ""),
    ],
)
def test_a_match_is_put_in_words(match, expected):
    assert features.when_from_match(match) == expected
