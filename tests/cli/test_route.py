"""`rose route` as a person meets it: list, teach, decide, explain."""

from __future__ import annotations

import os

import pytest

from rose import files, layout
from rose.routing import cases, forgotten, ledger, table
from tests import factories
from tests.clirun import run
from tests.factories import a_ledger_line
from tests.history.repos import git, in_head

RULE = ("--when", "the task runs the integration tests", "--then", "read nodes/testing/ first")
HEAD = "- When the task runs the integration tests: read nodes/testing/ first"


@pytest.fixture
def project(tmp_path):
    """Return a project's store with three lessons."""
    store = factories.a_store(tmp_path)
    for path in ("nodes/testing/db.md", "nodes/testing/fixtures.md", "nodes/api/paging.md"):
        factories.a_lesson_file(store, path)
    return store


def rose(store, *words: str):
    return run(*words, cwd=store.base)


def content(store):
    """Return every file of truth and record below the store, by path."""
    found = {}
    for folder, folders, names in os.walk(store.base):
        folders[:] = [name for name in folders if name != "local"]
        for name in names:
            path = os.path.join(folder, name)
            found[path] = files.read_bytes(path)
    return found


def credit(store, **fields):
    """Record one session in the store's ledger."""
    return a_ledger_line(
        store,
        lambda n: cases.line_of(cases.Case(**{"session": f"s{n}", "n": n, **fields})),
    )


def only_rule(store):
    return table.read(store, ("nodes",)).rules[0]


def test_a_fresh_store_says_how_the_first_rule_comes_about(project):
    result = rose(project, "route")
    assert result.code == 0
    assert result.out == (
        "routing    0 selection rules over 3 lessons  "
        "(ratio 0.00, should fall as the store grows)\n"
        "layer      0 of 0 rules, 0 of 800 tokens\n"
        "\n"
        "No rule yet. Reflection writes the first one with the second session of one kind\n"
        "of work. To teach one:\n"
        '  rose route --when "the task runs the tests" --then "read nodes/testing/ first"\n'
    )


def test_without_lessons_there_is_no_ratio(tmp_path):
    result = rose(factories.a_store(tmp_path), "route")
    assert "0 selection rules over 0 lessons  (ratio n/a, should" in result.out


def test_without_a_store_the_command_that_makes_one_is_named(tmp_path):
    result = run("route", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert "rose init" in result.err


def test_a_taught_rule_is_printed_stored_and_in_the_layer(project):
    result = rose(project, "route", *RULE)
    rule = only_rule(project)
    assert result.code == 0
    assert result.out == (
        f"{HEAD}\n"
        f"{rule.id}  active  .rose/routing/{rule.id}.md\n"
        "routing    1 selection rule over 3 lessons  "
        "(ratio 0.33, should fall as the store grows)\n"
    )
    assert result.err == ""
    assert (rule.origin, rule.targets, rule.born) == ("manual", ("nodes/testing/",), 0)
    assert HEAD in files.read_text(project.layer)


def test_a_leading_when_and_a_full_stop_are_dropped(project):
    rose(project, "route", "--when", "When the task is a release", "--then", "read nodes/api/.")
    assert (only_rule(project).when, only_rule(project).then) == (
        "the task is a release",
        "read nodes/api/",
    )


def test_a_skip_rule_that_names_no_lesson_is_refused_and_nothing_is_stored(project):
    result = rose(project, "route", "--when", "x", "--then", "y", "--skip")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("refused: then: no-target: `then` names no lesson. Name a file")
    assert rose(project, "route", "--json").json["rules"] == []


def test_a_skip_rule_is_taught_with_skip(project):
    rose(project, "route", "--when", "docs", "--then", "nodes/api/ does not apply", "--skip")
    rule = only_rule(project)
    assert rule.effect == "skip"
    assert f"    {rule.id}  skip  score " in rose(project, "route").out


def test_a_rule_is_born_after_the_sessions_that_are_recorded(project):
    credit(project)
    credit(project)
    rose(project, "route", *RULE)
    assert only_rule(project).born == 2


@pytest.mark.parametrize(
    ("when", "then", "finding"),
    [
        ("", "read nodes/testing/", "when-missing"),
        ("   ", "read nodes/testing/", "when-missing"),
        ("always", "read nodes/testing/", "when-vacuous"),
        ("any task", "read nodes/testing/", "when-vacuous"),
        ("every session", "read nodes/testing/", "when-vacuous"),
        ("*", "read nodes/testing/", "when-vacuous"),
        ("nodes/testing/db.md", "read nodes/testing/", "when-names-a-lesson"),
        ("testing/db", "read nodes/testing/", "when-names-a-lesson"),
        ("n_abc is rarely useful", "read nodes/testing/", "when-names-a-lesson"),
        ("the task is a release", "", "then-missing"),
        ("the task is a release", " . ", "then-missing"),
        ("the task\nis a release", "read nodes/testing/", "one-line"),
        ("the task is a release", "read nodes/api/\nread nodes/testing/", "one-line"),
        ("the task is a \x1b[31mrelease", "read nodes/testing/", "hostile-characters"),
        ("the task is a \u202erelease", "read nodes/testing/", "hostile-characters"),
        ("the task is a release", "use AKIAIOSFODNN7QWERTYU in nodes/api/", "secret"),
        ("the task is a release", "read nodes/api/ " + "and so on " * 200, "too-large"),
    ],
)
def test_a_refused_rule_leaves_the_store_as_it_was(project, when, then, finding):
    before = content(project)
    result = rose(project, "route", "--when", when, "--then", then)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("refused: ")
    assert f": {finding}: " in result.err
    assert content(project) == before


@pytest.mark.parametrize(
    "again",
    [
        "the task runs the integration tests",
        "When The Task runs the Integration Tests.",
        "the task runs: the integration-tests!",
        "\uff54\uff48\uff45 task runs the integration tests",
    ],
)
def test_a_restatement_is_refused_and_names_the_rule(project, again):
    rose(project, "route", *RULE)
    before = content(project)
    result = rose(project, "route", "--when", again, "--then", "read nodes/api/")
    assert result.code == 1
    assert only_rule(project).id in result.err
    assert content(project) == before


def test_different_conditions_in_other_scripts_are_different_rules(project):
    first, second = (
        rose(project, "route", "--when", when, "--then", "read nodes/api/")
        for when in ("数据库迁移任务", "集成测试任务")
    )
    assert (first.code, second.code) == (0, 0)
    assert len(table.read(project, ("nodes",)).rules) == 2


def test_a_target_without_a_lesson_is_a_warning(project):
    result = rose(project, "route", "--when", "the task is a release", "--then", "read nodes/no/")
    assert result.code == 0
    assert result.err.startswith("warning: then: no-target: No lesson matches nodes/no/.")
    assert "not in the layer: targets gone: nodes/no/" in result.out


@pytest.mark.parametrize(
    "words",
    [
        ["--when", "the task is a release"],
        ["--then", "read nodes/api/"],
        ["--skip"],
        ["--forget", "r_1", "--explain", "r_2"],
        ["--when", "a", "--then", "b", "--forget", "r_1"],
        ["--forget"],
        ["--nonsense"],
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(project, words):
    before = content(project)
    result = rose(project, "route", *words)
    assert (result.code, result.out) == (2, "")
    assert content(project) == before


def test_opposite_rules_are_kept_and_shown_as_one_question(project):
    rose(project, "route", *RULE)
    skip = ("--then", "nothing in nodes/testing/db.md applies", "--skip")
    assert rose(project, "route", *RULE[:2], *skip).code == 0
    rule_ids = {rule.effect: rule.id for rule in table.read(project, ("nodes",)).rules}
    result = rose(project, "route")
    assert "\nQuestions: opposite rules for one condition; which one holds?\n" in result.out
    asked = rose(project, "route", "--json").json["questions"]
    assert asked == [
        {
            "rules": [rule_ids["prefer"], rule_ids["skip"]],
            "when": "the task runs the integration tests",
            "targets": ["nodes/testing/"],
        }
    ]


def test_a_question_is_settled_by_approving_one_side(project):
    said = {"when": "docs work", "then": "read nodes/testing/"}
    factories.a_rule_file(project, id="r_00000a", **said)
    factories.a_rule_file(project, id="r_00000b", **said, effect="skip", status="proposed")
    out = rose(project, "route").out
    assert "  When docs work: nodes/testing/: r_00000a or r_00000b\n" in out
    assert "  rose route --approve ID keeps one and declines what says the opposite\n" in out
    result = rose(project, "route", "--approve", "r_00000b")
    assert (result.code, "r_00000a  declined, since it says the opposite:" in result.out) == (
        0,
        True,
    )
    assert rose(project, "route", "--json").json["questions"] == []
    again = rose(project, "route", "--approve", "r_00000a", "--json").json
    assert (again["approval"], again["declined"]) == ("approved", [])


def test_a_home_rule_is_no_side_of_a_question_of_the_project(project, tmp_path):
    home = layout.Store(str(tmp_path / "home" / ".rose"), str(tmp_path / "home" / ".rose"), "home")
    factories.a_lesson_file(home, "nodes/testing/db.md")
    said = {"when": "docs work", "then": "read nodes/testing/"}
    factories.a_rule_file(project, id="r_00000a", **said)
    factories.a_rule_file(home, id="r_00000b", **said, effect="skip")
    assert rose(project, "route", "--json").json["questions"] == []


def test_opposite_rules_over_different_lessons_are_no_question(project):
    rose(project, "route", *RULE)
    rose(project, "route", *RULE[:2], "--then", "nothing in nodes/api/ applies", "--skip")
    assert rose(project, "route", "--json").json["questions"] == []


def test_a_rule_is_listed_with_live_and_replayed_credit_apart(project):
    rule_id = factories.a_rule_file(
        project, id="r_00000a", when="the task runs the tests", match=["command:pytest"]
    )
    credit(project, delivered=(rule_id,), sent=(rule_id,), verdicts={rule_id: "followed-useful"})
    credit(project, kinds=("command:pytest",), used=("testing/db",))
    credit(project, kinds=("command:pytest",), used=("api/paging",))
    result = rose(project, "route")
    assert result.out == (
        "routing    1 selection rule over 3 lessons  "
        "(ratio 0.33, should fall as the store grows)\n"
        "layer      1 of 1 rule, 78 of 800 tokens\n".replace("78", str(tokens_of(project)))
        + "record     helped and wasted are live + replayed credit; seen is sessions\n"
        "\n"
        "In the layer, best first\n"
        "  - When the task runs the tests: read nodes/testing/\n"
        "    r_00000a  score 0.23  helped 1+1  wasted 0+1  seen 3\n"
    )


def tokens_of(store):
    return rose(store, "route", "--json").json["layer"]["tokens"]


def test_the_json_list_holds_record_place_and_reason(project):
    factories.a_rule_file(project, id="r_00000a", status="proposed", match=["command:pytest"])
    result = rose(project, "route", "--json")
    (rule,) = result.json["rules"]
    assert rule["id"] == "r_00000a"
    assert (rule["in_layer"], rule["reason"], rule["status"]) == (False, "proposed", "proposed")
    assert rule["record"] == {
        "helped": 0,
        "wasted": 0,
        "seen": 0,
        "live": {"helped": 0, "wasted": 0},
        "replayed": {"helped": 0, "wasted": 0},
        "verdicts": 0,
        "delivered": 0,
    }
    assert result.json["routing"] == {
        "rules": 0,
        "lessons": 3,
        "ratio": 0.0,
        "line": "routing    0 selection rules over 3 lessons  "
        "(ratio 0.00, should fall as the store grows)",
    }


@pytest.mark.parametrize(
    ("fields", "heading", "reason"),
    [
        ({"status": "proposed"}, "Proposed", "waits for a decision: rose route --approve r_00000a"),
        ({"status": "retired"}, "Out of use", "retired: rose route --restore r_00000a brings"),
        ({"status": "declined"}, "Out of use", "declined: rose route --approve r_00000a would"),
    ],
)
def test_a_rule_that_is_not_in_the_layer_says_why(project, fields, heading, reason):
    factories.a_rule_file(project, id="r_00000a", **fields)
    out = rose(project, "route").out
    assert f"\n{heading}\n" in out
    assert f"\n    {reason}" in out


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("read nodes/gone/", "targets gone: nodes/gone/"),
        (
            "read nodes/api/ " + "and " * 250,
            "its line alone takes more than a quarter of 800 tokens",
        ),
    ],
)
def test_an_active_rule_stands_below_the_reason_why_it_waits(project, then, reason):
    factories.a_rule_file(project, id="r_00000a", then=then)
    said = " ".join(rose(project, "route").out.split())
    assert f" Not in the layer: {reason} - When " in said


def test_rules_over_the_cap_and_routing_switched_off_say_so(project):
    for number in range(9):
        when = f"the task is of kind {number}"
        factories.a_rule_file(project, id=f"r_00000{number}", when=when)
    files.replace(project.config, "routing:\n  max_tokens: 120\n")
    assert (
        "the cap of 120 tokens is full with rules of a better record" in rose(project, "route").out
    )
    files.replace(project.config, "routing:\n  enabled: false\n")
    assert "routing is off (`rose config routing.enabled true`)" in rose(project, "route").out
    files.replace(project.config, "routing:\n  max_tokens: 0\n")
    assert "(`rose config --unset routing.max_tokens`)" in rose(project, "route").out


def test_a_broken_rule_file_is_named_with_its_line_and_the_others_are_listed(project):
    factories.a_rule_file(project, id="r_00000a")
    path = table.path_of(project, "r_00000b")
    files.replace(path, "---\nwhen: [a\nthen: read nodes/api/\n---\n")
    result = rose(project, "route")
    assert result.code == 0
    assert "r_00000a  score" in result.out
    assert "\nBroken files\n  .rose/routing/r_00000b.md:3: " in result.out


def test_control_characters_of_a_hand_written_rule_do_not_reach_the_terminal(project):
    text = '---\nwhen: "the task \\e[31mis red\\u202e"\nthen: read nodes/api/\n---\n'
    files.replace(table.path_of(project, "r_00000a"), text)
    listed = rose(project, "route").out + rose(project, "route", "--explain", "r_00000a").out
    assert "\x1b" not in listed
    assert "\u202e" not in listed


def test_a_rule_is_forgotten_for_good(project):
    rose(project, "route", *RULE)
    rule = only_rule(project)
    result = rose(project, "route", "--forget", rule.id)
    left = forgotten.path_of(project, rule.id)
    assert result.code == 0
    assert result.out == (
        f"{rule.id} is forgotten.\n"
        "Reflection will not write this condition for these lessons again while\n"
        f".rose/rejections/{rule.id}.md is there.\n"
        "routing    0 selection rules over 3 lessons  "
        "(ratio 0.00, should fall as the store grows)\n"
    )
    assert not os.path.exists(rule.path)
    assert os.path.exists(left)
    assert HEAD not in files.read_text(project.layer)


def test_a_broken_rule_file_can_be_forgotten_too(project):
    files.replace(table.path_of(project, "r_00000b"), "---\nwhen: [a\n---\n")
    result = rose(project, "route", "--forget", "r_00000b")
    assert result.code == 0
    assert "Reflection" not in result.out
    assert not os.path.exists(table.path_of(project, "r_00000b"))


def test_a_retired_rule_comes_back_as_a_persons(project):
    factories.a_rule_file(project, id="r_00000a", status="retired", origin="reflection")
    assert rose(project, "route", "--restore", "r_00000a").code == 0
    assert (only_rule(project).status, only_rule(project).approval) == ("active", "approved")


def test_a_proposed_rule_is_approved_or_declined(project):
    factories.a_rule_file(project, id="r_00000a", status="proposed", origin="reflection")
    result = rose(project, "route", "--decline", "r_00000a")
    assert (only_rule(project).status, only_rule(project).approval) == ("declined", "declined")
    assert "r_00000a  declined  .rose/routing/r_00000a.md" in result.out
    rose(project, "route", "--approve", "r_00000a")
    assert (only_rule(project).status, only_rule(project).approval) == ("active", "approved")


def test_a_decision_keeps_what_a_person_wrote_into_the_file(project):
    header = "# mine\nwhen: docs work\nowner: me\nthen: read nodes/api/\nstatus: proposed\n"
    text = f"---\n{header}---\nWhy\n"
    files.replace(table.path_of(project, "r_00000a"), text)
    rose(project, "route", "--approve", "r_00000a")
    changed = files.read_text(table.path_of(project, "r_00000a"))
    assert changed == text.replace("proposed", "active").replace(
        "---\nWhy", "approval: approved\n---\nWhy"
    )


@pytest.mark.parametrize(
    ("status", "option", "said"),
    [
        ("active", "--restore", "is active, not retired"),
        ("proposed", "--restore", "is proposed, not retired"),
        ("retired", "--approve", "--restore r_00000a"),
        ("declined", "--decline", "is declined already"),
    ],
)
def test_a_decision_that_changes_nothing_is_refused(project, status, option, said):
    factories.a_rule_file(project, id="r_00000a", status=status)
    before = content(project)
    result = rose(project, "route", option, "r_00000a")
    assert result.code == 1
    assert said in result.err
    assert content(project) == before


def test_a_rule_does_not_come_back_beside_one_that_says_the_same(project):
    factories.a_rule_file(project, id="r_00000a", status="retired")
    factories.a_rule_file(project, id="r_00000b")
    before = content(project)
    result = rose(project, "route", "--restore", "r_00000a")
    assert result.code == 1
    assert "restates" in result.err
    assert content(project) == before


@pytest.mark.parametrize(
    "part", ["r_ab12cd", "ab12", "r_ab1", "12cd", "b12c", "R_AB12CD", "r_ab12cd.md"]
)
def test_an_id_may_be_shortened_to_a_part_that_names_one_rule(project, part):
    factories.a_rule_file(project, id="r_ab12cd")
    factories.a_rule_file(project, id="r_ff0000", when="the task is another")
    result = rose(project, "route", "--explain", part)
    assert "rule       r_ab12cd, prefer, active" in result.out


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("r_ab", "'r_ab' names several rules: r_ab12cd, r_ab34cd."),
        ("r_a", "'r_a' names several rules: r_ab12cd, r_ab34cd."),
        ("r_", "No rule 'r_'. Did you mean r_ab12cd, r_ab34cd?"),
        ("", "No rule ''. `rose route` lists the rules."),
        ("../../etc", "No rule 'etc'."),
        ("r_ab12dd", "No rule 'r_ab12dd'. Did you mean r_ab12cd"),
    ],
)
def test_an_id_that_names_no_one_rule_is_refused(project, part, said):
    factories.a_rule_file(project, id="r_ab12cd")
    factories.a_rule_file(project, id="r_ab34cd", when="the task is another")
    before = content(project)
    result = rose(project, "route", "--forget", part)
    assert result.code == 1
    assert said in result.err
    assert content(project) == before


def test_explain_says_all_that_is_known_of_a_rule(project):
    factories.a_rule_file(
        project,
        id="r_00000a",
        when="the task runs `pytest`",
        then="read nodes/testing/ and nodes/no.md",
        match=["command:pytest"],
        origin="reflection",
        evidence=[{"session": "s-1", "quote": "could not connect to postgres"}],
    )
    credit(project, kinds=("command:pytest",), used=("testing/db",))
    result = rose(project, "route", "--explain", "r_00000a")
    lines = result.out.splitlines()
    assert lines[0] == "- When the task runs `pytest`: read nodes/testing/ and nodes/no.md"
    assert lines[1:4] == [
        "rule       r_00000a, prefer, active, from reflection",
        "file       .rose/routing/r_00000a.md",
        "layer      in the layer",
    ]
    assert lines[5:] == [
        "record     helped 1 (0 live), wasted 0 (0 live), seen in 1 session since n 0;",
        "           delivered 0, verdicts 0",
        "score      (helped - wasted/2) / (seen + 10) + sqrt(0.05 / (seen + 1))",
        "           = (1 - 0/2) / (1 + 10) + sqrt(0.05 / (1 + 1)) = 0.249",
        "match      command:pytest",
        "targets    nodes/testing/ -> nodes/testing/db.md, nodes/testing/fixtures.md",
        "           nodes/no.md -> no lesson now",
        'evidence   "could not connect to postgres" (session s-1)',
        "why        Why.",
    ]


def test_explain_in_json_holds_the_arithmetic_and_the_matches(project):
    factories.a_rule_file(project, id="r_00000a")
    found = rose(project, "route", "--explain", "r_00000a", "--json").json
    lessons = ["nodes/testing/db.md", "nodes/testing/fixtures.md"]
    assert found["matches"] == {"nodes/testing/": lessons}
    assert found["arithmetic"].endswith("= 0.224")


@pytest.mark.parametrize("effect", ["prefer", "skip"])
def test_explain_in_json_tells_a_skip_rule_and_what_was_measured_apart(project, effect):
    factories.a_rule_file(project, id="r_00000a", effect=effect)
    found = rose(project, "route", "--explain", "r_00000a", "--json").json
    assert found["effect"] == effect
    assert found["effects"] == {"met": 0, "changed": 0, "gained": 0, "lost": 0, "sessions": []}


def test_a_rule_that_cannot_be_read_is_explained_by_its_fault(project):
    files.replace(table.path_of(project, "r_00000b"), "---\nwhen: [a\n---\n")
    result = rose(project, "route", "--explain", "r_00000b")
    assert result.code == 1
    assert ".rose/routing/r_00000b.md:3" in result.err


@pytest.mark.parametrize("option", ["--approve", "--decline", "--restore"])
def test_a_rule_that_cannot_be_read_cannot_be_decided_on(project, option):
    files.replace(table.path_of(project, "r_00000b"), "---\nwhen: [a\n---\n")
    before = content(project)
    result = rose(project, "route", option, "r_00000b")
    assert result.code == 1
    assert "cannot be read" in result.err
    assert content(project) == before


@pytest.mark.parametrize(
    "words", [["--home"], ["--home", *RULE], ["--home", "--forget", "r_00000a"]]
)
def test_without_a_home_store_home_is_refused(project, words):
    result = rose(project, "route", *words)
    assert result.code == 1
    assert "rose init --home" in result.err


def test_a_home_rule_renders_absolute_paths_and_lives_in_the_home_store(project, tmp_path):
    home = layout.Store(str(tmp_path / "home" / ".rose"), str(tmp_path / "home" / ".rose"), "home")
    factories.a_lesson_file(home, "nodes/git/rebase.md")
    taught = ("--when", "the task is a rebase", "--then", "read nodes/git/", "--home")
    result = rose(project, "route", *taught)
    assert result.code == 0
    assert result.out.startswith(f"- When the task is a rebase: read {home.base}/nodes/git/\n")
    assert [rule.targets for rule in table.read(home, ("nodes",)).rules] == [("nodes/git/",)]
    assert table.read(project, ("nodes",)).rules == ()
    rose(project, "route", *RULE)
    assert HEAD in rose(project, "route").out
    assert HEAD not in rose(project, "route", "--home").out
    listed = rose(project, "route", "--json").json
    assert sorted(rule["store"] for rule in listed["rules"]) == ["home", "project"]
    assert listed["routing"]["lessons"] == 4


def test_json_of_a_change_holds_the_rule_and_the_warnings(project):
    taught = rose(
        project, "route", "--when", "a release", "--then", "read nodes/no/", "--json"
    ).json
    assert taught["status"] == "active"
    assert [warning["rule"] for warning in taught["warnings"]] == ["no-target"]
    gone = rose(project, "route", "--forget", taught["id"], "--json").json
    assert gone["forgotten"] is True


def test_git_commit_auto_commits_the_rule_alone(project):
    import git

    repository = git.Repo.init(project.base)
    repository.git.add("--", "nodes/api/paging.md")
    files.replace(project.config, "git:\n  commit: auto\n")
    assert rose(project, "route", *RULE).err == ""
    rule = only_rule(project)
    commit = repository.head.commit
    assert commit.message == f"rose: teach {rule.id}\n\nTeach {rule.id}:\n  {HEAD}\n"
    assert list(commit.stats.files) == [f".rose/routing/{rule.id}.md"]
    rose(project, "route", "--forget", rule.id)
    assert sorted(repository.head.commit.stats.files) == [
        f".rose/rejections/{rule.id}.md",
        f".rose/routing/{rule.id}.md",
    ]
    repository.close()


@pytest.fixture
def committed(project):
    """Return the store in a repository that holds all of it, with commits asked for."""
    files.replace(project.config, "git:\n  commit: auto\n")
    files.replace(f"{project.base}/.gitignore", ".rose/local/\n.rose/index.md\n")
    factories.a_rule_file(project, id="r_0000aa", when="old", status="proposed")
    factories.a_ledger_line(project, lambda _: {"v": 1, "session": "s"})
    a_commit(project)
    return project


def a_commit(store):
    git(store.base, "init", "-q", "-b", "main")
    git(store.base, "add", "-A")
    git(store.base, "commit", "-q", "-m", "all")


def test_a_commit_of_a_decision_gives_no_orders_to_whoever_reads_it(committed):
    when = "the task fixes #34 [skip ci]"
    assert rose(committed, "route", "--when", when, "--then", RULE[3]).code == 0
    said = git(committed.base, "log", "-1", "--format=%B")
    assert said.startswith("rose: teach r_")
    assert "  - When the task fixes 34 skip ci: read nodes/testing/ first\n" in said


def test_a_rule_with_uncommitted_words_of_a_persons_stays_out_of_the_commit_of_a_decision(
    committed,
):
    path = table.path_of(committed, "r_0000aa")
    files.replace(path, files.read_text(path) + "My own note.\n")
    result = rose(committed, "route", "--approve", "r_0000aa")
    assert result.code == 0
    assert "r_0000aa.md holds changes of yours that are not committed" in result.err
    assert git(committed.base, "rev-list", "--count", "HEAD") == "1\n"


def test_a_decision_commits_the_rules_that_it_declines_too_and_a_shared_record(committed):
    factories.a_rule_file(committed, id="r_0000bb", when="old", effect="skip")
    shared = "git:\n  commit: auto\nledger:\n  share: commit\n"
    files.replace(committed.config, shared)
    a_commit(committed)
    with files.lock(committed.lock):
        ledger.append_locked(committed, "commit", lambda _: {"v": 1, "session": "t"})
        name = ledger.writer_name(committed)
    assert rose(committed, "route", "--approve", "r_0000aa").code == 0
    assert in_head(committed.base) == [
        f".rose/ledger/{name}.jsonl",
        ".rose/routing/r_0000aa.md",
        ".rose/routing/r_0000bb.md",
    ]
    assert rose(committed, "route", "--forget", "r_0000aa").err == ""
    assert in_head(committed.base) == [".rose/rejections/r_0000aa.md", ".rose/routing/r_0000aa.md"]


def test_git_commit_auto_outside_a_repository_says_why_nothing_was_committed(project):
    files.replace(project.config, "git:\n  commit: auto\n")
    result = rose(project, "route", *RULE)
    assert result.code == 0
    assert "not committed: this is no git repository" in result.err


def test_where_nothing_can_be_written_nothing_is_taught_and_the_list_still_works(project):
    files.replace(project.local, "no folder")
    before = content(project)
    result = rose(project, "route", *RULE)
    assert (result.code, result.out) == (1, "")
    assert "not locked" in result.err
    assert content(project) == before
    assert rose(project, "route").code == 0


def test_a_hundred_rules_are_listed_with_their_place(project):
    for number in range(100):
        factories.a_rule_file(project, id=f"r_{number:06x}", when=f"the task is of kind {number}")
    result = rose(project, "route", "--json").json
    assert len(result["rules"]) == 100
    assert result["layer"]["tokens"] <= 800
    assert sum(rule["in_layer"] for rule in result["rules"]) == result["layer"]["rules"]


def test_the_list_brings_a_layer_up_to_date_that_a_hand_edit_left_behind(project):
    rose(project, "route", *RULE)
    path = only_rule(project).path
    files.replace(path, files.read_text(path).replace("integration", "slow"))
    rose(project, "route")
    assert "the slow tests" in files.read_text(project.layer)


def test_nothing_printed_is_wider_than_the_terminal_but_the_routing_line(project):
    for number in range(12):
        when = f"the task of kind {number} is about a thing with quite a long name in the end"
        factories.a_rule_file(project, id=f"r_{number:06x}", when=when)
    lines = rose(project, "route").out.splitlines()
    assert max(len(line) for line in lines[1:]) <= 80
