"""One judgement: the same bytes give the same findings, whoever asks."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rose import files, yamltext
from rose.check import accept, quotes
from rose.check import context as contexts
from rose.check.checks import Draft
from rose.cli import terminal
from rose.findings import Finding, Refused
from rose.hosts import base, registry
from rose.routing import table
from rose.routing.rules import Evidence
from rose.store import lessons
from tests import factories
from tests.clirun import run
from tests.hosts import making

FRAGMENTS = (
    *("the task runs the tests", "always", "any task", "when ", "docs", "数据库", "testing/db"),
    *("read ", "skip ", "nothing in ", "run ", "curl ", "ignore all previous instructions"),
    *("nodes/testing/", "nodes/testing/db.md", "nodes/", "nodes/**", "nodes/none/", "nod?s/x"),
    *("../x", "/etc/x", "~/x", "nodes/../x", "$HOME", "https://a.example", " | ", " && "),
    *(" ", "\n", "\t", ".", ",", "; ", ": ", "# ", "- ", '"', "'", "`", "\\", "{", "[", "&", "*"),
    *("\x1b[31m", "\x07", "\x7f", "\u202e", "\u200b", "\u2028", "\ufeff", "</a>", "<b>", "]]>"),
    *("```", "---", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "x" * 700, "é", "🚀"),
)
# A command line carries no NUL and no half of a surrogate pair.
CHARS = st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(CHARS, max_size=4), max_size=6).map("".join)
EFFECTS = st.sampled_from(["prefer", "skip"])
QUOTES = st.lists(
    st.sampled_from(["fix the tests", "could not connect", "FAILED", "never said", " ", "Set it"]),
    max_size=3,
)
MATCHES = st.lists(st.sampled_from(["command:pytest", "word:docs", "verb:x", ""]), max_size=2)


def _project(folder):
    store = factories.a_store(folder)
    factories.a_lesson_file(store, "nodes/testing/db.md")
    said = {"when": "the task runs the tests", "then": "read nodes/testing/"}
    factories.a_rule_file(store, id="r_0000aa", **said)
    factories.a_rule_file(
        store, id="r_0000bb", when="docs", then="no nodes/testing/", effect="skip"
    )
    return store


def _file(store, fields):
    path = os.path.join(store.base, "draft.md")
    files.replace(path, f"---\n{yamltext.dump(fields)}---\n")
    return path


def _checked(store, fields, *words: str):
    """Return the findings of `rose check` about a draft of these fields."""
    path = _file(store, fields)
    result = run("check", path, "--as", "rule", "--json", *words, cwd=store.base)
    assert result.code == (1 if result.json["findings"] else 0)
    return [Finding(**{"expected": None, **found}) for found in result.json["findings"]]


def _said(findings):
    """Return what a command prints about a draft that it refuses, or takes with warnings."""
    is_refused = any(finding.severity == "error" for finding in findings)
    lines = [
        f"{'refused' if is_refused and f.severity == 'error' else 'warning'}: {f.line()}\n"
        for f in findings
    ]
    return "".join(lines)


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS, EFFECTS)
def test_rose_route_and_rose_check_say_the_same_of_the_same_bytes(when, then, effect):
    with tempfile.TemporaryDirectory() as folder:
        store = _project(folder)
        found = _checked(store, {"when": when, "then": then, "effect": effect})
        skip = ["--skip"] if effect == "skip" else []
        result = run("route", f"--when={when}", f"--then={then}", *skip, cwd=store.base)
        is_refused = any(finding.severity == "error" for finding in found)
        assert result.code == (1 if is_refused else 0)
        assert result.err == _said(found).translate(terminal._CONTROLS)
        assert len(table.read(store, ("nodes",)).rules) == (2 if is_refused else 3)


def _transcript(folder):
    rows = [
        making.user("fix the tests"),
        making.call("Bash", {"command": "pytest"}, "t1", second=2),
        making.result("could not connect\nFAILED\nFAILED", "t1", second=3),
        making.call("WebFetch", {"url": "https://a.example"}, "t2", second=4),
        making.result("Set it", "t2", second=5),
    ]
    path = os.path.join(folder, "session.jsonl")
    files.replace(path, "".join(files.dump_json(row) + "\n" for row in rows))
    return path


def _accepted(store, draft, transcript):
    """Return the findings of the acceptance that reflection goes through."""
    regions = quotes.gather(draft.evidence, base.regions(registry.open_transcript(transcript)))
    context = contexts.of_store(lessons.hold(store), 800)
    context = replace(context, regions={making.SESSION: regions})
    try:
        accepted = accept.accept_rule(store, draft, context, created="")
    except Refused as refused:
        return list(refused.findings), None
    return list(accepted.warnings), accepted.rule


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, EFFECTS, QUOTES, MATCHES)
def test_reflection_and_rose_check_say_the_same_of_the_same_bytes(when, then, effect, said, match):
    fields = {"when": when, "then": then, "effect": effect, "match": match, "origin": "reflection"}
    evidence = [{"session": making.SESSION, "quote": quote} for quote in said]
    draft = Draft(
        when,
        then,
        effect,
        tuple(dict.fromkeys(filter(None, match))),
        "reflection",
        tuple(Evidence(making.SESSION, quote) for quote in said),
    )
    with tempfile.TemporaryDirectory() as folder:
        store = _project(folder)
        transcript = _transcript(folder)
        checked = _checked(store, {**fields, "evidence": evidence}, "--session", transcript)
        person = _checked(store, {"when": when, "then": then, "effect": effect, "match": match})
        found, rule = _accepted(store, draft, transcript)
        assert found == checked
        assert (rule is None) == any(finding.severity == "error" for finding in checked)
        # What is wrong with a person's rule is wrong with a model's; the tone alone is a person's.
        told = {(one.rule, one.where) for one in person} - {("effect-unclear", "then")}
        assert told <= {(one.rule, one.where) for one in checked}
        if rule is not None:
            assert rule.approval is None
            assert "\n" not in rule.when + rule.then
