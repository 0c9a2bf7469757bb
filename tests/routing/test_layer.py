from __future__ import annotations

import pytest

from rose.routing import layer
from rose.routing.layer import Entry, Heading
from tests.routing.samples import length_cap

HEADING = Heading(("title", "store"), "home")
# The heading costs 6 + 6, a line of nine characters 10, the last line 9.
TEXT = "- When xx"


def _entries(count: int, seen: int = 3, text: str = TEXT) -> list[Entry]:
    return [Entry(f"r_{number:06x}", text, seen) for number in range(count, 0, -1)]


def _ids(entries) -> list[str]:
    return [entry.id for entry in entries]


def test_the_block_is_a_heading_and_one_line_a_rule_in_order_of_id():
    entries = [Entry("r_00000b", "- When b: x"), Entry("r_00000a", "- When a: y")]
    assert layer.render(HEADING, entries) == "title\nstore\n- When a: y\n- When b: x"


def test_without_rules_there_is_no_block():
    assert layer.render(HEADING, []) == ""
    fit = layer.fit([], HEADING, length_cap(800))
    assert (fit.kept, fit.tokens) == ((), 0)


def test_the_home_line_stands_above_a_home_rule_only():
    project, home = Entry("r_00000a", "a"), Entry("r_00000b", "b", is_home=True)
    assert "home" not in layer.render(HEADING, [project])
    assert layer.render(HEADING, [project, home]) == "title\nstore\nhome\na\nb"


@pytest.mark.parametrize(("max_tokens", "kept"), [(60, 4), (61, 5), (70, 5), (71, 6)])
def test_the_cap_covers_the_heading_and_no_line_feed_at_the_end(max_tokens, kept):
    fit = layer.fit(_entries(9), HEADING, length_cap(max_tokens))
    assert len(fit.kept) == kept
    assert fit.tokens == len(layer.render(HEADING, fit.kept)) <= max_tokens


def test_the_worst_records_fall_out_first():
    ranked = _entries(9)
    fit = layer.fit(ranked, HEADING, length_cap(61))
    assert set(_ids(fit.kept)) == set(_ids(ranked[:5]))
    assert _ids(fit.kept) == sorted(_ids(fit.kept))
    assert fit.waiting == dict.fromkeys(_ids(ranked[5:]), layer.OVER_CAP)


def test_a_long_rule_with_a_better_record_is_not_passed_over_for_a_short_one():
    ranked = [*_entries(5), Entry("r_0000ff", "- When xxxx", 3), Entry("r_0000fe", "- W", 3)]
    fit = layer.fit(ranked, HEADING, length_cap(69))
    assert len(fit.kept) == 5
    assert fit.waiting == {"r_0000ff": layer.OVER_CAP, "r_0000fe": layer.OVER_CAP}


def test_a_rule_larger_than_a_quarter_of_the_cap_is_left_out_and_the_next_one_kept():
    ranked = [Entry("r_0000ff", "x" * 25, 3), *_entries(2)]
    fit = layer.fit(ranked, HEADING, length_cap(100))
    assert len(fit.kept) == 2
    assert fit.waiting == {"r_0000ff": layer.OVERSIZED}


def test_newcomers_take_at_most_a_quarter_while_proven_rules_wait():
    newcomers = [Entry(f"r_{number:06x}", TEXT, 2) for number in range(0x100, 0x120)]
    ranked = [*newcomers, *_entries(20)]
    fit = layer.fit(ranked, HEADING, length_cap(120))
    assert sum(entry.seen < 3 for entry in fit.kept) == 3
    assert sum(entry.seen >= 3 for entry in fit.kept) == 7
    assert set(fit.waiting.values()) == {layer.NEWCOMERS, layer.OVER_CAP}


def test_newcomers_fill_what_proven_rules_leave():
    newcomers = [Entry(f"r_{number:06x}", TEXT, 0) for number in range(0x100, 0x120)]
    fit = layer.fit([*newcomers, *_entries(2)], HEADING, length_cap(120))
    assert len(fit.kept) == 10
    assert sum(entry.seen >= 3 for entry in fit.kept) == 2
    assert set(fit.waiting.values()) == {layer.OVER_CAP}


def test_where_all_fit_newcomers_are_not_held_back():
    newcomers = [Entry(f"r_{number:06x}", TEXT, 0) for number in range(8)]
    fit = layer.fit(newcomers, HEADING, length_cap(120))
    assert len(fit.kept) == 8


def test_the_block_stays_below_what_hosts_cut():
    """A hook's text is cut above 10,000 characters, whatever the cap in tokens says."""
    ranked = _entries(400, text="- When " + "x" * 93)
    fit = layer.fit(ranked, HEADING, length_cap(100_000))
    assert 9_300 < len(layer.render(HEADING, fit.kept).encode()) <= 9_500


def test_the_encoded_block_stays_below_it_too():
    ranked = _entries(400, text="- When " + "\U0001f680" * 40)
    fit = layer.fit(ranked, HEADING, length_cap(100_000))
    assert 9_000 < len(layer.json.dumps(layer.render(HEADING, fit.kept))) <= 9_700


def test_the_home_line_is_paid_for_with_its_first_rule():
    home = [Entry(f"r_{number:06x}", TEXT, 3, is_home=True) for number in range(3)]
    assert len(layer.fit(home, HEADING, length_cap(45)).kept) == 2
    assert len(layer.fit(home, HEADING, length_cap(46)).kept) == 3


def test_a_cap_below_the_heading_leaves_nothing():
    fit = layer.fit(_entries(3, text="-"), HEADING, length_cap(12))
    assert fit.kept == ()
    assert set(fit.waiting.values()) == {layer.OVER_CAP}


def test_the_store_line_names_root_lessons_and_index_on_one_line():
    made = layer.store_line("Store", "/p\n/x", ("nodes", "docs"), ".rose/index.md")
    assert made == "Store: /p /x (lessons in nodes/, docs/, one line each in .rose/index.md)"
