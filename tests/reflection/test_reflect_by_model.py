"""The pass with a model: its answer becomes rules, credit and lessons, as far as it holds."""

from __future__ import annotations

import json
import os

import pytest

from rose import files
from rose.backends.base import BackendFailure
from rose.reflection import queue, undo, worker
from rose.reflection.ask import Unanswered
from rose.routing import ledger, table
from tests import factories
from tests.hosts import making
from tests.reflection.scene import DB, NOON, Scene, bash, read, session_id, with_block
from tests.reflection.scripted import RUN_TESTS, Scripted, an_operation, said

GONE = BackendFailure("timeout", "The model took too long.")
GONE_SAID = f"{GONE} `rose config reflection.timeout_s N` gives it more."


def by_model(scene, answer, name="work-1", **options):
    model = Scripted(answer)
    return scene.reflect(scene.capture(name), reflector=model.reflector(**options))


def traces(scene):
    return [line for _, line in files.read_jsonl(scene.store.trace)]


def test_a_model_writes_a_rule_after_the_first_session(scene):
    outcome = by_model(scene, said(operations=[an_operation()]))
    [rule] = scene.rules()
    assert outcome.learned == (rule.id,)
    assert (rule.when, rule.status, rule.approval) == (
        "the task runs the integration tests",
        "active",
        None,
    )
    assert [item.quote for item in rule.evidence] == [RUN_TESTS]
    assert rule.note.strip() == "The address of the database is there."


def test_the_trace_says_who_was_asked_and_with_which_prompts(scene):
    by_model(scene, said())
    [line] = traces(scene)
    assert line["by"] == "command"
    assert line["asked"]["model"] == "a-model"
    assert len(line["asked"]["prompt"]) == 64
    assert line["asked"]["input_tokens"] == 100


def test_an_answer_that_proposes_nothing_leaves_the_rules_alone(scene):
    """The offline reflector is not asked besides: that a model saw no rule is its answer."""
    by_model(scene, said())
    by_model(scene, said(), name="work-2")
    assert scene.rules() == ()
    assert len(ledger.read(scene.store).cases) == 2


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"quotes": [{"quote": "no such words", "region": 0, "lines": []}]}, "quote-not-found"),
        ({"then": "read nodes/testing/nothing.md"}, "no-target"),
        ({"then": "read ../../etc/passwd"}, "no-target"),
        ({"when": "the task\nruns tests"}, "one-line"),
        ({"kind": "reword", "rule": "r_123456"}, "rule-unknown"),
        ({"kind": "retire", "rule": "r_123456"}, "rule-unknown"),
    ],
    ids=[
        "a quote nobody said",
        "no lesson",
        "outside",
        "two lines",
        "reword what is not",
        "retire",
    ],
)
def test_what_does_not_hold_is_refused_with_its_finding(scene, change, rule):
    outcome = by_model(scene, said(operations=[an_operation(**change)]))
    assert scene.rules() == ()
    assert outcome.learned == ()
    [line] = traces(scene)
    [step] = line["operations"]
    assert step["accepted"] is False
    assert any(f" {rule}: " in finding for finding in step["findings"]), step["findings"]


def test_a_rule_of_a_person_is_never_changed(scene):
    factories.a_rule_file(
        scene.store, id="r_aaaaaa", when="x tests run", then=f"read nodes/{DB}.md"
    )
    before = files.read_bytes(table.path_of(scene.store, "r_aaaaaa"))
    rewording = an_operation(kind="reword", rule="r_aaaaaa")
    retirement = an_operation(kind="retire", rule="r_aaaaaa", when="", then="", quotes=[])
    by_model(scene, said(operations=[rewording]))
    by_model(scene, said(operations=[retirement]), name="work-2")
    assert files.read_bytes(table.path_of(scene.store, "r_aaaaaa")) == before


def test_a_rewording_keeps_the_id_and_adds_its_quote(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned
    quote = {"quote": "The integration tests are red on my branch", "region": 0, "lines": []}
    wider = an_operation(
        kind="reword", rule=rule_id, when="the task touches the database tests", quotes=[quote]
    )
    by_model(scene, said(operations=[wider]), name="work-2")
    [rule] = scene.rules()
    assert (rule.id, rule.when) == (rule_id, "the task touches the database tests")
    assert [item.quote for item in rule.evidence] == [RUN_TESTS, quote["quote"]]


def test_a_restatement_becomes_evidence_for_the_rule_that_stands(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned
    quote = {"quote": "The integration tests are red on my branch", "region": 0, "lines": []}
    again = an_operation(when="it is about integration tests", restates=rule_id, quotes=[quote])
    outcome = by_model(scene, said(operations=[again]), name="work-2")
    [rule] = scene.rules()
    assert outcome.learned == (rule_id,)
    assert rule.when == "the task runs the integration tests"
    assert len(rule.evidence) == 2


def test_a_retired_rule_stays_on_disk(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned
    gone = an_operation(kind="retire", rule=rule_id, when="", then="", quotes=[])
    by_model(scene, said(operations=[gone]), name="work-2")
    [rule] = scene.rules()
    assert rule.status == "retired"


def test_a_merge_leaves_one_rule_in_use(scene):
    first = an_operation()
    second = an_operation(when="the task looks at the database", match=[])
    one, two = by_model(scene, said(operations=[first, second])).learned
    quote = {"quote": "The integration tests are red on my branch", "region": 0, "lines": []}
    merged = an_operation(
        kind="merge", rule=one, others=[two], when="tests or data", quotes=[quote]
    )
    by_model(scene, said(operations=[merged]), name="work-2")
    status = {rule.id: rule.status for rule in scene.rules()}
    assert status == {one: "active", two: "retired"}


def test_undo_takes_back_every_rule_of_one_answer(scene):
    second = an_operation(when="the task looks at the database", match=[])
    outcome = by_model(scene, said(operations=[an_operation(), second]))
    assert len(scene.rules()) == 2
    undone = undo.take_back(scene.stores, at=NOON)
    assert sorted(undone.deleted) == sorted(outcome.learned)
    assert scene.rules() == ()
    assert ledger.read(scene.store).cases == ()


def test_required_review_makes_the_rule_wait(tmp_path):
    scene = Scene(tmp_path, {"routing": {"review": "required"}})
    outcome = by_model(scene, said(operations=[an_operation()]))
    [rule] = scene.rules()
    assert rule.status == "proposed"
    assert outcome.steps[0].status == "proposed"


def test_a_lesson_that_was_opened_may_be_used_on_a_models_word(scene):
    rows = [making.user("Look at the docs", 0), *read(f"nodes/{DB}.md", "---", 1, 1)]
    path = scene.session(1, *rows)
    answer = said(used=[{"lesson": DB, "why": "it followed the advice"}])
    scene.reflect(path, reflector=Scripted(answer).reflector())
    [case] = ledger.read(scene.store).cases
    assert (case.used, case.judged_used, case.by) == ((DB,), (DB,), "model")


def test_a_lesson_that_was_not_opened_was_not_used(scene):
    answer = said(used=[{"lesson": "docs/links", "why": "I say so"}])
    by_model(scene, answer)
    [case] = ledger.read(scene.store).cases
    assert case.used == (DB,)
    assert "docs/links" in traces(scene)[0]["claims_refused"][0]


def test_no_credit_for_a_rule_that_was_never_shown(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned
    claim = {"rule": rule_id, "applied": "yes", "followed": "yes", "paid": "yes", "why": ""}
    by_model(scene, said(rules=[claim]), name="work-2")
    case = ledger.read(scene.store).cases[-1]
    assert case.verdicts == {}
    assert "credit-undelivered" in traces(scene)[-1]["claims_refused"][0]


def test_no_credit_for_a_rule_whose_target_was_never_opened(scene):
    [rule_id] = by_model(
        scene, said(operations=[an_operation(then="read nodes/docs/ first", match=[])])
    ).learned
    name = json.loads(files.read_text(making.capture("claude/work-routed.jsonl")).splitlines()[0])
    block = scene.send(name["sessionId"])
    claim = {"rule": rule_id, "applied": "no", "followed": "yes", "paid": "yes", "why": ""}
    path = scene.capture("work-routed", lambda text: with_block(text, block))
    outcome = scene.reflect(path, reflector=Scripted(said(rules=[claim])).reflector())
    assert outcome.facts.delivered == (rule_id,)
    case = ledger.read(scene.store).cases[-1]
    assert case.verdicts == {rule_id: "not-applicable"}
    assert case.judged_rules == (rule_id,)
    assert "credit-unfollowed" in traces(scene)[-1]["claims_refused"][0]


def test_a_missing_lesson_is_only_told_unless_lessons_are_on(tmp_path):
    new = {"title": "The tests need a database", "body": "Say which one.", "quote": RUN_TESTS}
    off = Scene(tmp_path / "off")
    outcome = by_model(off, said(lessons=[new]))
    assert outcome.lessons[0].is_sound
    assert not os.path.exists(os.path.join(off.base, outcome.lessons[0].path))


def test_a_missing_lesson_is_stored_with_its_quote_where_lessons_are_on(tmp_path):
    scene = Scene(tmp_path, {"learning": {"lessons": "on"}})
    new = {"title": "The tests need a database", "body": "Say which one.", "quote": RUN_TESTS}
    [minted] = by_model(scene, said(lessons=[new])).lessons
    text = files.read_text(os.path.join(scene.base, minted.path))
    assert minted.path == "nodes/learned/the-tests-need-a-database.md"
    assert "origin: reflection" in text
    assert RUN_TESTS in text
    assert text.endswith("Say which one.\n")


@pytest.mark.parametrize(
    "change",
    [{"quote": "nobody said this"}, {"body": "---\nid: x\n---\nText"}, {"title": ""}],
    ids=str,
)
def test_a_lesson_that_does_not_hold_is_not_stored(tmp_path, change):
    scene = Scene(tmp_path, {"learning": {"lessons": "on"}})
    new = {"title": "A title", "body": "A body.", "quote": RUN_TESTS, **change}
    by_model(scene, said(lessons=[new]))
    assert not os.path.exists(os.path.join(scene.base, "nodes", "learned"))


def test_without_an_answer_what_was_observed_counts(scene):
    outcome = by_model(scene, GONE)
    assert outcome.state == "reflected"
    [case] = ledger.read(scene.store).cases
    assert (case.by, case.used) == ("observed", (DB,))
    assert traces(scene)[0]["failed"] == {"kind": "timeout", "reason": GONE_SAID}


def test_where_an_answer_must_come_a_failure_records_nothing_but_itself(scene):
    with pytest.raises(Unanswered, match="too long"):
        by_model(scene, GONE, on_failure="raise")
    assert ledger.read(scene.store).cases == ()
    assert traces(scene)[0]["failed"]["kind"] == "timeout"


def test_a_program_that_is_not_there_is_not_waited_for(scene):
    model = Scripted(said(), hindrance="it is not on PATH")
    outcome = scene.reflect(scene.capture("work-1"), reflector=model.reflector("retry"))
    assert (outcome.state, outcome.asked.kind, model.questions) == ("reflected", "unavailable", [])


def test_a_limit_that_is_spent_asks_nobody(scene):
    model = Scripted(said())
    reflector = model.reflector("retry", spend_calls_per_day=0)
    outcome = scene.reflect(scene.capture("work-1"), reflector=reflector)
    assert (outcome.state, outcome.asked.kind, model.questions) == ("reflected", "spent", [])


def test_an_answer_is_paid_for_once(scene):
    model = Scripted(said(operations=[an_operation()]))
    path = scene.capture("work-1")
    scene.reflect(path, reflector=model.reflector(), dry_run=True)
    outcome = scene.reflect(path, reflector=model.reflector())
    assert len(model.questions) == 1
    assert outcome.asked.is_kept
    assert len(outcome.learned) == 1


def test_a_session_that_only_talked_is_not_worth_a_call(scene):
    model = Scripted(said())
    path = scene.session(1, making.user("Hello, who are you?", 0))
    assert scene.reflect(path, reflector=model.reflector()).asked is None
    assert model.questions == []


def test_a_store_without_lessons_is_not_worth_a_call(tmp_path):
    scene = Scene(tmp_path)
    for folder, _, names in os.walk(os.path.join(scene.base, "nodes")):
        for name in names:
            os.unlink(os.path.join(folder, name))
    model = Scripted(said())
    path = scene.session(1, making.user("Run it", 0), *bash("pytest", "ok"))
    scene.reflect(path, reflector=model.reflector())
    assert model.questions == []


def test_the_worker_asks_three_times_and_then_observes(scene):
    model = Scripted(GONE)
    queue.put(
        scene.store,
        host="claude-code",
        session=session_id(7),
        transcript=scene.capture("work-1"),
        cwd=scene.base,
        at=NOON,
    )

    def run():
        return worker.run_pending(
            scene.stores,
            now=lambda: 0.0,
            at=lambda: NOON,
            wait_s=0.0,
            early=True,
            reflector=model.reflector(spend_calls_per_session=9),
        )

    assert [failure.reason for failure in run().failures] == [GONE_SAID]
    assert queue.entries(scene.store)[0]["reason"] == GONE_SAID
    run()
    assert len(run().outcomes) == 1
    assert len(model.questions) == 3
    assert queue.entries(scene.store) == []
    assert len(ledger.read(scene.store).cases) == 1


def test_a_rule_that_somebody_changed_meanwhile_is_left_alone(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned

    class Slow(Scripted):
        def ask(self, question, timeout_s):
            table.update(scene.store, rule_id, {"then": f"open nodes/{DB}.md"}, ("nodes",))
            return super().ask(question, timeout_s)

    quote = {"quote": "The integration tests are red on my branch", "region": 0, "lines": []}
    wider = an_operation(kind="reword", rule=rule_id, when="another kind", quotes=[quote])
    model = Slow(said(operations=[wider]))
    outcome = scene.reflect(scene.capture("work-2"), reflector=model.reflector())
    assert [finding.rule for finding in outcome.steps[0].findings] == ["rule-changed"]
    assert scene.rules()[0].then == f"open nodes/{DB}.md"


def test_the_question_never_holds_the_block_that_rose_sent(scene):
    [rule_id] = by_model(scene, said(operations=[an_operation()])).learned
    name = json.loads(files.read_text(making.capture("claude/work-routed.jsonl")).splitlines()[0])
    block = scene.send(name["sessionId"])
    model = Scripted(said())
    path = scene.capture("work-routed", lambda text: with_block(text, block))
    scene.reflect(path, reflector=model.reflector())
    assert rule_id in model.questions[0]
    assert "rose routing layer" not in model.questions[0]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_a_call_that_was_interrupted_has_cost_a_call(scene, interruption):
    class Interrupted(Scripted):
        def ask(self, _question, _timeout_s):
            raise interruption

    with pytest.raises(interruption):
        scene.reflect(scene.capture("work-1"), reflector=Interrupted("").reflector())
    [(_, line)] = files.read_jsonl(scene.store.spend)
    assert (line["calls"], line["outcome"]) == (1, "interrupted")


def test_a_kept_answer_is_for_its_owner_alone_and_goes_once_its_session_is_recorded(scene):
    path, reflector = scene.capture("work-1"), Scripted(said()).reflector()
    scene.reflect(path, reflector=reflector, dry_run=True)
    [kept] = os.listdir(scene.store.answers)
    assert os.stat(os.path.join(scene.store.answers, kept)).st_mode & 0o777 == 0o600
    outcome = scene.reflect(path, reflector=reflector)
    assert outcome.asked is not None
    assert outcome.asked.is_kept
    assert os.listdir(scene.store.answers) == []
