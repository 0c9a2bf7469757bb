from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from rose import files
from rose.check import accept
from rose.check.checks import Context, Draft
from rose.errors import Unwritable
from rose.findings import Refused
from rose.routing import features, ledger, table, targets
from rose.routing.rules import Evidence
from tests.factories import a_ledger_line
from tests.routing.samples import a_rule, a_store, put, regions, tree, write

NOW = {"created": "2026-11-30T09:12:44Z"}


def _context(store, **fields) -> Context:
    given = {
        "rules": table.read(store, ("nodes",)).rules,
        "roots": ("nodes",),
        "has_lesson": lambda path: targets.first_match(path, ["nodes/testing/db.md"]) is not None,
        "max_tokens": 800,
        "cost": len,
    }
    return Context(**{**given, **fields})


def _teach(store, when="When the tests run.", then="read nodes/testing/.", **fields):
    return accept.accept_rule(store, Draft(when, then, **fields), _context(store), **NOW)


def test_an_accepted_rule_is_on_disk_as_it_is_returned(tmp_path):
    store = a_store(tmp_path)
    a_ledger_line(store, lambda _: {"v": 1, "session": "s"})
    taught = _teach(store, note="Why.\n", match=("command:pytest",)).rule
    assert table.read(store, ("nodes",)).rules == (taught,)
    assert (taught.when, taught.then) == ("the tests run", "read nodes/testing/")
    assert (taught.targets, taught.born) == (("nodes/testing/",), 1)
    assert (taught.origin, taught.status, taught.approval) == ("manual", "active", None)


def test_warnings_come_back_with_the_rule(tmp_path):
    accepted = _teach(a_store(tmp_path), then="read nodes/gone.md")
    assert [finding.rule for finding in accepted.warnings] == ["no-target"]


@pytest.mark.parametrize(
    "fields", [{"when": "always"}, {"then": ""}, {"origin": "reflection"}, {"replaces": "r_0000ff"}]
)
def test_a_refusal_changes_nothing_on_disk(tmp_path, fields):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    table.read(store, ("nodes",))
    write(store.lock, "")
    before = tree(store.dot)
    with pytest.raises(Refused) as refused:
        _teach(store, **fields)
    assert refused.value.findings
    assert {k: v for k, v in tree(store.dot).items() if "rules.json" not in k} == {
        k: v for k, v in before.items() if "rules.json" not in k
    }


def test_a_rule_that_was_taught_meanwhile_is_found_at_acceptance(tmp_path):
    store = a_store(tmp_path)
    stale = _context(store)
    put(store, a_rule("r_0000aa", when="the tests run"))
    draft = Draft("the tests run", "read nodes/testing/")
    with pytest.raises(Refused) as refused:
        accept.accept_rule(store, draft, stale, **NOW)
    (finding,) = refused.value.findings
    assert finding.rule == "restates"
    assert finding.message.startswith("[acceptance] ")


def test_of_many_who_teach_one_condition_at_once_one_succeeds(tmp_path):
    store = a_store(tmp_path)
    context = _context(store)

    def teach(_):
        try:
            draft = Draft("the tests run", "read nodes/testing/")
            return accept.accept_rule(store, draft, context, **NOW)
        except Refused:
            return None

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(teach, range(16)))
    assert sum(result is not None for result in results) == 1
    assert len(table.read(store, ("nodes",)).rules) == 1


def test_what_is_recorded_while_the_lock_is_waited_for_does_not_count_for_the_rule(tmp_path):
    store = a_store(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        with files.lock(store.lock):
            taught = pool.submit(_teach, store)
            ledger.append_locked(store, "local", lambda _: {"v": 1, "session": "s"})
        assert taught.result().rule.born == 1


def test_a_reworded_rule_keeps_its_id_and_what_a_person_wrote(tmp_path):
    store = a_store(tmp_path)
    write(
        f"{store.routing}/r_0000aa.md",
        "---\nwhen: old\nthen: read nodes/testing/\ncolour: red\nborn: 2\n---\nMine.\n",
    )
    a_ledger_line(store, lambda _: {"v": 1, "session": "s"})
    taught = _teach(store, when="docs", replaces="r_0000aa").rule
    assert (taught.id, taught.when, taught.born) == ("r_0000aa", "docs", 1)
    assert taught.note == "Mine.\n"
    with open(taught.path, encoding="utf-8") as file:
        assert "colour: red" in file.read()


def test_a_record_goes_on_when_only_the_targets_are_widened(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa", when="old", born=2))
    then = "read nodes/testing/ and nodes/deploy/"
    taught = _teach(store, when="Old", then=then, replaces="r_0000aa").rule
    assert (taught.born, taught.targets) == (2, ("nodes/testing/", "nodes/deploy/"))


@pytest.mark.parametrize(
    ("old", "new", "born"),
    [
        (("word:a",), ("word:a", "word:b"), 2),
        (("word:a", "word:b"), ("word:a",), 2),
        (("word:a",), ("word:b",), 1),
    ],
)
def test_a_condition_that_only_its_match_says_goes_on_with_its_record(tmp_path, old, new, born):
    """The record is replayed with the match, unless nothing is left of what it was."""
    store = a_store(tmp_path)
    a_ledger_line(store, lambda _: {"v": 1, "session": "s"})
    path = "nodes/testing/"
    quote = Evidence("s", "tests")
    standing = {"targets": (path,), "evidence": (quote,), "origin": "reflection"}
    when = features.when_from_match(old)
    put(store, a_rule("r_0000aa", when=when, match=old, born=2, **standing))
    given = {"match": new, "origin": "reflection", "evidence": (quote,), "replaces": "r_0000aa"}
    draft = Draft("", f"read {path}", **given)
    context = _context(store, regions={"s": regions("tests")})
    taught = accept.accept_rule(store, draft, context, **NOW).rule
    assert (taught.match, taught.born) == (new, born)


def test_earlier_evidence_stays_valid_when_a_rule_is_widened(tmp_path):
    store = a_store(tmp_path)
    old = Evidence("gone", "an old quote")
    put(store, a_rule("r_0000aa", origin="reflection", evidence=(old,)))
    new = Evidence("s", "seen now")
    draft = Draft(
        "tests",
        "read nodes/testing/",
        origin="reflection",
        evidence=(old, new),
        replaces="r_0000aa",
    )
    context = _context(store, regions={"s": regions("seen now")})
    assert accept.accept_rule(store, draft, context, **NOW).rule.evidence == (old, new)


def test_a_disk_that_refuses_leaves_no_rule(tmp_path):
    store = a_store(tmp_path)
    os.rmdir(store.routing)
    write(store.routing, "a file in place of the folder")
    with pytest.raises(Unwritable):
        _teach(store)


def test_a_merge_leaves_one_rule_and_retires_the_others(tmp_path):
    store = a_store(tmp_path)
    old = Evidence("gone", "an old quote")
    put(
        store,
        a_rule("r_0000aa", origin="reflection"),
        a_rule("r_0000bb", origin="reflection", evidence=(old,)),
    )
    draft = Draft(
        "tests",
        "read nodes/testing/ and nodes/testing/db.md",
        origin="reflection",
        evidence=(old, Evidence("", "seen now")),
        replaces="r_0000aa",
        merges=("r_0000bb",),
    )
    context = _context(store, regions={"s": regions("seen now")})
    kept = accept.accept_rule(store, draft, context, **NOW).rule
    assert (kept.id, kept.status) == ("r_0000aa", "active")
    # A quote that names no session is of the one at hand.
    assert kept.evidence == (old, Evidence("s", "seen now"))
    states = {rule.id: rule.status for rule in table.read(store, ("nodes",)).rules}
    assert states == {"r_0000aa": "active", "r_0000bb": "retired"}


def test_a_merge_with_a_rule_that_is_gone_changes_nothing(tmp_path):
    store = a_store(tmp_path)
    put(store, a_rule("r_0000aa"))
    with pytest.raises(Refused) as refused:
        _teach(store, replaces="r_0000aa", merges=("r_0000bb",))
    assert [finding.rule for finding in refused.value.findings] == ["incumbent-missing"]
    assert table.read(store, ("nodes",)).rules[0].when != "the tests run"
