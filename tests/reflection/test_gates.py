"""Where a used lesson fell for which the record proposed nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.reflection import gates, offline
from rose.reflection.gates import Gate
from rose.reflection.ties import Ties
from rose.routing.cases import Case
from tests.reflection.worded import DB, a_lesson, a_rule, name_of

LINKS = "nodes/docs/links.md"
SPACED = "nodes/my notes.md"


def a_case(n, kinds=("word:suite",), used=(DB,), **fields):
    known = {"delivered": (), **fields}
    return Case(f"s{n}", n, kinds=tuple(kinds), used=tuple(map(name_of, used)), **known)


def never(_match, _targets):
    return False


def a_ground(rules=(), found=(), forgotten=never):
    return offline.Ground(rules, ("nodes",), forgotten, frozenset(found))


def fell(case, past, ground):
    """Return the gates of a case for which nothing is proposed."""
    used = [a_lesson(f"nodes/{name}.md") for name in case.used]
    ties = Ties(past)
    assert offline.propose(case, used, ties, ground) is None
    return gates.gates(case, used, ties, ground)


NOW = a_case(2)
BEFORE = a_case(1)


@pytest.mark.parametrize(
    ("past", "ground", "name", "rule"),
    [
        ([], a_ground(), "once", ""),
        ([BEFORE], a_ground(found=["testing/db"]), "found", ""),
        ([], a_ground(found=["testing/db"]), "found", ""),
        ([a_case(1, ["word:docs"])], a_ground(), "apart", ""),
        ([a_case(n) for n in range(3, 20)], a_ground(), "loose", ""),
        (
            [BEFORE, *(a_case(n, used=()) for n in range(3, 12))],
            a_ground(),
            "loose",
            "",
        ),
        ([BEFORE], a_ground(forgotten=lambda _match, _targets: True), "turned-down", ""),
        ([BEFORE], a_ground([a_rule(status="declined")]), "turned-down", ""),
        ([BEFORE], a_ground([a_rule()]), "standing", "r_000001"),
        ([BEFORE], a_ground([a_rule(match=("word:x",), status="proposed")]), "waiting", "r_000001"),
        (
            [BEFORE],
            a_ground([a_rule(targets=(LINKS,), origin="manual")]),
            "taken",
            "",
        ),
    ],
)
def test_a_lesson_falls_at_the_first_gate_that_does_not_let_it_through(past, ground, name, rule):
    assert fell(NOW, past, ground) == (Gate("testing/db", name, rule),)


def test_a_lesson_that_a_delivered_rule_led_to_was_offered():
    case = a_case(2, delivered=("r_000001",))
    ground = a_ground([a_rule()], found=["testing/db"])
    assert fell(case, [BEFORE], ground) == (Gate("testing/db", "offered", "r_000001"),)


def test_what_fits_by_chance_is_said_to():
    words = ["word:suite", *(f"word:w{number}" for number in range(30))]
    past = [
        *(a_case(n, used=[DB] if n < 3 else [LINKS]) for n in range(1, 5)),
        *(a_case(n, [f"word:x{n}"], [DB] if n % 5 == 0 else [LINKS]) for n in range(5, 60)),
    ]
    assert fell(a_case(60, words), past, a_ground())[0].name == "chance"


def test_a_full_match_that_is_as_good_is_the_best_already():
    match = tuple(f"word:w{n}" for n in range(6))
    equal = [a_case(n + 10 * k, [f"word:w{n}"]) for n in range(6) for k in (1, 2)]
    others = [a_case(n, ["word:x"], used=()) for n in range(40, 400)]
    found = fell(NOW, [BEFORE, *equal, *others], a_ground([a_rule(match=match)]))
    assert found == (Gate("testing/db", "best", "r_000001"),)


def test_the_rule_that_was_weighed_is_named_and_not_a_rule_of_a_person():
    match = tuple(f"word:w{n}" for n in range(6))
    equal = [a_case(n + 10 * k, [f"word:w{n}"]) for n in range(6) for k in (1, 2)]
    others = [a_case(n, ["word:x"], used=()) for n in range(40, 400)]
    theirs = a_rule(match=("word:x",), origin="manual")
    ground = a_ground([theirs, a_rule(id="r_000002", match=match)])
    assert fell(NOW, [BEFORE, *equal, *others], ground) == (Gate("testing/db", "best", "r_000002"),)


def test_a_better_condition_that_another_rule_has_is_said_to_be_taken():
    ours = a_rule(match=("word:x",))
    wider = a_rule(id="r_000002", match=("word:x", "word:suite"), targets=(LINKS,))
    assert offline.propose(NOW, [a_lesson(DB)], Ties([BEFORE]), a_ground([ours])) is not None
    assert fell(NOW, [BEFORE], a_ground([ours, wider])) == (Gate("testing/db", "taken"),)


def test_a_lesson_whose_path_is_no_target_cannot_be_named():
    assert fell(a_case(2, used=[SPACED]), [a_case(1, used=[SPACED])], a_ground()) == (
        Gate("my notes", "unnamed"),
    )


def test_each_used_lesson_has_its_own_gate():
    case = a_case(2, used=[DB, LINKS])
    found = fell(case, [BEFORE], a_ground(found=["testing/db"]))
    assert found == (Gate("testing/db", "found"), Gate("docs/links", "once"))


@pytest.mark.parametrize("gate", [Gate("a", "found"), Gate("a", "standing", "r_000001")])
def test_a_gate_is_read_back_as_it_was_written(gate):
    assert gates.from_json(gate.as_json()) == gate


@pytest.mark.parametrize(
    "line",
    [{}, {"lesson": "a", "gate": "found", "rule": 1}, {"lesson": "a", "gate": "x", "rule": ""}],
)
def test_anything_else_in_the_log_is_no_gate(line):
    assert gates.from_json(line) is None


KINDS = st.lists(st.sampled_from([f"word:w{n}" for n in range(4)]), max_size=3, unique=True)
USED = st.lists(st.sampled_from([DB, LINKS]), max_size=2, unique=True)
CASES = st.lists(st.tuples(KINDS, USED), min_size=1, max_size=10)
TARGETS = st.sampled_from([(DB,), (LINKS,), ("nodes/testing/",)])
RULES = st.builds(
    lambda number, kinds, targets, status, origin: a_rule(
        id=f"r_{number:06x}", match=tuple(kinds), targets=targets, status=status, origin=origin
    ),
    st.integers(0, 99),
    KINDS,
    TARGETS,
    st.sampled_from(["active", "proposed", "declined"]),
    st.sampled_from(["manual", "reflection"]),
)


@given(CASES, st.lists(RULES, max_size=3), st.sets(st.sampled_from(["testing/db", "docs/links"])))
def test_a_lesson_is_said_to_be_found_or_offered_exactly_where_that_is_so(drawn, rules, found):
    cases = [a_case(n, kinds, used) for n, (kinds, used) in enumerate(drawn)]
    ground = a_ground(rules, found)
    case = cases.pop()
    used = [a_lesson(f"nodes/{name}.md") for name in case.used]
    told = gates.gates(case, used, Ties(cases), ground)
    assert [gate.lesson for gate in told] == list(case.used)
    assert {gate.lesson for gate in told if gate.name == "found"} == found.intersection(case.used)
    known = {rule.id for rule in rules}
    assert all(gate.rule in known for gate in told if gate.rule)
