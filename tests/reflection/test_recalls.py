"""What recall served in a session: openings where it arrived, and what became of each record."""

from __future__ import annotations

import os

import pytest

from rose import files
from rose.backends.base import BackendFailure
from rose.hosts import registry
from rose.hosts.base import regions
from rose.reflection import delivery, recalls, shown
from rose.reflection import observe as observing
from rose.reflection.library import Library
from rose.routing import ledger
from rose.selection import pack, pipeline, requests, sticky, trace
from rose.selection.chosen import Named
from rose.selection.pack import Budget
from rose.selection.requests import Request, Shown
from rose.store import lessons
from tests import factories
from tests.hosts import making
from tests.reflection.scene import DB, DB_LINE, bash, ids, read, session_id
from tests.reflection.scripted import Scripted, said

PROMPT = making.user("Run the integration tests of the database", 0)
USE = "APP_DB_URL=sqlite:///tmp/app.db pytest tests/integration"


def recall(scene, prompt="integration tests database URL", number=1, **fields):
    """Recall as the prompt hook does, and return the record."""
    request = Request(requests.query_of(prompt), Budget(400), **fields, session=session_id(number))
    holdings = [lessons.hold(scene.store)]
    record, _ = pipeline.recall(request, holdings, at="2026-11-30T10:00:00Z")
    trace.append(scene.store, record)
    return record


def injected(text, second=1):
    told = {"content": [text], "hookEvent": "UserPromptSubmit", "hookName": "UserPromptSubmit"}
    return making.attachment("hook_additional_context", second, **told)


def observe(scene, *rows: dict[str, object]):
    path = scene.session(1, PROMPT, *rows)
    recalled = trace.of_session(scene.store, session_id(1))
    transcript = registry.open_transcript(path)
    holdings = [lessons.hold(scene.store)]
    return observing.observe(transcript, holdings, [], delivery.Sent(), recalled=recalled)


def how(facts):
    return {one.lesson.id: one.how for one in facts.opened}


def test_a_lesson_whose_text_was_served_is_opened_and_may_be_used(scene):
    record = recall(scene, k=1)
    facts = observe(scene, injected(record.text), *bash(USE, "2 passed", second=2))
    assert [one["node"] for one in record.admitted] == [DB]
    assert how(facts) == {DB: "served"}
    assert facts.opened[0].version == record.admitted[0]["version"]
    assert ids(facts.used) == [DB]


def test_it_counts_beside_the_layer_too(scene):
    record = recall(scene, k=1)
    layer = "rose routing layer v1: x\nStore: /repo\n- When it is so: read nodes/a.md"
    assert how(observe(scene, injected(layer + pack.JOIN + record.text))) == {DB: "served"}


@pytest.mark.parametrize("part", [slice(-1), slice(0), slice(5, None)])
def test_what_did_not_arrive_whole_opens_nothing(scene, part):
    record = recall(scene, k=1)
    assert observe(scene, injected(record.text[part])).opened == ()


def test_what_another_session_was_served_opens_nothing(scene):
    record = recall(scene, k=1, number=2)
    assert observe(scene, injected(record.text)).opened == ()


def test_a_text_without_a_record_opens_nothing(scene):
    record = recall(scene, k=1)
    files.delete(scene.store.selections)
    assert observe(scene, injected(record.text)).opened == ()


@pytest.mark.parametrize("fields", [{"serving": "pointers"}, {"shown": {DB: Shown("old", False)}}])
def test_a_line_about_a_lesson_lists_it(scene, fields):
    record = recall(scene, k=1, **fields)
    facts = observe(scene, injected(record.text))
    assert facts.opened == ()
    assert [lesson.id for lesson in facts.listed] == [DB]


def test_what_the_agent_asked_for_itself_is_served_too(scene):
    record = recall(scene, k=1)
    facts = observe(scene, *bash("rose recall x", record.text), *bash(USE, "", second=2))
    assert how(facts) == {DB: "served"}
    assert ids(facts.used) == [DB]


def test_what_was_known_before_it_was_served_is_not_used(scene):
    record = recall(scene, k=1)
    rows = [*bash(USE, "2 passed", second=1), injected(record.text, 2), *bash(USE, "", second=3)]
    facts = observe(scene, *rows)
    assert how(facts) == {DB: "served"}
    assert facts.used == ()


def test_a_lesson_that_changed_since_has_no_version(scene):
    record = recall(scene, k=1)
    path = os.path.join(scene.base, "nodes", f"{DB}.md")
    with open(path, "a", encoding="utf-8") as stream:
        stream.write("More of it.\n")
    facts = observe(scene, injected(record.text))
    assert how(facts) == {DB: "served"}
    assert facts.opened[0].version is None


def test_a_lesson_that_is_read_as_well_was_read(scene):
    record = recall(scene, k=1)
    facts = observe(scene, injected(record.text), *read(f"nodes/{DB}.md", DB_LINE, second=2))
    assert how(facts) == {DB: "read"}


RULE = {"id": "r_0000aa", "when": "the task runs tests", "then": "read nodes/testing/"}


@pytest.mark.parametrize(
    ("then", "verdict"),
    [
        (bash(USE, "2 passed", second=2), "followed-useful"),
        (bash("ls", "x", second=2), "ignored"),
        (read(f"nodes/{DB}.md", DB_LINE, second=2), "followed-useless"),
    ],
)
def test_a_rule_is_credited_with_a_served_lesson_only_where_it_was_used(scene, then, verdict):
    factories.a_rule_file(scene.store, **RULE, match=["word:tests"])
    block = scene.send(session_id(1))
    record = recall(scene, k=1)
    scene.reflect(scene.session(1, PROMPT, injected(block + pack.JOIN + record.text), *then))
    [case] = ledger.read(scene.store).cases
    assert case.delivered == ("r_0000aa",)
    assert case.verdicts == {"r_0000aa": verdict}


def test_a_skip_rule_that_kept_out_what_was_used_after_all_has_misled(scene):
    skip = {"then": "nothing in nodes/testing/ applies", "effect": "skip"}
    factories.a_rule_file(scene.store, **{**RULE, **skip}, match=["word:tests"])
    block = scene.send(session_id(1))
    prompt = "Run the integration tests"
    rejected = sticky.standing([lessons.hold(scene.store)], session_id(1), prompt, ())
    record = recall(scene, prompt, rejected=rejected)
    assert {one["node"]: one["detail"] for one in record.excluded}[DB] == (
        "by the skip rule r_0000aa"
    )
    rows = [injected(block), *read(f"nodes/{DB}.md", DB_LINE), *bash(USE, "", 2, 3)]
    scene.reflect(scene.session(1, PROMPT, *rows))
    [case] = ledger.read(scene.store).cases
    assert case.verdicts == {"r_0000aa": "misled"}


def test_the_ledger_says_how_and_the_record_what_became_of_it(scene):
    record = recall(scene, k=2)
    rows = [
        injected(record.text),
        making.said(f"As nodes/{DB}.md says.", 2),
        *bash(USE, "2 passed", second=3),
    ]
    assert scene.reflect(scene.session(1, PROMPT, *rows)).state == "reflected"
    [case] = ledger.read(scene.store).cases
    assert {one.lesson: one.how for one in case.opened}[DB] == "served"
    assert case.used == (DB,)
    row = trace.find([scene.store], record.id)
    served = {one["node"] for one in row["admitted"]}
    assert set(row["output"]["opened"]) == served
    assert (row["output"]["used"], row["citations"]) == ([DB], [DB])
    assert row["text"] == record.text


def test_a_candidate_that_was_not_served_and_was_used_is_told(scene):
    record = recall(scene, k=1, shown={}, scope=["nodes/testing/"], prompt="tests fixtures")
    other = next(one.node for one in record.candidates if one.node == DB)
    rows = [*read(f"nodes/{other}.md", DB_LINE), *bash(USE, "", second=2)]
    scene.reflect(scene.session(1, PROMPT, *rows))
    row = trace.find([scene.store], record.id)
    assert [one["node"] for one in row["admitted"]] != [other]
    assert (row["output"]["used"], row["citations"]) == ([other], [other])


def test_without_a_candidate_nothing_is_told(scene):
    record = recall(scene, "zebra")
    scene.reflect(scene.session(1, PROMPT, *bash(USE, "")))
    assert trace.find([scene.store], record.id)["output"] is None


def test_a_second_reflection_that_changes_nothing_tells_nothing_more(scene):
    recall(scene)
    path = scene.session(1, PROMPT, *bash(USE, ""))
    scene.reflect(path)
    before = files.read_bytes(scene.store.selections)
    assert scene.reflect(path).state == "already"
    assert files.read_bytes(scene.store.selections) == before


def test_a_rule_cannot_quote_what_recall_served(scene):
    record = recall(scene, k=1)
    rows = [injected(record.text), *bash("rose recall x", f"$ rose recall\n{record.text}\n\nend")]
    transcript = registry.open_transcript(scene.session(1, PROMPT, *rows))
    assert not any("APP_DB_URL" in region.text for region in regions(transcript))


class Names:
    """A chooser that looked at one lesson and named another."""

    name = "fork"

    def choose(self, _query, holdings, _k):
        lesson = next(one for one in holdings[0].shelf.lessons if one.id != DB)
        looks = [("Read", [DB]), ("Grep", []), ("Read", ["gone/since"]), ("Read", None)]
        return Named([lesson], (), [{"tool": t, "given": "", "nodes": nodes} for t, nodes in looks])


def test_what_a_fork_looked_at_was_seen_by_name_and_never_opened_by_that(scene):
    record = recall(scene, chooser=Names())
    facts = observe(scene, injected(record.text), *bash(USE, "2 passed", second=2))
    assert DB not in how(facts)
    assert [lesson.id for lesson in facts.looked] == [DB]
    assert ids(facts.used) == []


def test_what_a_fork_looked_at_was_not_shown_to_the_session_whose_record_lists_it(scene):
    record = recall(scene, chooser=Names())
    rows = [injected(record.text), *bash("pytest", "2 passed", second=2)]
    facts = observe(scene, *rows)
    assert f"nodes/{DB}.md" not in shown.of_facts(facts, "project")
    assert DB not in [lesson.id for lesson in facts.listed]
    scene.reflect(scene.session(1, PROMPT, *rows))
    [case] = ledger.read(scene.store).cases
    assert DB in case.listed


def test_a_cited_lesson_that_is_gone_by_then_is_an_unresolved_citation(scene):
    record = recall(scene, k=2)
    rows = [injected(record.text), making.said(f"As nodes/{DB}.md says.", 2), *bash(USE, "", 1, 3)]
    path = scene.session(1, PROMPT, *rows)
    os.unlink(os.path.join(scene.base, "nodes", f"{DB}.md"))
    scene.reflect(path)
    row = trace.find([scene.store], record.id)
    assert (row["later_failure"], row["failure"]) == ("citation-unresolved", None)
    assert row["citations"] == [DB]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("As docs/oauth.md says.", []),
        ("As pre-auth.md says.", []),
        ("auth.md says so.", ["auth"]),
        ("See `auth.md`.", ["auth"]),
        ("See nodes/auth.md.", ["auth"]),
        ("See [the page](auth.md).", ["auth"]),
        ("First docs/oauth.md, then auth.md.", ["auth"]),
    ],
)
def test_a_lesson_that_is_gone_is_cited_by_its_own_name_alone(scene, words, found):
    rows = [{"candidates": [{"node": "auth"}]}]
    heard = recalls.Recalls(rows, Library([lessons.hold(scene.store)], scene.base))
    heard.hear(words)
    assert heard.unresolved() == found


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (said(), None),
        (said(used=[{"lesson": DB}]), "output-invalid"),
        (said(used="all of them"), "output-invalid"),
        ("all of them", "output-invalid"),
        (said(rules=[{"rule": 7}]), None),
        (BackendFailure("schema", "no such shape"), "output-invalid"),
        (BackendFailure("timeout", "too long"), None),
    ],
    ids=str,
)
def test_a_word_on_use_that_has_not_its_shape_is_told_beside_what_was_observed(
    scene, answer, failure
):
    record = recall(scene, k=1)
    path = scene.session(1, PROMPT, injected(record.text), *bash(USE, "2 passed", second=2))
    scene.reflect(path, reflector=Scripted(answer).reflector())
    row = trace.find([scene.store], record.id)
    assert (row["later_failure"], row["failure"]) == (failure, None)
    assert row["output"] == {"opened": [DB], "used": [DB]}


def test_what_a_fork_looked_at_and_the_agent_opened_is_opened(scene):
    recall(scene, chooser=Names())
    facts = observe(scene, *read(f"nodes/{DB}.md", DB_LINE))
    assert how(facts) == {DB: "read"}
    assert DB not in [lesson.id for lesson in facts.listed]
