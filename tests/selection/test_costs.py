"""Counting by parts: exact, remembered, and without the vocabulary where all parts are known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import tokens
from rose.selection import pack
from rose.selection.costs import MOST, Costs
from rose.selection.pack import Budget, Pack

BLOCK = f"{pack.TITLE}\nStore: /repo\n- nodes/one.md, whole:\n> # One/\n> Use `make db` {{"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "words.json")


@given(st.text(), st.sampled_from([40, 400, 4_000]))
@settings(max_examples=500, deadline=None)
def test_what_the_parts_of_a_block_cost_adds_up(body, most):
    costs = Costs("/nowhere/words.json")
    made = Pack("/repo", Budget(most), ["needle"], "bodies", costs.of)
    for name in ("one", "two"):
        made.take(pack.piece(name, "v1", place=name, title="One", gist="", body=body))
    made.widen()
    assert made.tokens == tokens.count(made.text())


def test_what_was_counted_once_needs_no_vocabulary_again(path, monkeypatch):
    first = Costs(path)
    counted = first.of(BLOCK)
    first.save()

    # Whoever loads it fails.
    monkeypatch.setattr(tokens, "_vocabulary", None)
    again = Costs(path)
    assert again.of(BLOCK) == counted
    assert again.counter == tokens.EXACT


def test_another_part_of_a_text_that_was_expected_needs_none_either(path, monkeypatch):
    costs = Costs(path)
    costs.expect("> The needle isn't in README.md, it's below `src/` since 2026.")
    costs.of(BLOCK)
    costs.save()
    monkeypatch.setattr(tokens, "_vocabulary", None)
    assert Costs(path).of("> The needle isn't in README.md") > 0


def test_where_it_is_not_exact_bytes_are_charged_and_nothing_is_remembered(path):
    costs = Costs(path, exact=False)
    assert costs.of(BLOCK) == len(BLOCK.encode())
    assert costs.counter == tokens.BYTES
    costs.save()
    assert Costs(path)._known == {}


def test_a_line_without_vocabulary_is_charged_by_its_bytes_and_said(path, monkeypatch):
    monkeypatch.setattr(tokens, "PACKED", "/nowhere")
    costs = Costs(path)
    assert costs.of(BLOCK) == len(BLOCK.encode())
    assert costs.counter == tokens.BYTES
    costs.save()
    assert Costs(path)._known == {}


def test_it_does_not_grow_without_end(path):
    costs = Costs(path)
    costs.of("\n".join(f"> {chr(0x4E00 + number)}" for number in range(MOST)))
    costs.save()
    more = Costs(path)
    more.of("> another\n> one")
    more.save()
    assert 0 < len(Costs(path)._known) < 9


@pytest.mark.parametrize("content", ["", "[]", '{"words": [1]}', '{"words": {"a": "b"}}'])
def test_a_file_that_is_none_of_ours_is_no_memory(path, content):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(content)
    assert Costs(path).of(BLOCK) == tokens.count(BLOCK)
