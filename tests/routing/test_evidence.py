from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rose.routing import evidence
from rose.routing.cases import fold
from rose.routing.evidence import Credit, Standing
from tests.routing.samples import a_case, a_rule, contribution, ledger_lines

ID = "r_000001"
MATCHED = a_rule(ID, match=("command:pytest",))
SKIP = a_rule(ID, match=("command:pytest",), effect="skip")
PLAIN = a_rule(ID)


def _path(lesson: str) -> str:
    return f"nodes/{lesson}.md"


def _said(rule, **fields):
    case = a_case(5, **fields)
    credit = contribution(rule, case, _path)
    found = evidence.standings([rule], [case], _path)[rule.id]
    given = credit or Credit()
    assert (found.helped, found.wasted, found.seen) == (
        given.helped,
        given.wasted,
        int(credit is not None),
    )
    return credit


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("followed-useful", Credit(1, 0, is_live=True)),
        ("followed-useless", Credit(0, 1, is_live=True)),
        ("misled", Credit(0, 2, is_live=True)),
        ("ignored", Credit()),
        ("not-applicable", Credit()),
        ("something new", Credit()),
    ],
)
@pytest.mark.parametrize("rule", [MATCHED, SKIP, PLAIN])
def test_a_verdict_is_what_counts(rule, verdict, expected):
    fields = {"kinds": ("command:pytest",), "used": ("testing/db",), "delivered": (ID,)}
    assert _said(rule, verdicts={ID: verdict}, **fields) == expected


@pytest.mark.parametrize("delivered", [None, (), (ID,)])
@pytest.mark.parametrize("verdicts", [{}, {ID: "unknown"}])
@pytest.mark.parametrize(
    ("used", "expected"),
    [(("testing/db", "x"), Credit(1, 0)), (("x",), Credit(0, 1)), ((), Credit())],
)
def test_without_a_verdict_what_a_match_claims_is_replayed(delivered, verdicts, used, expected):
    fields = {"kinds": ("command:pytest",), "used": used, "verdicts": verdicts}
    assert _said(MATCHED, delivered=delivered, **fields) == expected


@pytest.mark.parametrize("rule", [MATCHED, SKIP, PLAIN])
def test_a_delivered_rule_that_nothing_speaks_about_was_seen(rule):
    assert _said(rule, delivered=(ID,), kinds=("word:docs",), used=("testing/db",)) == Credit()


@pytest.mark.parametrize("delivered", [None, ()])
@pytest.mark.parametrize("rule", [SKIP, PLAIN])
def test_what_was_not_delivered_and_has_no_claim_to_replay_says_nothing(rule, delivered):
    fields = {"kinds": ("command:pytest",), "used": ("testing/db",)}
    assert _said(rule, delivered=delivered, **fields) is None


def test_a_record_starts_when_the_rule_was_born():
    rule = a_rule(ID, born=5, match=("command:pytest",))
    fields = {"kinds": ("command:pytest",), "delivered": (ID,), "sent": (ID,)}
    assert _said(rule, verdicts={ID: "followed-useful"}, **fields) is None
    assert evidence.standings([rule], [a_case(5, **fields)], _path)[ID].delivered == 0


@pytest.mark.parametrize(
    ("target", "lesson"),
    [
        ("nodes/testing/", "testing/deep/db"),
        ("nodes/testing/db.md", "testing/db"),
        ("nodes/**/db.md", "a/b/db"),
        ("nodes", "x"),
    ],
)
def test_a_target_may_be_a_file_a_folder_or_a_glob(target, lesson):
    rule = a_rule(ID, match=("folder:tests/",), targets=("nodes/other.md", target))
    assert _said(rule, kinds=("folder:tests/integration/",), used=(lesson,)) == Credit(1, 0)


def test_live_and_replayed_credit_are_kept_apart():
    fields = {"kinds": ("command:pytest",), "used": ("testing/db",), "sent": (ID,)}
    cases = [
        a_case(1, delivered=(ID,), verdicts={ID: "followed-useful"}, **fields),
        a_case(2, delivered=(ID,), verdicts={ID: "misled"}, **fields),
        a_case(3, kinds=("command:pytest",), used=("testing/db",)),
        a_case(4, sent=("r_00000b",)),
        a_case(5, sent=("r_00000b",)),
    ]
    assert evidence.standings([MATCHED], cases, _path)[ID] == Standing(
        helped=2,
        wasted=2,
        seen=3,
        live_helped=1,
        live_wasted=2,
        verdicts=2,
        delivered=2,
        unchosen=2,
    )


def test_a_session_that_was_sent_nothing_does_not_count_as_unchosen():
    cases = [a_case(n, sent=()) for n in range(1, 200)]
    assert evidence.standings([PLAIN], cases, _path)[ID].unchosen == 0


def test_a_session_counts_once_however_often_it_names_a_rule():
    case = a_case(1, delivered=(ID, ID), sent=(ID, ID), kinds=("command:pytest",) * 3)
    found = evidence.standings([MATCHED], [case], _path)[ID]
    assert (found.seen, found.delivered) == (1, 1)


@given(st.lists(ledger_lines(), max_size=12), st.integers(0, 12))
def test_a_rule_taken_late_and_credited_afterwards_stands_as_if_it_had_been_there(lines, cut):
    cases = fold(lines).cases
    rule = a_rule("r_00000a", born=2, match=("word:docs", "folder:a/"), targets=("nodes/b/",))
    tally = evidence.Tally(_path)
    for case in cases[:cut]:
        tally.add(case)
    tally.take(rule)
    for case in cases[:cut]:
        tally.credit(rule.id, case)
    for case in cases[cut:]:
        tally.add(case)
    assert tally.standing(rule.id) == evidence.standings([rule], cases, _path)[rule.id]


def test_a_dropped_rule_is_forgotten_and_a_reworded_one_keeps_its_record():
    tally = evidence.Tally(_path)
    tally.take(MATCHED)
    tally.add(a_case(1, kinds=("command:pytest",), used=("testing/db",)))
    tally.reword(a_rule(ID, match=("command:pytest",), targets=("nodes/other.md",)))
    tally.add(a_case(2, kinds=("command:pytest",), used=("testing/db",)))
    assert (tally.standing(ID).helped, tally.standing(ID).wasted) == (1, 1)
    tally.drop(ID)
    tally.take(MATCHED)
    assert tally.standing(ID) == Standing()


def test_precision_is_smoothed():
    assert evidence.precision(Standing()) == 0.25
    assert evidence.precision(Standing(helped=8, wasted=0)) == 0.85
