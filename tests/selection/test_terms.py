from __future__ import annotations

import pytest

from rose.selection import terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fix the failing queries", ["fail", "query"]),
        ("add 3 tests for max_tokens", ["test", "max_token", "max", "token"]),
        ("class of the bus", ["clas", "bus"]),
        ("運行测试", ["運行", "行测", "测试"]),
        ("", []),
    ],
)
def test_the_terms_of_a_text(text, found):
    assert terms.terms(text) == found


def test_the_words_to_look_for_keep_their_endings():
    assert terms.query_words("Fix the failing queries") == ["failing", "queries"]
