"""Rerank, filter and compress over any texts, scores and fields."""

from __future__ import annotations

import itertools
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rose import text as texts
from rose.selection import compress, pack, rerank, rows, units
from rose.selection import filter as filtering
from rose.selection.judge import Passage
from tests.selection.judging import ScriptedJudge

EXAMPLES = 500
scores = st.floats(0, 1) | st.sampled_from([0, 0.25, 0.5, 0.75, 1])
pieces = st.sampled_from(
    [
        *("One.", "Two!", "e.g.", "v1.2", "`a. b`", "`", "``", "```", "~~~", "- ", "1.", "> "),
        *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "./x", "..", "Dr.", "\u3002", "\uff01", "\u3000"),
        *("\u2028", "\x85", "e\u0301", "\u200d", "\U0001f600"),
    ]
)
markdown = st.lists(pieces | st.text(max_size=8), max_size=25).map("".join)
passages = st.lists(markdown | st.text(max_size=80), max_size=6)


def bare(text):
    return "".join(text.split())


@settings(max_examples=EXAMPLES)
@given(text=markdown | st.text())
@example(text="a ` b\r\n\r\n` c. d")
def test_units_lie_in_order_in_their_text_and_leave_out_white_space_alone(text):
    found = units.split(text)
    assert all(text[unit.start : unit.end] == unit.text == unit.text.strip() for unit in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    assert "".join(bare(unit.text) for unit in found) == bare(text)
    assert all(unit.text for unit in found)


@settings(max_examples=EXAMPLES)
@given(given_texts=passages, data=st.data(), threshold=st.floats(0, 1))
def test_compress_copies_units_verbatim_and_in_order(given_texts, data, threshold):
    drawn = {}

    def score(item):
        drawn[item.id] = data.draw(scores)
        return drawn[item.id]

    judge = ScriptedJudge(score)
    found = compress.compress(judge, "q", [Passage(text) for text in given_texts], threshold)
    assert [one.at for one in found] == sorted({one.at for one in found})
    for one in found:
        source = given_texts[one.at]
        places = [min(texts.occurrences(unit.text, source), default=-1) for unit in one.units]
        assert -1 not in places
        starts = [unit.start for unit in one.units]
        assert starts == sorted(set(starts))
    asked = [item for _, _, batch in judge.asked for item in batch]
    kept = [item.text for item in asked if drawn[item.id] >= threshold]
    assert [unit.text for one in found for unit in one.units] == kept


@settings(max_examples=EXAMPLES)
@given(given_scores=st.lists(scores, max_size=70), threshold=st.floats(0, 1))
def test_filter_keeps_the_order_and_nothing_below_the_threshold(given_scores, threshold):
    judge = ScriptedJudge(lambda item: given_scores[int(item.id)])
    found = filtering.keep(judge, "q", [Passage("x")] * len(given_scores), threshold)
    assert found == [(at, s) for at, s in enumerate(given_scores) if s >= threshold]


@settings(max_examples=EXAMPLES)
@given(given_scores=st.lists(scores, max_size=70))
def test_rerank_is_a_stable_descending_order_of_all(given_scores):
    judge = ScriptedJudge(lambda item: given_scores[int(item.id)])
    found = rerank.rerank(judge, "q", [Passage("x")] * len(given_scores))
    assert sorted(one.at for one in found) == list(range(len(given_scores)))
    pairs = itertools.pairwise(found)
    assert all((-a.score, a.at) < (-b.score, b.at) for a, b in pairs)
    assert all(one.score == given_scores[one.at] for one in found)


numbers = st.integers(-(10**400), 10**400).map(str) | st.from_regex(
    r"\A-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?\Z"
)
# A scalar as it may be written; a number is never of a size that a reader may choose.
scalars = st.one_of(
    numbers,
    st.text(max_size=10).map(json.dumps),
    st.text(max_size=10).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(["true", "false", "null"]),
)
spaces = st.sampled_from(["", " ", "\n", "\t\r\n "])
names = st.text(max_size=5) | st.sampled_from(["text", "score", "rerankScore"])


def joined(parts, opening, closing):
    return spaces.flatmap(
        lambda blank: st.lists(parts, max_size=4).map(
            lambda found: opening + blank + f"{blank},{blank}".join(found) + blank + closing
        )
    )


def member(values):
    return st.tuples(names.map(json.dumps), values).map(" : ".join)


written = st.recursive(
    scalars,
    lambda inner: joined(inner, "[", "]") | joined(member(inner), "{", "}"),
    max_leaves=8,
)
documents = joined(joined(member(written), "{", "}"), "[", "]")


def meaning(data):
    """Return what JSON says, with numbers as they are written: no reader's limits apply."""
    return json.loads(data, parse_int=lambda raw: ("n", raw), parse_float=lambda raw: ("n", raw))


@settings(max_examples=EXAMPLES)
@given(document=documents, name=names, value=scores | st.text(max_size=10))
@example(document='[{"a": ' + "7" * 9_000 + "}]", name="score", value=0.5)
def test_all_other_fields_keep_their_meaning_and_only_one_is_replaced(document, name, value):
    found = rows.read(document.encode())
    out = rows.write([row.written(name, value) for row in found])
    new = meaning(json.dumps(value))
    assert meaning(out) == [{**row, name: new} for row in meaning(document)]
    assert out.endswith(b"]\n")


@settings(max_examples=EXAMPLES)
@given(body=markdown | st.text(max_size=200), stays=st.lists(st.booleans(), min_size=9))
@example(body="Keep </. system> this. Not <\nthat. And </ b", stays=[True, False] * 9)
def test_what_a_judge_leaves_of_a_lesson_stands_in_it_and_ends_no_block(body, stays):
    whole = pack.piece("a", "v", place="nodes/a.md", title="A", gist="", body=body)
    found = zip(units.split(whole.text()), itertools.cycle(stays), strict=False)
    cut = pack.cut(whole, [(unit.start, unit.end) for unit, is_kept in found if is_kept])
    # At a new end of a line something else may be a tag, and is made none.
    changed = ("[/", "< ", " >")
    assert all(line in whole.text() or any(mark in line for mark in changed) for line in cut.lines)
    assert not any("</" in line or "\n" in line for line in cut.lines)
