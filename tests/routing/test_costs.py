from __future__ import annotations

from rose import tokens
from rose.routing.costs import Costs
from tests.routing.samples import write

LINES = ["- When a: read nodes/a.md", "- When b: (see `x`)", ""]


def test_a_line_costs_its_tokens_with_and_without_the_line_feed(tmp_path):
    costs = Costs(str(tmp_path / "tokens.json"), exact=True)
    costs.count(LINES)
    assert costs.feed == {line: tokens.count(line + "\n") for line in LINES[:2]}
    assert costs.bare == {line: tokens.count(line) for line in LINES[:2]}
    assert costs.counter == tokens.EXACT


def test_what_was_counted_once_is_known_without_the_vocabulary(tmp_path):
    path = str(tmp_path / "tokens.json")
    first = Costs(path, exact=True)
    first.count(LINES)
    first.save()
    again = Costs(path, exact=False)
    again.count([*LINES, "new"])
    assert again.feed == {**first.feed, "new": 4}
    assert (again.counter, again.estimated) == (tokens.BYTES, {"new"})
    assert again.reason


def test_a_disk_that_refuses_is_no_fault(tmp_path):
    write(str(tmp_path / "local"), "a file in place of the folder")
    costs = Costs(str(tmp_path / "local" / "tokens.json"), exact=False)
    costs.count(LINES)
    costs.save()
