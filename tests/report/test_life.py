"""A rule's life, as far as the pieces go that the command does not show (tests/cli)."""

from __future__ import annotations

import os

import pytest

from rose import files, layout
from rose.errors import RoseError
from rose.reflection import journal
from rose.report import life, sources
from tests import factories

AT = "2026-11-30T12:00:00Z"
RULE = "r_0000aa"


@pytest.fixture
def store(tmp_path):
    return factories.a_store(tmp_path)


def read(*stores: layout.Store) -> sources.Sources:
    project, home = (*stores, None)[:2]
    return sources.read(layout.Stores(project, home, "test"))


def test_an_id_that_only_the_log_knows_has_a_life(store):
    journal.decided(store, "forget", [RULE], AT)
    assert [event.what for event in life.of_rule(read(store), "00aa").happened] == ["forgotten"]


def test_a_part_that_names_two_rules_is_refused_with_both(store):
    for rule in ("r_00aa11", "r_00aa22"):
        factories.a_rule_file(store, id=rule)
    with pytest.raises(RoseError, match="r_00aa11, r_00aa22"):
        life.of_rule(read(store), "00aa")


def test_a_rule_of_the_home_store_is_told_from_its_own_log_and_ledger(store, tmp_path):
    home = layout.Store(str(tmp_path / "home-rose"), str(tmp_path / "home-rose"), "home")
    factories.a_rule_file(home, id=RULE)
    journal.decided(home, "approve", [RULE], AT)
    journal.decided(store, "decline", [RULE], AT)
    line = {"v": 1, "session": "s", "kinds": [], "delivered": [RULE], "rules": {}}
    factories.a_ledger_line(home, lambda _: line)
    found = life.of_rule(read(store, home), RULE)
    assert [event.what for event in found.happened] == ["written", "approved"]
    assert [event.session for event in found.sessions] == ["s"]


def test_what_speaks_of_a_rule_before_its_record_began_is_marked(store):
    factories.a_rule_file(store, id=RULE, born="1")
    for number in range(2):
        verdict = {"rules": {RULE: "ignored"}, "judged": {"used": [], "rules": [RULE]}}
        line = {"v": 1, "session": f"s{number}", "kinds": [], "delivered": [RULE], **verdict}
        factories.a_ledger_line(store, lambda _, line=line: line)
    found = life.of_rule(read(store), RULE).sessions
    assert [event.detail for event in found] == [
        "by a model's word, before its record begins",
        "by a model's word",
    ]


def test_a_log_that_cannot_be_read_hides_no_other_source(store):
    os.makedirs(store.trace)
    files.replace(os.path.join(store.rejections, f"{RULE}.md"), f"---\nat: {AT}\n---\n")
    found = life.of_rule(read(store), RULE)
    assert [(event.what, event.at) for event in found.happened] == [("forgotten", AT)]
    assert [event.rule for event in life.latest(read(store))[0]] == [RULE]
