"""The promises of routing, for any record, any ledger and any text."""

from __future__ import annotations

import json
import os
import tempfile
import unicodedata
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rose import files, layout
from rose import text as texts
from rose.routing import evidence, layer, ledger, rank, rules, wording
from rose.routing.cases import fold
from rose.routing.evidence import Standing
from rose.routing.layer import Entry, Heading
from rose.routing.rules import Evidence
from tests.routing import samples

IDS = ["r_00000a", "r_00000b", "r_00000c"]
CHARS = st.characters(blacklist_categories=["Cs"])
TEXTS = st.text(CHARS, max_size=60)


@st.composite
def some_rules(draw):
    return [
        samples.a_rule(
            rule_id,
            effect=draw(st.sampled_from(rules.EFFECTS)),
            targets=tuple(draw(st.lists(samples.paths, max_size=2))),
            match=tuple(draw(st.lists(samples.features, max_size=2))),
            born=draw(st.integers(0, 6)),
        )
        for rule_id in IDS
    ]


@st.composite
def counts(draw):
    seen = draw(st.integers(0, 200))
    helped = draw(st.integers(0, seen))
    return Standing(helped=helped, wasted=draw(st.integers(0, 2 * (seen - helped))), seen=seen)


def _path(lesson: str) -> str:
    return f"nodes/{lesson}.md"


@given(st.lists(samples.ledger_lines(), max_size=12), st.data())
def test_any_shuffle_or_duplication_folds_to_the_same_record(lines, data):
    again = data.draw(st.permutations(lines + data.draw(st.lists(st.sampled_from(lines or [{}])))))
    known = [line for line in again if line]
    assert fold(known) == fold(lines)


@given(st.lists(samples.ledger_lines(), max_size=12), st.data())
def test_folding_parts_of_a_ledger_first_changes_nothing(lines, data):
    """What a snapshot keeps of a part can still win under any undone mark that comes later."""
    cut = data.draw(st.integers(0, len(lines)))
    first, second = ledger.Heap(), ledger.Heap()
    for line in lines[:cut]:
        first.add(line)
    for line in lines[cut:]:
        second.add(line)
    second.merge(first)
    assert second.record() == fold(lines)


@given(st.lists(samples.json_values | samples.ledger_lines(), max_size=8))
def test_no_line_crashes_the_fold(lines):
    record = fold(lines)
    assert len({case.session for case in record.cases}) == len(record.cases)
    assert all(0 < case.n < record.next_n for case in record.cases)


def _record(store, lines, writers):
    for at, line in enumerate(lines):
        files.append_line(f"{store.ledger('local')}/w{at % writers}.jsonl", json.dumps(line))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(samples.ledger_lines(), max_size=10),
    st.lists(samples.ledger_lines(), max_size=6),
    st.integers(1, 3),
    st.booleans(),
)
def test_files_with_a_snapshot_fold_as_the_lines_do(before, after, writers, torn):
    with tempfile.TemporaryDirectory() as folder:
        store = layout.project_store(folder)
        os.makedirs(store.ledger("local"))
        limit, ledger.SNAPSHOT_AFTER_BYTES = ledger.SNAPSHOT_AFTER_BYTES, 0
        try:
            _record(store, before, writers)
            ledger.read(store)
            _record(store, after, writers)
            if torn:
                with open(f"{store.ledger('local')}/w0.jsonl", "a", encoding="utf-8") as file:
                    file.write('{"session":"p","n":')
            assert ledger.read(store) == fold([*before, *after])
            assert ledger.read(store, cache=False) == fold([*before, *after])
        finally:
            ledger.SNAPSHOT_AFTER_BYTES = limit


@given(some_rules(), st.sampled_from(IDS), st.lists(samples.ledger_lines(), max_size=12))
def test_a_standing_is_the_sum_of_what_each_case_says(taught, rule_id, lines):
    cases = fold(lines).cases
    standing = evidence.standings(taught, cases, _path)[rule_id]
    rule = next(rule for rule in taught if rule.id == rule_id)
    given = [samples.contribution(rule, case, _path) for case in cases]
    said = [credit for credit in given if credit is not None]
    live = [credit for credit in said if credit.is_live]
    assert standing.seen == len(said)
    assert standing.helped == sum(credit.helped for credit in said)
    assert standing.wasted == sum(credit.wasted for credit in said)
    assert standing.live_helped == sum(credit.helped for credit in live)
    assert standing.live_wasted == sum(credit.wasted for credit in live)
    assert standing.verdicts == len(live)


@given(some_rules(), st.lists(samples.ledger_lines(), max_size=12), st.randoms())
def test_standings_do_not_depend_on_the_order_of_cases(taught, lines, random):
    cases = list(fold(lines).cases)
    shuffled = random.sample(cases, len(cases))
    assert evidence.standings(taught, shuffled, _path) == evidence.standings(taught, cases, _path)


@given(st.integers(1, 10_000), st.integers(1, 2))
def test_a_rule_that_only_ever_wastes_ends_below_an_untried_one(seen, each):
    assert rank.score(Standing(wasted=each * seen, seen=seen)) < rank.score(Standing())


@given(counts(), st.integers(0, 50), st.integers(0, 50))
def test_a_better_record_never_ranks_lower_at_equal_deliveries(worse, more, less):
    better = replace(worse, helped=worse.helped + more, wasted=max(0, worse.wasted - less))
    taught = [samples.a_rule("r_00000b"), samples.a_rule("r_00000a")]
    standings = {"r_00000b": better, "r_00000a": worse}
    first = rank.order(taught, standings, {"r_00000a": 1, "r_00000b": 1})[0]
    assert rank.score(better) >= rank.score(worse)
    assert first.id == "r_00000b" or rank.score(better) == rank.score(worse)


@given(st.lists(counts(), max_size=8), st.randoms())
def test_the_ranking_does_not_depend_on_the_order_of_the_rules(standings, random):
    taught = [samples.a_rule(f"r_{number:06x}") for number in range(len(standings))]
    by_id = {rule.id: standing for rule, standing in zip(taught, standings, strict=True)}
    costs = {rule.id: random.randint(1, 2) for rule in taught}
    shuffled = random.sample(taught, len(taught))
    assert rank.order(shuffled, by_id, costs) == rank.order(taught, by_id, costs)


@st.composite
def rankings(draw):
    count = draw(st.integers(0, 25))
    numbers = draw(st.permutations(range(count)))
    return [
        Entry(
            f"r_{number:06x}",
            "- When " + draw(st.text("ab é🚀", min_size=1, max_size=30)),
            draw(st.integers(0, 5)),
            draw(st.booleans()),
        )
        for number in numbers
    ]


@settings(max_examples=300)
@given(rankings(), st.integers(0, 700), st.integers(0, 400), st.booleans())
def test_the_layer_is_the_longest_prefix_within_the_cap(ranked, tokens, size, has_home):
    heading = Heading(("title", "store"), "home" if has_home else "")
    cap = samples.length_cap(tokens, size)
    fit = layer.fit(ranked, heading, cap)
    block = layer.render(heading, fit.kept)
    assert len(block) <= tokens or block == ""
    assert len(block.encode()) <= size or block == ""
    assert fit.tokens == len(block)
    sound = [entry for entry in ranked if not layer.is_oversized(entry.text, cap)]
    if len(fit.kept) < len(sound):
        sound = layer.adjusted(sound, cap)[0]
        longer = layer.render(heading, sound[: len(fit.kept) + 1])
        assert len(longer) > tokens or len(longer.encode()) > size
    assert set(fit.kept) == set(sound[: len(fit.kept)])
    assert {entry.id for entry in fit.kept} | set(fit.waiting) == {entry.id for entry in ranked}
    assert not {entry.id for entry in fit.kept} & set(fit.waiting)


@given(rankings(), st.integers(0, 700), st.randoms())
def test_newcomers_never_take_more_than_their_quarter_from_proven_rules(ranked, tokens, random):
    fit = layer.fit(ranked, Heading(("title",)), samples.length_cap(tokens))
    proven_waits = any(
        entry.seen >= 3 and fit.waiting.get(entry.id) == layer.OVER_CAP for entry in ranked
    )
    newcomers = sum(len(entry.text) + 1 for entry in fit.kept if entry.seen < 3)
    assert newcomers * 4 <= tokens or not proven_waits


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_rule_is_one_line_without_characters_that_hide_or_markup(when, then):
    made = wording.line(when, then)
    assert made.startswith("- When ")
    assert len(made.splitlines()) == 1
    assert texts.hostile_characters(made) == []
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in made)
    assert wording.markup(made) is None
    assert "</" not in made
    assert "```" not in made


@given(st.text(alphabet="</>! -`[]CDAT~ab"))
def test_no_arrangement_of_marks_survives(text):
    made = wording.safe(text)
    assert wording.markup(made) is None
    assert wording.safe(made) == made


@settings(deadline=None)
@given(
    when=TEXTS.map(wording.condition).filter(wording.safe),
    then=TEXTS.map(wording.clause).filter(wording.safe),
    note=TEXTS,
    quote=TEXTS.filter(str.strip),
    born=st.integers(0, 10**9),
    effect=st.sampled_from(rules.EFFECTS),
    status=st.sampled_from(rules.STATUSES),
    approval=st.sampled_from([None, *rules.APPROVALS]),
    match=st.lists(samples.features, unique=True, max_size=4),
)
def test_a_rule_file_reads_back_as_it_was_written(when, then, note, quote, match, **fields):
    rule = samples.a_rule(
        when=when,
        then=then,
        note=note.replace("\r", ""),
        match=tuple(match),
        evidence=(Evidence("s", quote, 1, (2, 3)),),
        path="/p/r_000001.md",
        **fields,
    )
    text = rules.render(rule)
    if "<<<<<<< " not in text:
        assert rules.parse(text, rule.path, ("nodes",)) == (rule, [])


@settings(deadline=None)
@given(st.text())
def test_no_text_crashes_the_parser(text):
    rule, findings = rules.parse(text, "/p/r_000001.md", ("nodes",))
    assert rule is not None or findings
