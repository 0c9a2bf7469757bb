"""The reflector without a model: what the record of cases supports, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.reflection import offline
from rose.reflection.ties import Ties
from rose.routing.cases import Case
from tests.reflection.worded import DB, a_lesson, a_rule, name_of

FIXTURES = "nodes/testing/fixtures.md"
LINKS = "nodes/docs/links.md"


def a_case(n, kinds, used=(), **fields):
    names = tuple(map(name_of, used))
    return Case(f"s{n}", n, kinds=tuple(kinds), used=names, delivered=(), **fields)


def propose(case, past=(), rules=(), forgotten=lambda _match, _targets: False, used=None):
    lessons = [a_lesson(f"nodes/{name}.md") for name in case.used] if used is None else used
    return offline.propose(case, lessons, Ties(past), offline.Ground(rules, ("nodes",), forgotten))


NOW = a_case(2, ["word:suite"], [DB])
BEFORE = a_case(1, ["word:suite"], [DB])


def test_the_second_session_of_a_kind_writes_a_rule():
    found = propose(NOW, [BEFORE])
    assert found is not None
    assert (found.kind, found.match, found.targets) == ("add", ("word:suite",), (DB,))
    assert found.when == "the task mentions `suite`"
    assert found.then == f"read {DB}"


def test_the_first_session_writes_none():
    assert propose(NOW) is None


def test_a_session_that_used_nothing_writes_none():
    assert propose(a_case(2, ["word:suite"]), [BEFORE]) is None


def test_another_lesson_each_time_ties_nothing():
    assert propose(NOW, [a_case(1, ["word:suite"], [LINKS])]) is None


def test_another_feature_each_time_ties_nothing():
    assert propose(NOW, [a_case(1, ["word:docs"], [DB])]) is None


def test_a_feature_that_is_seldom_right_is_not_taken():
    noise = [a_case(n, ["word:suite"]) for n in range(3, 12)]
    others = [a_case(n, ["word:x"]) for n in range(20, 80)]
    assert propose(NOW, [BEFORE, *noise, *others]) is None


def test_a_precision_of_a_fifth_is_enough():
    noise = [a_case(n, ["word:suite"]) for n in range(3, 11)]
    others = [a_case(n, ["word:x"]) for n in range(20, 80)]
    assert propose(NOW, [BEFORE, *noise, *others]) is not None


def test_a_feature_of_more_than_a_quarter_of_all_cases_says_too_little():
    often = [a_case(n, ["word:suite"], [DB]) for n in range(3, 20)]
    assert propose(NOW, [BEFORE, *often]) is None


@pytest.mark.parametrize("offered", [{"delivered": ("r_000001",)}, {"sent": ("r_000001",)}])
@pytest.mark.parametrize("match", [("word:suite",), ()])
def test_a_lesson_that_a_rule_offered_needs_no_rule(offered, match):
    """Where delivery is unknown what was sent counts; a condition in words alone is met."""
    known = {"delivered": None, **offered}
    case = Case("s2", 2, kinds=("word:suite",), used=("testing/db",), **known)
    rule = a_rule(match=match, when="the suite is run")
    assert propose(case, [BEFORE], [rule]) is None


def test_a_delivered_rule_for_other_tasks_offers_nothing_and_is_widened():
    case = Case("s2", 2, kinds=("word:suite",), used=("testing/db",), delivered=("r_000001",))
    found = propose(case, [BEFORE], [a_rule(match=("word:other",))])
    assert (found.kind, found.rule.id) == ("widen-match", "r_000001")
    assert "word:suite" in found.match


def test_of_many_words_one_that_fits_by_chance_is_not_taken():
    """The lesson is as common without the word as with it; a short task may still say so."""
    words = [f"word:w{number}" for number in range(30)]
    past = [
        *(a_case(n, ["word:suite"], [DB] if n < 3 else [LINKS]) for n in range(1, 5)),
        *(a_case(n, [f"word:x{n}"], [DB] if n % 5 == 0 else [LINKS]) for n in range(5, 60)),
    ]
    assert propose(a_case(60, ["word:suite", *words], [DB]), past) is None
    rare = [case for case in past if case.n < 5 or DB[6:-3] not in case.used]
    assert propose(a_case(60, ["word:suite", *words], [DB]), rare) is not None


def test_a_name_in_the_lesson_decides_between_equal_features():
    kinds = ["word:aaa", "word:zz", "command:pytest"]
    found = propose(
        a_case(2, kinds, [DB]), [a_case(1, kinds, [DB])], used=[a_lesson(DB, "About zz")]
    )
    assert found.match == ("word:zz",)


def test_a_word_comes_before_a_command_and_a_command_before_a_folder():
    kinds = ["folder:src/", "command:pytest", "word:x1"]
    found = propose(a_case(2, kinds, [LINKS]), [a_case(1, kinds, [LINKS])])
    assert found.match == ("word:x1",)
    found = propose(a_case(2, kinds[:2], [LINKS]), [a_case(1, kinds[:2], [LINKS])])
    assert found.match == ("command:pytest",)


def test_a_folder_counts_for_the_folders_above_it():
    case, past = (
        a_case(2, ["folder:src/api/"], [DB]),
        [a_case(1, ["folder:src/web/"], [DB])],
    )
    assert propose(case, past).match == ("folder:src/",)


def test_the_same_target_widens_the_match_of_a_rule():
    rule = a_rule(match=("word:other",))
    found = propose(NOW, [BEFORE], [rule])
    assert (found.kind, found.rule) == ("widen-match", rule)
    assert found.match == ("word:other", "word:suite")
    assert found.when == "the task mentions `other` or `suite`"
    assert found.then == rule.then


def test_a_rule_that_applies_already_is_left_alone():
    assert propose(NOW, [BEFORE], [a_rule()]) is None


def test_a_folder_that_holds_the_lesson_is_the_same_target():
    rule = a_rule(match=("word:other",), targets=("nodes/testing/",))
    assert propose(NOW, [BEFORE], [rule]).rule == rule


def test_a_full_match_loses_its_weakest_feature_to_a_clearly_better_one():
    match = tuple(f"word:w{n}" for n in range(6))
    strong = [a_case(n + 10, [f"word:w{n}"], [DB]) for n in range(1, 6)]
    strong += [a_case(n + 20, [f"word:w{n}"], [DB]) for n in range(1, 6)]
    others = [a_case(n, ["word:x"]) for n in range(40, 140)]
    found = propose(NOW, [BEFORE, *strong, *others], [a_rule(match=match)])
    assert found.match == (*match[1:], "word:suite")


def test_a_full_match_of_equally_good_features_stays():
    match = tuple(f"word:w{n}" for n in range(6))
    equal = [a_case(n + 10 * k, [f"word:w{n}"], [DB]) for n in range(6) for k in (1, 2)]
    assert propose(NOW, [BEFORE, *equal], [a_rule(match=match)]) is None


def test_the_same_feature_widens_the_targets_of_a_rule():
    rule = a_rule(targets=(LINKS,))
    found = propose(NOW, [BEFORE], [rule])
    assert (found.kind, found.rule, found.targets) == ("widen-targets", rule, (LINKS, DB))
    assert found.then == f"read {LINKS} and {DB}"
    assert found.match == rule.match


def test_a_rule_has_three_targets_at_most():
    rule = a_rule(targets=(LINKS, "nodes/a.md", "nodes/b.md"))
    assert propose(NOW, [BEFORE], [rule]) is None


def test_where_one_feature_is_taken_the_next_one_serves():
    kinds = ["word:suite", "command:pytest"]
    rule = a_rule(targets=(LINKS, "nodes/a.md", "nodes/b.md"))
    found = propose(a_case(2, kinds, [DB]), [a_case(1, kinds, [DB])], [rule])
    assert (found.kind, found.match) == ("add", ("command:pytest",))


@pytest.mark.parametrize(
    "rule",
    [
        a_rule(origin="manual", when="the suite is run", match=()),
        a_rule(origin="manual"),
        a_rule(origin="reflection", when="the suite is run", match=()),
        a_rule(status="proposed", match=("word:other",)),
        a_rule(status="declined"),
    ],
    ids=["in words", "met", "a model's in words", "proposed", "declined"],
)
def test_a_rule_that_speaks_of_the_lesson_already_stops_a_new_one(rule):
    assert propose(NOW, [BEFORE], [rule]) is None


def test_a_persons_rule_for_another_kind_of_work_does_not_stop_a_new_one():
    found = propose(NOW, [BEFORE], [a_rule(origin="manual", match=("word:other",))])
    assert (found.kind, found.rule) == ("add", None)


@pytest.mark.parametrize(
    "rule",
    [
        a_rule(origin="manual", targets=(LINKS,)),
        a_rule(targets=(LINKS,), then="first skim nodes/docs/links.md"),
        a_rule(targets=(LINKS,), approval="approved"),
    ],
    ids=["manual", "reworded", "approved"],
)
def test_a_persons_words_are_never_changed(rule):
    assert propose(NOW, [BEFORE], [rule]) is None


def test_what_retired_for_want_of_use_may_be_written_again():
    found = propose(NOW, [BEFORE], [a_rule(status="retired")])
    assert (found.kind, found.match) == ("add", ("word:suite",))


def test_what_a_person_deleted_is_not_written_again():
    asked = []

    def forgotten(match, targets):
        asked.append((tuple(match), tuple(targets)))
        return True

    assert propose(NOW, [BEFORE], forgotten=forgotten) is None
    assert asked == [(("word:suite",), (DB,))]


def test_a_skip_rule_offers_nothing():
    assert propose(NOW, [BEFORE], [a_rule(effect="skip", match=("word:x",))]) is not None


def test_a_lesson_that_the_search_puts_first_needs_no_rule():
    ground = offline.Ground((), ("nodes",), lambda _match, _targets: False, {"testing/db"})
    assert offline.propose(NOW, [a_lesson(DB)], Ties([BEFORE]), ground) is None


def test_each_of_two_used_lessons_stands_for_itself():
    found = propose(a_case(2, ["word:suite"], [DB, FIXTURES]), [BEFORE])
    assert (found.targets, [lesson.path for lesson in found.lessons]) == ((DB,), [DB])


def test_a_new_rule_takes_the_other_features_that_would_have_led_to_the_lesson():
    past = [BEFORE, a_case(3, ["word:postgres"], [DB]), a_case(4, ["word:postgres"], [DB])]
    assert propose(NOW, past).match == ("word:suite", "word:postgres")


def test_a_feature_that_leads_nowhere_new_is_left_out():
    past = [a_case(n, ["word:suite", "word:slow"], [DB]) for n in (1, 3)]
    assert propose(NOW, past).match == ("word:suite",)


def test_a_feature_that_would_mislead_more_than_it_leads_is_left_out():
    rare = [a_case(n, ["word:db"], [DB]) for n in (3, 4)]
    noise = [a_case(n, ["word:db"], [LINKS]) for n in range(10, 16)]
    others = [a_case(n, ["word:x"]) for n in range(20, 140)]
    assert "word:db" in propose(NOW, [BEFORE, *rare, *noise, *others]).match
    noise += [a_case(18, ["word:db"], [LINKS])]
    assert propose(NOW, [BEFORE, *rare, *noise, *others]).match == ("word:suite",)


def test_a_lesson_joins_a_rule_whose_condition_mostly_holds_for_it():
    rule = a_rule(match=("word:suite", "word:ci"), targets=(LINKS,))
    found = propose(NOW, [BEFORE, a_case(3, ["word:ci"], [LINKS])], [rule])
    assert (found.kind, found.targets, found.match) == ("widen-targets", (LINKS, DB), rule.match)
    elsewhere = [a_case(n, ["word:ci"], [LINKS]) for n in range(3, 8)]
    assert propose(NOW, [BEFORE, *elsewhere], [rule]).kind == "add"


def test_ties_that_are_added_up_case_by_case_propose_the_same():
    past = [BEFORE, a_case(3, ["word:postgres"], [DB]), a_case(4, ["word:postgres"], [DB])]
    ties = Ties()
    for case in past:
        ties.add(case)
    ground = offline.Ground((), ("nodes",), lambda _match, _targets: False)
    assert offline.propose(NOW, [a_lesson(DB)], ties, ground) == propose(NOW, past)


def test_two_lessons_of_the_root_do_not_stand_for_all_lessons():
    paths = ["nodes/a.md", "nodes/b.md"]
    found = propose(a_case(2, ["word:suite"], paths), [a_case(1, ["word:suite"], paths)])
    assert found.targets == ("nodes/a.md",)


@pytest.mark.parametrize("path", ["nodes/my notes.md", "nodes/what*.md"])
def test_a_path_that_cannot_be_a_target_is_left_out(path):
    assert propose(a_case(2, ["word:suite"], [path]), [a_case(1, ["word:suite"], [path])]) is None


@pytest.mark.parametrize(
    ("targets", "then"),
    [
        (("a",), "read a"),
        (("a", "b"), "read a and b"),
        (("a", "b", "c"), "read a, b and c"),
    ],
)
def test_the_wording_of_targets(targets, then):
    assert offline.then_of(targets) == then


KINDS = st.lists(st.sampled_from([f"word:w{n}" for n in range(8)]), max_size=4, unique=True)
USED = st.lists(st.sampled_from([DB, FIXTURES, LINKS]), max_size=2, unique=True)
CASES = st.lists(st.tuples(KINDS, USED), min_size=1, max_size=14)


@given(CASES, st.randoms())
def test_the_order_of_the_past_does_not_matter(drawn, random):
    cases = [a_case(n, kinds, used) for n, (kinds, used) in enumerate(drawn, 1)]
    *past, now = cases
    mixed = list(past)
    random.shuffle(mixed)
    assert propose(now, past) == propose(now, mixed)


@given(CASES)
def test_a_new_rule_rests_on_two_cases_of_its_feature_and_lesson(drawn):
    cases = [a_case(n, kinds, used) for n, (kinds, used) in enumerate(drawn, 1)]
    *past, now = cases
    found = propose(now, past)
    if found is not None:
        ids = {lesson.id for lesson in found.lessons}
        tied = [c for c in cases if found.feature in c.kinds and ids.intersection(c.used)]
        assert len(tied) >= 2
        assert found.feature in now.kinds
