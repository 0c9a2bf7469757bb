from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose.selection import select
from tests.selection.learning import TEXTS, a_case, a_ground, some_cases

SAID = ["outage", "handbook", "suite", "postgres", "image", "slow", "crawler"]
WORDS = st.lists(st.sampled_from(SAID), max_size=4)
USED = st.lists(st.sampled_from([*TEXTS, "gone"]), max_size=2, unique=True)
CASES = st.lists(st.tuples(WORDS, USED), max_size=8)


def drawn_cases(drawn):
    return [a_case(n, " ".join(words), *used) for n, (words, used) in enumerate(drawn, 1)]


def chosen(memory, prompt, ground=None, k=10):
    return memory.select(prompt, ground or a_ground(), k)


@given(WORDS)
def test_with_an_empty_record_the_order_is_that_of_bm25(words):
    ground, prompt = a_ground(), " ".join(words)
    found = [one.lesson for one in chosen(select.Memory(), prompt, ground)]
    assert found == [name for name, _ in ground.lexical.hits(prompt.split(), 10)]


def test_without_a_record_what_is_near_the_best_is_served():
    memory = select.Memory()
    found = chosen(memory, "slow suite")
    assert [one.lesson for one in found] == ["testing/slow", "testing/db"]
    assert [one.lesson for one in memory.served(found)] == ["testing/slow"]
    assert memory.served([]) == []


def test_what_past_tasks_used_is_found_without_a_word_in_common_with_its_text():
    assert chosen(select.Memory(), "a new outage in production") == []
    memory = select.fold(some_cases(), a_ground())
    found = chosen(memory, "a new outage in production")
    assert found[0].lesson == "deploy/rollback"
    assert memory.served(found)[0].lesson == "deploy/rollback"


def test_a_task_that_nothing_speaks_for_is_served_nothing():
    memory = select.fold(some_cases(40), a_ground())
    assert chosen(memory, "zebra") == []


@settings(max_examples=30)
@given(CASES, WORDS)
def test_what_the_features_gave_adds_up_to_the_score(drawn, words):
    memory = select.fold(drawn_cases(drawn), a_ground())
    for choice in chosen(memory, " ".join(words)):
        assert sum(choice.why.values()) == pytest.approx(choice.score)


@settings(max_examples=30)
@given(CASES, st.integers(0, 8), WORDS)
def test_a_memory_that_is_gone_on_with_equals_one_fold_of_all(drawn, cut, words):
    cases, prompt = drawn_cases(drawn), " ".join(words)
    whole = select.fold(cases, a_ground())
    parts = select.fold(cases[cut:], a_ground(), select.fold(cases[:cut], a_ground()))
    assert chosen(whole, prompt) == chosen(parts, prompt)
    assert whole.weights.words == parts.weights.words


@settings(max_examples=30)
@given(CASES, WORDS)
def test_only_what_can_be_chosen_is_chosen_and_shares_are_parts_of_one(drawn, words):
    texts = {name: text for name, text in TEXTS.items() if name != "deploy/rollback"}
    memory = select.fold(drawn_cases(drawn), a_ground())
    found = chosen(memory, " ".join(words), a_ground(texts))
    assert {one.lesson for one in found} <= set(texts)
    assert sum(one.share for one in found) <= 1 + 1e-9
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_lesson_that_came_back_has_its_past():
    texts = {name: text for name, text in TEXTS.items() if name != "deploy/rollback"}
    memory = select.fold(some_cases(), a_ground(texts))
    assert chosen(memory, "production outage")[0].lesson == "deploy/rollback"


def test_a_prefer_rule_lifts_and_a_skip_rule_lowers():
    memory = select.fold(some_cases(), a_ground())
    plain = {one.lesson: one.score for one in chosen(memory, "slow suite")}
    lifts = {"testing/db": 0.5, "testing/slow": -0.5, "docs/links": 0.25}
    ruled = {one.lesson: one for one in chosen(memory, "slow suite", a_ground(rules=lifts))}
    assert ruled["testing/db"].score == pytest.approx(plain["testing/db"] + 2)
    assert ruled["testing/slow"].score == pytest.approx(plain["testing/slow"] - 2)
    assert ruled["docs/links"].why["rules"] == 1


def test_a_case_without_its_text_is_known_by_its_words():
    kinds = ("command:pytest", "word:outage", "word:production")
    bare = [a_case(n, "", "deploy/rollback", kinds=kinds) for n in range(1, 5)]
    memory = select.fold([*bare, *some_cases(4)], a_ground())
    assert chosen(memory, "production outage")[0].lesson == "deploy/rollback"
    assert "pytest" not in memory.past.frequency
