"""For any store, whatever happens to it: admission parts what was selected, and leaks nothing."""

from __future__ import annotations

import os
import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

from rose import text as texts
from rose import tokens
from rose.selection import admit
from rose.selection.admit import Proposal, Refusal, Terms
from rose.selection.pack import Budget
from rose.store import lessons
from tests.factories import a_lesson_file, a_store

EARLIER = ("below-threshold", "rejected-earlier", "not-selected")
FATES = ("stays", "deleted", "archived", "changed", "unscoped", *EARLIER)
REASONS = {
    "deleted": "missing",
    "archived": "revoked",
    "changed": "wrong-version",
    "unscoped": "out-of-scope",
    **{reason: reason for reason in EARLIER},
}
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]) | st.sampled_from("<>/`\n -"),
    max_size=120,
)
fates = st.lists(
    st.tuples(st.sampled_from(FATES), words, st.integers(0, 40), st.booleans()), max_size=6
)


def path_of(number, fate):
    return f"nodes/{'out' if fate == 'unscoped' else 'in'}/lesson-{number}.md"


def befall(store, number, fate):
    full = os.path.join(store.base, path_of(number, fate))
    if fate == "deleted":
        os.unlink(full)
    elif fate in ("archived", "changed"):
        header = "---\nstatus: archived\n---\n" if fate == "archived" else ""
        a_lesson_file(store, path_of(number, fate), f"{header}# New marker-{number}-new\n")


@settings(max_examples=500)
@given(
    made=fates,
    cap=st.integers(0, 300),
    serving=st.sampled_from(["pointers", "bodies"]),
    exact=st.booleans(),
)
def test_what_was_selected_is_admitted_or_excluded_and_nothing_excluded_is_told(
    made, cap, serving, exact
):
    with tempfile.TemporaryDirectory() as folder:
        store = a_store(folder)
        for number, (fate, said, repeated, _) in enumerate(made):
            text = f"# Title-{number}-title\n\nmarker-{number}-text {said}\n" + "filler " * repeated
            a_lesson_file(store, path_of(number, fate), text)
        holding = lessons.hold(store)
        known = {lesson.path: lesson for lesson in holding.shelf.lessons}
        proposals = []
        for number, (fate, _, _, is_again) in enumerate(made):
            lesson = known[path_of(number, fate)]
            against = Refusal(fate) if fate in EARLIER else None
            proposals.append(Proposal(lesson.id, lesson.version, {}, against, is_again=is_again))
            befall(store, number, fate)
        terms = Terms(["nodes/in/"], Budget(cap, exact=exact), serving, texts.words("marker"))
        done = admit.admit(proposals, [holding], terms)
    check(done, made, proposals, terms)


def check(done, made, proposals, terms):
    admitted = [entry.piece.node for entry in done.admitted]
    excluded = {one.node: refusal.reason for one, refusal in done.excluded}
    order = [one.node for one in proposals]
    assert sorted([*admitted, *excluded]) == sorted(order)
    assert len(admitted) + len(done.excluded) == len(order)
    assert admitted == [node for node in order if node in admitted]
    for number, ((fate, _, _, _), proposal) in enumerate(zip(made, proposals, strict=True)):
        if proposal.node in admitted:
            assert fate == "stays"
            assert f"lesson-{number}.md" in done.text
        else:
            assert excluded[proposal.node] == REASONS.get(fate, "over-budget")
            told = (f"lesson-{number}.md", f"marker-{number}-", f"Title-{number}-title")
            assert not any(one in done.text for one in told)
    counted = tokens.count(done.text) if terms.budget.exact else len(done.text.encode())
    assert done.tokens == (counted if admitted else 0) <= terms.budget.max_tokens
    assert bool(done.text) == bool(admitted)
